# The function that spreads visibilities over a grid, and its transform, by which images are divided.
core_sources += core/lib/spread/spread.c core/lib/spread/spread.h core/lib/spread/n-range.c core/lib/spread/semicircle.c \
  core/lib/spread/semicircle.h core/lib/spread/taper.c core/lib/spread/taper.h \
  core/lib/spread/series.c core/lib/spread/series.h core/lib/spread/strip.h core/lib/spread/strip-levels.h
gpu_headers += gpu/lib/spread/pixel.h gpu/lib/spread/series.h
