# Delays in time and in phase.
core_sources += core/delay/fraction.c core/delay/fraction.h core/delay/kernels.c core/delay/kernels.h \
  core/delay/interpolate-body.h core/delay/interpolate-c.c
core_avx2_sources += core/delay/interpolate-avx2.c
core_avx512_sources += core/delay/interpolate-avx512.c
