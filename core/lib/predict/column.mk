# Visibilities by the measurement equation.
core_sources += core/lib/predict/predict.c core/lib/predict/predict.h core/lib/predict/finish.c core/lib/predict/finish.h \
  core/lib/predict/errors.c core/lib/predict/errors.h \
  core/lib/predict/kernels.c core/lib/predict/kernels.h
core_level_sources += core/lib/predict/kernels-levels.c
element_sources += elements/astrovissrc.c elements/astrovissrc.h
core_tests += tests/core/lib/predict/predict tests/core/lib/predict/polarised
dist_files += tests/core/lib/predict/predict.h
element_tests += tests/elements/astrovissrc
bench_programs += tests/bench/predict
example_files += examples/predict.sh
