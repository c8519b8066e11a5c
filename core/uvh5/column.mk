# Visibilities and catalogues in HDF5: a plugin of its own, so that the others work where HDF5 is missing.
uvh5_sources = core/uvh5/uvh5.h core/lib/hdf5/chunks.c core/lib/hdf5/chunks.h core/fits/hdf5/tables.h core/fits/hdf5/types.c \
  core/fits/hdf5/find.c core/fits/hdf5/stored.c core/fits/hdf5/rows.c core/lib/hdf5/h5.c core/lib/hdf5/h5.h core/lib/hdf5/lzf.c core/lib/hdf5/lzf.h core/uvh5/reader.h \
  core/uvh5/header.c core/uvh5/sky.c core/uvh5/rows.c core/uvh5/data.c core/uvh5/read.c core/uvh5/write.h core/uvh5/writer.h \
  core/uvh5/write-header.c core/uvh5/write-rows.c core/uvh5/write.c
if HAVE_HDF5
noinst_LTLIBRARIES += core/libastro-uvh5.la
plugin_LTLIBRARIES += elements/libgstastrouvh5.la
core_tests += tests/core/uvh5/lzf
element_tests += tests/elements/astrouvh5 tests/elements/astrohdf5
bench_programs += tests/bench/uvh5
fuzz_programs += tests/fuzz/uvh5 tests/fuzz/hdf5
core_tests += tests/core/fits/fuzz-hdf5
endif

core_libastro_uvh5_la_SOURCES = $(uvh5_sources)
core_libastro_uvh5_la_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
uvh5_libs = core/libastro-uvh5.la $(HDF5_LIBS)

elements_libgstastrouvh5_la_SOURCES = elements/plugin-uvh5.c elements/astrouvh5src.c elements/astrouvh5src.h \
  elements/astrouvh5sink.c elements/astrouvh5sink.h elements/base/astrostamps.c elements/base/astrorowsink.c \
  elements/base/astrorowsink.h elements/base/astrorowsrc.c elements/base/astrorowsrc.h elements/base/astroearth.c elements/base/astrointegrations.c
elements_libgstastrouvh5_la_CFLAGS = $(AM_CFLAGS)
elements_libgstastrouvh5_la_LIBADD = $(uvh5_libs) $(astro_libs) $(GST_LIBS) $(GLIB_LIBS)
elements_libgstastrouvh5_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^gst_plugin_astrouvh5_' \
  -Wl,-rpath,'$$ORIGIN/..'

# The test of the elements changes files by HDF5 itself.
tests_core_uvh5_lzf_LDADD = $(uvh5_libs) $(LDADD)
tests_elements_astrouvh5_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_elements_astrouvh5_LDADD = $(uvh5_libs) $(LDADD)
tests_elements_astrohdf5_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_elements_astrohdf5_LDADD = $(LDADD) $(HDF5_LIBS)
dist_files += tests/elements/astrohdf5.h tests/elements/astrouvh5.h tests/interop/uvh5.py
tests_bench_uvh5_LDADD = $(uvh5_libs) $(LDADD)
tests_fuzz_uvh5_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_fuzz_uvh5_LDADD = $(uvh5_libs) $(LDADD)
tests_fuzz_hdf5_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_fuzz_hdf5_LDADD = $(uvh5_libs) $(LDADD)
tests_core_fits_fuzz_hdf5_SOURCES = tests/fuzz/hdf5.c tests/fuzz/check.c
tests_core_fits_fuzz_hdf5_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_core_fits_fuzz_hdf5_LDADD = $(uvh5_libs) $(LDADD)
