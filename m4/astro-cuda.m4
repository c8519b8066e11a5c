# ASTRO_CUDA: --with-cuda=DIR|yes|no. Looks for nvcc; the CUDA module is built if it is found.
AC_DEFUN([ASTRO_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR|no], [the CUDA Toolkit (default: where nvcc is on PATH, or /usr/local/cuda)])],
    [], [with_cuda=auto])
  AC_ARG_VAR([NVCC], [the CUDA compiler])
  astro_cuda_summary=no
  AS_CASE([$with_cuda],
    [no], [NVCC=],
    [yes|auto], [AS_IF([test "x$NVCC" = x], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])])],
    [AS_IF([test -x "$with_cuda/bin/nvcc"], [NVCC=$with_cuda/bin/nvcc],
      [AC_MSG_ERROR([--with-cuda=$with_cuda: no nvcc in $with_cuda/bin])])])
  AS_IF([test "x$with_cuda" = xyes && test "x$NVCC" = x], [AC_MSG_ERROR([--with-cuda=yes: no nvcc found])])
  AS_IF([test "x$NVCC" != x], [astro_cuda_summary="with $NVCC"])
  AC_ARG_VAR([NVCC_ARCH], [the GPUs to compile for, as nvcc's -gencode options (default: sm_80, sm_90a, and PTX for others)])
  AS_IF([test "x$NVCC_ARCH" = x],
    [NVCC_ARCH="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80"])
  AC_ARG_VAR([NVCC_OPTIMIZE], [how nvcc optimizes (default: -O3)])
  AS_IF([test "x$NVCC_OPTIMIZE" = x], [NVCC_OPTIMIZE=-O3])
  # nvcc accepts neither -pthread nor -Wl.
  AC_SUBST([NVCC_GST_CFLAGS], [$(echo "$GST_CFLAGS $GLIB_CFLAGS" | sed 's/-pthread//g')])
  AC_SUBST([NVCC_GLIB_LIBS], [$(echo "$GLIB_LIBS" | sed 's/-pthread//g; s/-Wl,[[^ ]]*//g')])
  # The module looks here for libraries of the toolkit that the loader does not find.
  AC_SUBST([CUDA_TOOLKIT], [$(dirname "$(dirname "${NVCC##* }")")])
  AM_CONDITIONAL([HAVE_CUDA], [test "x$NVCC" != x])
])
