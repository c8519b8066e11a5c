# FITS files, with CFITSIO for headers and tables.
core_sources += core/fits/fits.c core/fits/fits.h \
  core/fits/cfitsio.c core/fits/cfitsio.h core/fits/file.c core/fits/file.h core/fits/table/table.c core/fits/table/text.c \
  core/fits/table/table.h core/fits/reader.h core/fits/uvfits/uvfits.c core/fits/uvfits/uvfits.h \
  core/fits/uvfits/parameters.h core/fits/uvfits/antennas.c \
  core/fits/uvfits/writer.h core/fits/uvfits/write.c core/fits/uvfits/write.h \
  core/fits/uvfits/write-header.c core/fits/uvfits/write-groups.c \
  core/fits/uvfits/read.c core/fits/uvfits/read.h \
  core/fits/uvfits/reader.h core/fits/uvfits/header.c core/fits/uvfits/groups.c core/fits/uvfits/stations.c core/fits/uvfits/order.c core/fits/uvfits/places.c core/fits/uvfits/weights.c core/fits/uvfits/files.c core/fits/uvfits/band.c \
  core/fits/open.c core/fits/open.h core/fits/foreign.c core/fits/foreign.h core/fits/units.c core/fits/units.h core/fits/table/row-filter.c core/fits/table/row-filter.h \
  core/fits/table/filter-limits.c core/fits/table/filter-limits.h \
  core/fits/table/rows.c core/fits/table/rows.h \
  core/fits/table/catalogue-read.c core/fits/table/catalogue-read.h core/fits/table/catalogue-reader.h \
  core/fits/table/catalogue-columns.c core/fits/table/catalogue-points.c core/fits/table/catalogue-hdf5.c core/fits/table/catalogue-text.c \
  core/fits/table/text-filter.c core/fits/table/text-filter.h \
  core/fits/table/write.c core/fits/table/write.h core/fits/cards.c core/fits/cards.h \
  core/fits/image/image.h core/fits/image/products.c core/fits/image/write.c core/fits/image/reader.h \
  core/fits/image/header.c core/fits/image/sky.c core/fits/image/read.c \
  core/fits/blocks/blocks.h core/fits/blocks/words.c core/fits/blocks/write.c \
  core/fits/blocks/read.h core/fits/blocks/arrays.c core/fits/blocks/read-with.c core/fits/blocks/read.c
core_sources += core/fits/psrfits/psrfits.h core/fits/psrfits/products.c core/fits/psrfits/read.h core/fits/psrfits/read.c \
  core/fits/psrfits/header.c core/fits/psrfits/rows.c core/fits/psrfits/unpack.h core/fits/psrfits/unpack.c \
  core/fits/psrfits/header-write.h core/fits/psrfits/header-write.c core/fits/psrfits/row.h core/fits/psrfits/row.c \
  core/fits/psrfits/write.c core/fits/psrfits/fold.h core/fits/psrfits/fold.c core/fits/psrfits/write-fold.c
core_cflags += $(CFITSIO_CFLAGS)
core_libs += $(CFITSIO_LIBS)
element_sources += elements/astrofitssink.c elements/astrofitssink.h \
  elements/astrofitssink-parts.h elements/astrofitssink-frames.c elements/astrofitssink-told.c \
  elements/astrofitssrc.c elements/astrofitssrc.h elements/astrofitssrc-parts.h \
  elements/astrofitssrc-files.c elements/astrofitssrc-frames.c
core_tests += tests/core/fits/fits-text-filter
core_tests += tests/core/fits/fits-file tests/core/fits/fits-not-read tests/core/fits/uvfits tests/core/fits/uvfits-header tests/core/fits/uvfits-read \
  tests/core/fits/uvfits-foreign tests/core/fits/fits-catalogue tests/core/fits/fits-catalogue-refused tests/core/fits/fits-catalogue-write \
  tests/core/fits/fits-image tests/core/fits/fits-image-foreign
element_tests += tests/elements/astrofits tests/elements/astrofits-source tests/elements/astrofits-opening tests/elements/astrofits-uvw tests/elements/astrofits-tables \
  tests/elements/astrofitsimages tests/elements/astrofits-blocks tests/elements/astrofits-parts tests/elements/astrofits-psrfits
bench_programs += tests/bench/fits
fuzz_programs += tests/fuzz/fits tests/fuzz/foreign tests/fuzz/psrfits
core_tests += tests/core/fits/fuzz-psrfits
tests_core_fits_fuzz_psrfits_SOURCES = tests/fuzz/psrfits.c tests/fuzz/check.c
dist_files += tests/core/fits/place.h tests/core/fits/uvfits.h tests/core/fits/uvfits-written.h tests/core/fits/foreign.h \
  tests/core/fits/fits-image.h tests/core/fits/fits-key.h tests/core/fits/fits-catalogue.h \
  tests/elements/astrofits.h tests/interop/check tests/interop/to-ms.cc \
  tests/interop/checks.py tests/interop/uvfits.py tests/interop/peaks.py tests/interop/synthesis.py tests/interop/tables.py tests/interop/pip.py tests/interop/images.py \
  tests/interop/psrfits.py

# These look at files with CFITSIO themselves.
tests_core_fits_fits_not_read_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_not_read_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_uvfits_header_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_uvfits_header_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_uvfits_read_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_uvfits_read_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_uvfits_foreign_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_uvfits_foreign_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_fits_catalogue_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_catalogue_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_fits_catalogue_refused_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_catalogue_refused_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_fits_catalogue_write_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_catalogue_write_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_fits_image_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_image_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_fits_image_foreign_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_fits_image_foreign_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_elements_astrofits_tables_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_elements_astrofits_tables_LDADD = $(LDADD) $(CFITSIO_LIBS)

# Our files in other programs' hands; installs those, so it is no part of "make check".
interop_programs += tests/interop/predict
.PHONY: check-interop
check-interop: all tests/interop/predict tests/interop/flags check-packets check-pulsars check-page
	srcdir=$(srcdir) CXX="$(CXX)" $(srcdir)/tests/interop/check

# PSRFITS.
core_tests += tests/core/fits/psrfits-read tests/core/fits/psrfits-write tests/core/fits/psrfits-fold
dist_files += tests/core/fits/psrfits-foreign.h
tests_core_fits_psrfits_read_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_psrfits_read_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_psrfits_fold_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_psrfits_fold_LDADD = $(LDADD) $(CFITSIO_LIBS)
tests_core_fits_psrfits_write_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_psrfits_write_LDADD = $(LDADD) $(CFITSIO_LIBS)

# Earth orientation in UVFITS.
core_sources += core/fits/uvfits/earth.c core/fits/uvfits/earth.h
core_tests += tests/core/fits/uvfits-earth
tests_core_fits_uvfits_earth_CFLAGS = $(AM_CFLAGS) $(CFITSIO_CFLAGS)
tests_core_fits_uvfits_earth_LDADD = $(LDADD) $(CFITSIO_LIBS)
core_sources += core/fits/gains/gains.h core/fits/gains/write.c core/fits/gains/read.c core/fits/gains/stream.h core/fits/gains/stream.c
core_tests += tests/core/fits/fits-gains tests/core/fits/fuzz-gains-table
fuzz_programs += tests/fuzz/gains-table
tests_core_fits_fuzz_gains_table_SOURCES = tests/fuzz/gains-table.c tests/fuzz/check.c
