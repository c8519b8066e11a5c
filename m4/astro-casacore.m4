# ASTRO_CASACORE: --disable-measurement-sets. The plugin with astromssrc and astromssink is C++ on casacore; without it both
# elements are left out.
AC_DEFUN([ASTRO_CASACORE], [
  AC_ARG_ENABLE([measurement-sets],
    [AS_HELP_STRING([--disable-measurement-sets], [without astromssrc and astromssink, which need C++ and casacore])],
    [], [enable_measurement_sets=auto])
  astro_casacore_summary=no
  CASACORE_LIBS="-lcasa_ms -lcasa_measures -lcasa_tables -lcasa_casa -lstdc++"
  AS_IF([test "x$enable_measurement_sets" != xno],
    [AC_LANG_PUSH([C++])
     astro_saved_libs=$LIBS
     LIBS="$CASACORE_LIBS $LIBS"
     AC_MSG_CHECKING([for casacore])
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <casacore/ms/MeasurementSets/MeasurementSet.h>]],
                                     [[casacore::MeasurementSet set;]])],
       [astro_casacore_summary=yes
        AC_DEFINE([HAVE_CASACORE], [1], [casacore is available, so that the plugin for Measurement Sets is built.])],
       [astro_casacore_summary="no: astromssrc and astromssink need C++ and casacore (casacore-dev)"])
     LIBS=$astro_saved_libs
     AC_LANG_POP([C++])
     AC_MSG_RESULT([$astro_casacore_summary])
     AS_IF([test "x$enable_measurement_sets" = xyes && test "x$astro_casacore_summary" != xyes],
       [AC_MSG_ERROR([--enable-measurement-sets needs C++ and casacore (casacore-dev)])])])
  AC_SUBST([CASACORE_LIBS])
  AM_CONDITIONAL([HAVE_CASACORE], [test "x$astro_casacore_summary" = xyes])
])
