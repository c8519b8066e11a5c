# Visibilities as the rows of a file: UVFITS, uvh5 and Measurement Sets share this.
core_sources += core/lib/rows/values.c core/lib/rows/values.h core/lib/rows/observed.c core/lib/rows/observed.h \
  core/lib/rows/field-name.c core/lib/rows/field-name.h
core_sources += core/lib/rows/products.c core/lib/rows/products.h core/lib/rows/uvw-sums.c core/lib/rows/uvw-sums.h \
  core/lib/rows/weights.c core/lib/rows/weights.h core/lib/rows/rows.c core/lib/rows/rows.h core/lib/rows/compare-uvw.c \
  core/lib/rows/earth.c core/lib/rows/earth.h core/lib/rows/frames.h core/lib/rows/reader.h
core_sources += core/lib/rows/files.c core/lib/rows/files.h core/lib/rows/join.c core/lib/rows/join.h \
  core/lib/rows/join-earth.c core/lib/rows/stations.c core/lib/rows/place.c
core_tests += tests/core/lib/rows/rows tests/core/lib/rows/files
element_tests += tests/elements/visibility-files tests/elements/visibility-misfits
graph_tests += tests/graphs/visibilities
