core_sources += core/lib/transpose/transpose.c core/lib/transpose/transpose.h core/lib/transpose/reference.c \
  core/lib/transpose/check.c core/lib/transpose/check.h core/lib/transpose/plan.c core/lib/transpose/plan.h \
  core/lib/transpose/run.c core/lib/transpose/prefetch.h core/lib/transpose/loops.h core/lib/transpose/kernels.h \
  core/lib/transpose/tiles.h core/lib/transpose/kernels-c.c
core_avx2_sources += core/lib/transpose/kernels-avx2.c
core_avx512_sources += core/lib/transpose/kernels-avx512.c
element_sources += elements/astrotranspose.c elements/astrotranspose.h
gpu_sources += gpu/transpose/transpose.cu gpu/transpose/bytes.cu
gpu_headers += gpu/transpose/transpose.h
core_tests += tests/core/transpose
element_tests += tests/elements/astrotranspose
bench_programs += tests/bench/transpose
