# Phases of pulsars: .par files, the way to the barycentre of the solar system, kernels of the JPL.
core_sources += core/lib/ephemeris/ephemeris.h core/lib/ephemeris/par.c core/lib/ephemeris/phases.c \
  core/lib/ephemeris/phases.h core/lib/ephemeris/planets.c core/lib/ephemeris/planets.h \
  core/lib/ephemeris/kernel.c core/lib/ephemeris/kernel.h
core_tests += tests/core/lib/ephemeris/ephemeris tests/core/lib/ephemeris/kernel
dist_files += tests/core/lib/ephemeris/kernel.h
