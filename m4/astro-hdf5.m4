# ASTRO_HDF5: --disable-hdf5. astrouvh5src and astrouvh5sink, a plugin of their own that also reads catalogues for
# astrofitssrc, use HDF5; without it they are left out.
AC_DEFUN([ASTRO_HDF5], [
  AC_ARG_ENABLE([hdf5],
    [AS_HELP_STRING([--disable-hdf5], [without astrouvh5src and astrouvh5sink, which need HDF5])],
    [], [enable_hdf5=auto])
  astro_hdf5_summary=no
  AS_IF([test "x$enable_hdf5" != xno],
    [PKG_CHECK_MODULES([HDF5], [hdf5 >= 1.10.7], [astro_hdf5_summary=yes],
      [PKG_CHECK_MODULES([HDF5], [hdf5-serial >= 1.10.7], [astro_hdf5_summary=yes],
        [AS_IF([test "x$enable_hdf5" = xyes], [AC_MSG_ERROR([--enable-hdf5: $HDF5_PKG_ERRORS])])
         astro_hdf5_summary="no: astrouvh5src and astrouvh5sink need HDF5 (libhdf5-dev, 1.10.7 or later)"])])])
  AS_IF([test "x$astro_hdf5_summary" = xyes],
    [AC_DEFINE([HAVE_HDF5], [1], [HDF5 is available, so that astrouvh5src and astrouvh5sink are built.])])
  AM_CONDITIONAL([HAVE_HDF5], [test "x$astro_hdf5_summary" = xyes])
])
