# ASTRO_MPI: --disable-mpi. The plugin with astroalltoall and astroreduce uses MPI; without it both are left out.
AC_DEFUN([ASTRO_MPI], [
  AC_ARG_ENABLE([mpi],
    [AS_HELP_STRING([--disable-mpi], [without astroalltoall and astroreduce, which need MPI])],
    [], [enable_mpi=auto])
  astro_mpi_summary=no
  AS_IF([test "x$enable_mpi" != xno],
    [PKG_CHECK_MODULES([MPI], [ompi-c >= 4.1], [astro_mpi_summary="yes (Open MPI)"],
      [PKG_CHECK_MODULES([MPI], [mpich >= 4.0], [astro_mpi_summary="yes (MPICH)"],
        [AS_IF([test "x$enable_mpi" = xyes], [AC_MSG_ERROR([--enable-mpi: $MPI_PKG_ERRORS])])
         astro_mpi_summary="no: astroalltoall and astroreduce need MPI (libopenmpi-dev, 4.1 or later)"])])])
  AS_CASE([$astro_mpi_summary], [yes*],
    [AC_DEFINE([HAVE_MPI], [1], [MPI is available, so that astroalltoall and astroreduce are built.])])
  AM_CONDITIONAL([HAVE_MPI], [AS_CASE([$astro_mpi_summary], [yes*], [true], [false])])
])
