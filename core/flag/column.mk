core_sources += core/flag/work.c core/flag/flag.h core/flag/check.c core/flag/check.h core/flag/theory.c core/flag/theory.h \
  core/flag/plane.c core/flag/plane.h core/flag/rank.c core/flag/rank.h core/flag/median.c core/flag/median.h core/flag/reference.c core/flag/reference.h core/flag/reference-plane.c \
  core/flag/cpu.c core/flag/cpu.h core/flag/cpu-kurtosis.c core/flag/cpu-threshold.c core/flag/kernels.h \
  core/flag/apply.c core/flag/apply.h core/flag/list.c core/flag/list.h
core_exact_level_sources += core/flag/kernels-levels.c
core_tests += tests/core/flag/theory tests/core/flag/flag tests/core/flag/flag-variants
dist_files += tests/core/flag/flag.h tests/interop/aoflagger.cc
element_sources += elements/astroflag.c elements/astroflag.h elements/astroflag-blocks.c elements/astroflag-blocks.h \
  elements/astroflag-rules.c elements/astroflag-rules.h elements/astroflag-told.c elements/astroflag-told.h
element_tests += tests/elements/astroflag
example_files += examples/flag.sh
interop_programs += tests/interop/flags
bench_programs += tests/bench/flag
gpu_bench_programs += tests/bench/flag-gpu
tests_bench_flag_gpu_LDADD = $(LDADD) -ldl
gpu_sources += gpu/flag/flag.cu gpu/flag/kurtosis.cu gpu/flag/amplitudes.cu gpu/flag/planes.cu
gpu_headers += gpu/flag/flag.h gpu/flag/plane.h gpu/flag/baseline.h gpu/flag/windows.h
