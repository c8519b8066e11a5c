core_sources += core/transpose/transpose.c core/transpose/transpose.h core/transpose/reference.c \
  core/transpose/check.c core/transpose/check.h core/transpose/plan.c core/transpose/plan.h \
  core/transpose/run.c core/transpose/ahead.h core/transpose/loops.h core/transpose/kernels.h \
  core/transpose/tiles.h core/transpose/kernels-c.c
core_avx2_sources += core/transpose/kernels-avx2.c
core_avx512_sources += core/transpose/kernels-avx512.c
element_sources += elements/astrotranspose.c elements/astrotranspose.h
gpu_sources += gpu/transpose.cu gpu/transpose-bytes.cu
gpu_headers += gpu/transpose.h
core_tests += tests/core/transpose
element_tests += tests/elements/astrotranspose
bench_programs += tests/bench/transpose
