# Samples between samples, turned.
core_sources += core/lib/interpolate/fraction.c core/lib/interpolate/fraction.h core/lib/interpolate/kernels.c \
  core/lib/interpolate/kernels.h core/lib/interpolate/interpolate-body.h core/lib/interpolate/interpolate-c.c
core_avx2_sources += core/lib/interpolate/interpolate-avx2.c
core_avx512_sources += core/lib/interpolate/interpolate-avx512.c
