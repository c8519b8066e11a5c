core_sources += core/sideband/sideband.h core/sideband/check.c core/sideband/check.h core/sideband/reference.c \
  core/sideband/cpu.c core/sideband/signs.c core/sideband/signs.h
element_sources += elements/astrosideband.c elements/astrosideband.h
gpu_sources += gpu/sideband/sideband.cu
opencl_sources += opencl/sideband/sideband.c
opencl_programs += opencl/sideband/sideband.cl
core_tests += tests/core/sideband/sideband
element_tests += tests/elements/astrosideband
bench_programs += tests/bench/sideband
