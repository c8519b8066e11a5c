# ASTRO_SANITIZERS: --enable-sanitizers[=address,undefined|thread]
AC_DEFUN([ASTRO_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with sanitizers (default LIST: address,undefined)])],
    [], [enable_sanitizers=no])
  AS_IF([test "x$enable_sanitizers" = xyes], [enable_sanitizers=address,undefined])
  SANITIZER_CFLAGS=
  AS_IF([test "x$enable_sanitizers" != xno],
    [SANITIZER_CFLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer -g"])
  AC_SUBST([SANITIZER_CFLAGS])
  # GObject's checks of casts take a tenth of the time that an element needs to pass a buffer on. Builds with sanitizers
  # have them.
  CAST_CFLAGS=
  AS_IF([test "x$enable_sanitizers" = xno], [CAST_CFLAGS=-DG_DISABLE_CAST_CHECKS])
  AC_SUBST([CAST_CFLAGS])
  astro_sanitizers_summary=$enable_sanitizers
  AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" != xno])
])
