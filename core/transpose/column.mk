core_sources += core/transpose/transpose.h core/transpose/check.c core/transpose/check.h core/transpose/reference.c \
  core/transpose/cpu.c
element_sources += elements/astrotranspose.c elements/astrotranspose.h
gpu_sources += gpu/transpose/transpose.cu gpu/transpose/bytes.cu
gpu_headers += gpu/transpose/transpose.h
opencl_sources += opencl/transpose/transpose.c
opencl_programs += opencl/transpose/transpose.cl
core_tests += tests/core/transpose/transpose
element_tests += tests/elements/astrotranspose
bench_programs += tests/bench/transpose
