# ASTRO_CPU_FLAGS: chooses which kernel variants are built, and sets the compiler flags of each instruction set.
# Machines without vector kernels get the portable ones only; --disable-vector-kernels does the same anywhere.
AC_DEFUN([ASTRO_CPU_FLAGS], [
  AC_REQUIRE([AC_PROG_CC])
  AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_ENABLE([vector-kernels],
    [AS_HELP_STRING([--disable-vector-kernels], [portable kernels only, as on machines other than x86_64])],
    [], [enable_vector_kernels=yes])
  KERNELS_CPPFLAGS=
  AS_IF([test "x$enable_vector_kernels" = xno], [astro_cpu_summary=portable],
        [test "$host_cpu" != x86_64], [astro_cpu_summary="portable: none are written for $host_cpu"],
        [astro_cpu_summary="portable, AVX2, AVX-512, VNNI, AMX"
         KERNELS_CPPFLAGS=-DASTRO_X86_KERNELS])
  AC_SUBST([KERNELS_CPPFLAGS])
  AM_CONDITIONAL([X86_KERNELS], [test "x$KERNELS_CPPFLAGS" != x])
  AC_SUBST([AVX2_CFLAGS], ["-mavx2 -mfma -mf16c -mbmi2 -ffp-contract=fast"])
  AC_SUBST([AVX512_CFLAGS], ["$AVX2_CFLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512"])
  AC_SUBST([VNNI_CFLAGS], ["$AVX512_CFLAGS -mavx512vnni"])
  AC_SUBST([AMX_CFLAGS], ["$VNNI_CFLAGS -mamx-tile -mamx-int8"])
])
