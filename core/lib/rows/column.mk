# Rows of visibilities, which UVFITS, uvh5 and other files share.
core_sources += core/lib/rows/products.c core/lib/rows/products.h core/lib/rows/uvw-sums.c core/lib/rows/uvw-sums.h \
  core/lib/rows/weights.c core/lib/rows/weights.h core/lib/rows/rows.c core/lib/rows/rows.h core/lib/rows/compare-uvw.c \
  core/lib/rows/earth.c core/lib/rows/earth.h
