core_sources += core/power/work.c core/power/power.h core/power/check.c core/power/check.h core/power/products.c core/power/products.h \
  core/power/reference.c core/power/cpu.c core/power/counts.c core/power/counts.h core/power/kernels.h \
  core/power/splits.c core/power/splits.h
core_level_sources += core/power/kernels-levels.c core/power/direct-levels.c
core_tests += tests/core/power/power tests/core/power/power-variants
dist_files += tests/core/power/power.h
element_sources += elements/astropower.c elements/astropower.h elements/astropower-caps.c elements/astropower-caps.h
element_tests += tests/elements/astropower
example_files += examples/stokes.sh
bench_programs += tests/bench/power
gpu_bench_programs += tests/bench/power-gpu
tests_bench_power_gpu_LDADD = $(LDADD) -ldl
gpu_sources += gpu/power/power.cu gpu/power/add.cu gpu/power/finish.cu
gpu_headers += gpu/power/power.h
opencl_sources += opencl/power/power.c
opencl_programs += opencl/power/add.cl opencl/power/finish.cl
