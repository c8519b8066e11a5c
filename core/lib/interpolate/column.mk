# Samples between samples, turned.
core_sources += core/lib/interpolate/fraction.c core/lib/interpolate/fraction.h core/lib/interpolate/kernels.c \
  core/lib/interpolate/kernels.h
core_level_sources += core/lib/interpolate/interpolate-levels.c
