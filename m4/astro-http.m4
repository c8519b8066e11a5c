# ASTRO_HTTP: --disable-http. The server of astrohttpsink uses libsoup; without it that element is left out.
AC_DEFUN([ASTRO_HTTP], [
  AC_ARG_ENABLE([http],
    [AS_HELP_STRING([--disable-http], [without astrohttpsink and the graph watch, which need libsoup-3.0])],
    [], [enable_http=auto])
  astro_http_summary=no
  AS_IF([test "x$enable_http" != xno],
    [PKG_CHECK_MODULES([SOUP], [libsoup-3.0 >= 3.2],
      [astro_http_summary=yes
       AC_DEFINE([HAVE_SOUP], [1], [libsoup is available, so that astrohttpsink is built.])],
      [AS_IF([test "x$enable_http" = xyes], [AC_MSG_ERROR([--enable-http: $SOUP_PKG_ERRORS])])
       astro_http_summary="no: astrohttpsink and the graph watch need libsoup-3.0 (3.2 or later)"])])
  AM_CONDITIONAL([HAVE_SOUP], [test "x$astro_http_summary" = xyes])
])
