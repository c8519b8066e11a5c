# ASTRO_OPENCL: --disable-opencl. The module with the stages for OpenCL devices needs OpenCL's headers and loader.
AC_DEFUN([ASTRO_OPENCL], [
  AC_ARG_ENABLE([opencl],
    [AS_HELP_STRING([--disable-opencl], [without backend=opencl, which needs OpenCL's headers and loader])],
    [], [enable_opencl=auto])
  astro_opencl_summary=no
  AS_IF([test "x$enable_opencl" != xno],
    [PKG_CHECK_MODULES([OPENCL], [OpenCL], [astro_opencl_summary=yes],
      [AS_IF([test "x$enable_opencl" = xyes], [AC_MSG_ERROR([--enable-opencl: $OPENCL_PKG_ERRORS])])
       astro_opencl_summary="no: backend=opencl needs ocl-icd-opencl-dev and opencl-headers"])])
  AM_CONDITIONAL([HAVE_OPENCL], [test "x$astro_opencl_summary" = xyes])
])
