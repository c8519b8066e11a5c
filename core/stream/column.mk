# Rates and times as typed; (u,v,w) of an observation, by ERFA.
core_sources += core/stream/typed.c core/stream/typed.h core/stream/uvw.c core/stream/uvw.h core/stream/track.c core/stream/track.h \
  core/stream/undelayed.c core/stream/undelayed.h
library_sources += core/stream/uvw-meta.c core/stream/uvw-meta.h core/stream/absent.c core/stream/absent.h core/stream/meta-steps.h core/stream/elsewhere.h
core_cflags += $(ERFA_CFLAGS)
core_libs += $(ERFA_LIBS)
core_tests += tests/core/stream/uvw tests/core/stream/uvw-meta

# Grids and images.
library_sources += core/stream/grid.c core/stream/grid-meta.c core/stream/grid.h
core_tests += tests/core/stream/grid

# Detected power.
library_sources += core/stream/power.c core/stream/power.h
core_tests += tests/core/stream/power tests/core/stream/dms

# Folded profiles.
library_sources += core/stream/profile.c core/stream/profile.h
core_tests += tests/core/stream/profile

# The history of a stream, through whole pipelines.
element_tests += tests/elements/history
library_sources += core/stream/stream.c core/stream/stream.h core/stream/names.c core/stream/names.h core/stream/observation.c core/stream/observation.h \
  core/stream/history.c core/stream/history.h core/stream/validity.c core/stream/validity-cut.c core/stream/validity-mark.c \
  core/stream/validity.h core/stream/histogram-summary.h core/stream/histogram-summary.c \
  core/stream/pair-fields.h core/stream/pair-fields.c \
  core/stream/correlation-about.h core/stream/correlation-about.c core/stream/earth.c \
  core/stream/earth.h core/stream/languages.c core/stream/languages.h \
  core/stream/beams.c core/stream/beams.h core/stream/beam-event.h core/stream/dms.c core/stream/dms-event.h
