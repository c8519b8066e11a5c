core_sources += core/phaseshift/work.c core/phaseshift/phaseshift.h core/phaseshift/shift.c core/phaseshift/check.c core/phaseshift/check.h \
  core/phaseshift/reference.c core/phaseshift/cpu.c
element_sources += elements/astrophaseshift.c elements/astrophaseshift.h
core_tests += tests/core/phaseshift/phaseshift
element_tests += tests/elements/astrophaseshift
bench_programs += tests/bench/phaseshift
example_files += examples/shift.sh examples/fields.sh
