core_sources += core/dedisperse/dedisperse.h core/dedisperse/check.c core/dedisperse/check.h core/dedisperse/reference.c \
  core/dedisperse/cpu.c core/dedisperse/plan.c core/dedisperse/plan.h \
  core/dedisperse/trials.c core/dedisperse/trials.h core/dedisperse/weights.c core/dedisperse/weights.h core/dedisperse/kernels.h
core_level_sources += core/dedisperse/kernels-levels.c
core_tests += tests/core/dedisperse/dedisperse tests/core/dedisperse/dedisperse-variants
dist_files += tests/core/dedisperse/dedisperse.h
element_sources += elements/astrodedisperse.c elements/astrodedisperse.h elements/astrodedisperse-caps.c \
  elements/astrodedisperse-caps.h
element_tests += tests/elements/astrodedisperse
