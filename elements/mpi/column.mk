# Streams between ranks by MPI: a plugin of its own, so that the others work where MPI is missing.
if HAVE_MPI
plugin_LTLIBRARIES += elements/libgstastrompi.la
element_tests += tests/elements/astrompi tests/elements/astrompi-devices tests/elements/mpi-threads
mpi_thread_tests = tests/elements/mpi-threads
bench_programs += tests/bench/ranks tests/bench/ranks-nccl
check_LTLIBRARIES += tests/elements/fake-nccl.la
endif
tests_elements_fake_nccl_la_SOURCES = tests/elements/fake-nccl.c
tests_elements_fake_nccl_la_LIBADD = $(astro_libs) $(GST_LIBS) $(GLIB_LIBS)
tests_elements_fake_nccl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere

elements_libgstastrompi_la_SOURCES = elements/mpi/plugin.c elements/mpi/astroalltoall.c elements/mpi/astroalltoall.h \
  elements/mpi/astroreduce.c elements/mpi/astroreduce.h elements/mpi/exchange.c elements/mpi/exchange.h \
  elements/mpi/sender.c elements/mpi/sender.h elements/mpi/receiver.c elements/mpi/receiver.h elements/mpi/link.c \
  elements/mpi/link.h elements/mpi/elsewhere.c elements/mpi/elsewhere.h elements/mpi/pads.c elements/mpi/pads.h elements/mpi/sums.c elements/mpi/sums.h \
  elements/mpi/transport.c elements/mpi/transport.h elements/mpi/parcel.c elements/mpi/parcel.h \
  elements/mpi/bond.c elements/mpi/bond.h elements/mpi/bond-copy.c elements/mpi/bond-nccl.c elements/mpi/bonds.c elements/mpi/bonds.h elements/mpi/mover.h \
  elements/mpi/nccl.c elements/mpi/nccl.h elements/mpi/reader.c elements/mpi/reader.h elements/mpi/room.c elements/mpi/room.h \
  elements/mpi/way.c elements/mpi/way.h elements/mpi/trial.c elements/mpi/trial.h \
  elements/base/astrobranches.c
elements_libgstastrompi_la_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
elements_libgstastrompi_la_LIBADD = $(astro_libs) $(MPI_LIBS) $(GST_LIBS) $(GLIB_LIBS)
elements_libgstastrompi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^gst_plugin_astrompi_' \
  -Wl,-rpath,'$$ORIGIN/..'
tests_bench_ranks_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_bench_ranks_LDADD = $(LDADD) $(MPI_LIBS)
tests_bench_ranks_nccl_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
tests_bench_ranks_nccl_LDADD = $(LDADD) $(MPI_LIBS)
dist_files += tests/elements/ranks.h tests/elements/fake-nccl.h tests/bench/ranks.h tests/bench/ranks-net
