# ASTRO_BUILD_PATHS: keeps the folders that this was built in out of debug information and of the messages of assertions, so
# that what is installed says the same wherever it was built.
AC_DEFUN([ASTRO_BUILD_PATHS], [
  AC_CACHE_CHECK([whether $CC takes -ffile-prefix-map], [astro_cv_file_prefix_map], [
    astro_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror -ffile-prefix-map=/a=."
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [astro_cv_file_prefix_map=yes], [astro_cv_file_prefix_map=no])
    CFLAGS=$astro_saved_CFLAGS])
  BUILD_PATHS_CFLAGS=
  AS_IF([test "x$astro_cv_file_prefix_map" = xyes],
    [BUILD_PATHS_CFLAGS='-ffile-prefix-map=$(abs_top_srcdir)=. -ffile-prefix-map=$(abs_top_builddir)=. -ffile-prefix-map=$(srcdir)/=./'])
  AC_SUBST([BUILD_PATHS_CFLAGS])
])
