# Machines for plans: measured, or described by a file.
core_sources += core/machine/machine.c core/machine/machine.h core/machine/measure.c core/machine/measure.h \
  core/machine/peaks.c core/machine/peaks.h
core_tests += tests/core/machine/machine
