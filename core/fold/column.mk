core_sources += core/fold/work.c core/fold/fold.h core/fold/check.c core/fold/check.h core/fold/reference.c core/fold/cpu.c \
  core/fold/kernels.h
core_level_sources += core/fold/kernels-levels.c
core_tests += tests/core/fold/fold
element_sources += elements/astrofold.c elements/astrofold.h elements/astrofold-pulsar.c elements/astrofold-pulsar.h
element_tests += tests/elements/astrofold
bench_programs += tests/bench/fold
example_files += examples/fold.sh
