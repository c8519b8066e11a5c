# ASTRO_INSTALLED_TESTS: --enable-installed-tests installs test and bench programs.
AC_DEFUN([ASTRO_INSTALLED_TESTS], [
  AC_ARG_ENABLE([installed-tests],
    [AS_HELP_STRING([--enable-installed-tests], [install test and bench programs])],
    [], [enable_installed_tests=no])
  AC_SUBST([testdir], ['$(libexecdir)/installed-tests/gst-astro'])
  astro_installed_tests_summary=$enable_installed_tests
  AM_CONDITIONAL([INSTALLED_TESTS], [test "x$enable_installed_tests" = xyes])
])
