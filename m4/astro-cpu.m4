# ASTRO_CPU_FLAGS: compiler flags for the kernel variants, one substitution an instruction set.
AC_DEFUN([ASTRO_CPU_FLAGS], [
  AC_REQUIRE([AC_PROG_CC])
  AC_REQUIRE([AC_CANONICAL_HOST])
  AS_CASE([$host_cpu], [x86_64], [], [AC_MSG_ERROR([gst-astro's kernels are written for x86_64, not $host_cpu])])
  AC_SUBST([AVX2_CFLAGS], ["-mavx2 -mfma -mf16c -mbmi2"])
  AC_SUBST([AVX512_CFLAGS], ["$AVX2_CFLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"])
  AC_SUBST([VNNI_CFLAGS], ["$AVX512_CFLAGS -mavx512vnni"])
  AC_SUBST([AMX_CFLAGS], ["$VNNI_CFLAGS -mamx-tile -mamx-int8"])
])
