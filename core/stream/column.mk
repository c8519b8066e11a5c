# (u,v,w) of an observation, by ERFA.
core_sources += core/stream/uvw.c core/stream/uvw.h core/stream/track.c core/stream/track.h \
  core/stream/undelayed.c core/stream/undelayed.h \
  core/stream/uvw-meta.c core/stream/uvw-meta.h
core_cflags += $(ERFA_CFLAGS)
core_libs += $(ERFA_LIBS)
core_tests += tests/core/uvw tests/core/uvw-meta

# Grids and images.
core_sources += core/stream/grid.c core/stream/grid-meta.c core/stream/grid.h
core_tests += tests/core/grid

# What was done to a stream, through whole pipelines.
element_tests += tests/elements/history
