# Machines for plans: measured, or described by a file.
core_sources += core/machine/machine.c core/machine/machine.h core/machine/measure.c core/machine/measure.h \
  core/machine/peaks.c core/machine/peaks.h
core_tests += tests/core/machine/machine

# The work that stages tell of, against references that count (core/backend/count.h).
core_tests += tests/core/machine/told-work
tests_core_machine_told_work_SOURCES = tests/core/machine/told-work.c core/beamform/reference.c core/channelizer/fir-c.c \
  core/convert/reference.c core/correlator/reference.c core/dedisperse/reference.c core/delay/reference.c core/fold/reference.c \
  core/phaseshift/reference.c core/power/reference.c
tests_core_machine_told_work_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_COUNTS_WORK
