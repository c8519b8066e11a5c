# ASTRO_CPU_FLAGS: which kernel variants the machine's kind has, and their compiler flags, one substitution an
# instruction set. Kinds that we wrote none for have the portable ones.
AC_DEFUN([ASTRO_CPU_FLAGS], [
  AC_REQUIRE([AC_PROG_CC])
  AC_REQUIRE([AC_CANONICAL_HOST])
  AS_CASE([$host_cpu],
    [x86_64], [astro_cpu_summary="portable, AVX2, AVX-512, VNNI, AMX"],
    [astro_cpu_summary="portable: none are written for $host_cpu"])
  AM_CONDITIONAL([X86_64], [test "$host_cpu" = x86_64])
  AC_SUBST([AVX2_CFLAGS], ["-mavx2 -mfma -mf16c -mbmi2"])
  AC_SUBST([AVX512_CFLAGS], ["$AVX2_CFLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"])
  AC_SUBST([VNNI_CFLAGS], ["$AVX512_CFLAGS -mavx512vnni"])
  AC_SUBST([AMX_CFLAGS], ["$VNNI_CFLAGS -mamx-tile -mamx-int8"])
])
