# Visibilities by the measurement equation.
core_sources += core/predict/predict.c core/predict/predict.h core/predict/finish.c core/predict/finish.h \
  core/predict/errors.c core/predict/errors.h \
  core/predict/kernels.c core/predict/kernels.h core/predict/kernels-body.h core/predict/kernels-c.c
core_avx2_sources += core/predict/kernels-avx2.c
core_avx512_sources += core/predict/kernels-avx512.c
element_sources += elements/astrovissrc.c elements/astrovissrc.h
core_tests += tests/core/predict
element_tests += tests/elements/astrovissrc
bench_programs += tests/bench/predict
example_files += examples/predict.sh
