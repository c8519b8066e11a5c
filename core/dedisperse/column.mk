core_sources += core/dedisperse/work.c core/dedisperse/dedisperse.h core/dedisperse/check.c core/dedisperse/check.h core/dedisperse/reference.c \
  core/dedisperse/cpu.c core/dedisperse/backends.c core/dedisperse/coherent.h core/dedisperse/filter.c \
  core/dedisperse/samples.h core/dedisperse/coherent-reference.c core/dedisperse/coherent-cpu.c core/dedisperse/plan.c core/dedisperse/plan.h \
  core/dedisperse/trials.c core/dedisperse/trials.h core/dedisperse/weights.c core/dedisperse/weights.h core/dedisperse/kernels.h
core_level_sources += core/dedisperse/kernels-levels.c
core_tests += tests/core/dedisperse/dedisperse tests/core/dedisperse/dedisperse-variants tests/core/dedisperse/coherent
dist_files += tests/core/dedisperse/dedisperse.h
element_sources += elements/astrodedisperse.c elements/astrodedisperse.h elements/astrodedisperse-caps.c \
  elements/astrodedisperse-caps.h
element_tests += tests/elements/astrodedisperse tests/elements/astrodedisperse-coherent
bench_programs += tests/bench/dedisperse
