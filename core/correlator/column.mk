core_sources += core/correlator/work.c core/correlator/correlator.h core/correlator/check.c core/correlator/reference.c \
  core/correlator/counts.c core/correlator/counts.h core/correlator/parts.c core/correlator/parts.h core/correlator/sums.c core/correlator/sums.h \
  core/correlator/cpu.c core/correlator/gather.c core/correlator/gather.h \
  core/correlator/packing.c core/correlator/packing.h core/correlator/packed-products.c core/correlator/packed-products.h core/correlator/plan.c core/correlator/plan.h \
  core/correlator/prefetch.h core/correlator/kernels.c core/correlator/kernels.h \
  core/correlator/outer.h core/correlator/outer-block.h core/correlator/pack-outer.h \
  core/correlator/x86/pack-fours.h core/correlator/x86/amx.h core/correlator/x86/bytewise.h core/correlator/tile.h core/correlator/x86/tile-avx512.h \
  core/correlator/x86/tile-int32.h core/correlator/x86/tile-float.h \
  core/correlator/x86/pack-ci16.h core/correlator/int8-c.c core/correlator/float-c.c
core_level_sources += core/correlator/int16-levels.c core/correlator/means-levels.c
core_avx2_sources += core/correlator/x86/int8-avx2.c core/correlator/x86/float-avx2.c
core_avx512_sources += core/correlator/x86/int8-avx512.c core/correlator/x86/float-avx512.c
core_vnni_sources += core/correlator/x86/int8-vnni.c
core_amx_sources += core/correlator/x86/int8-amx.c core/correlator/x86/int16-amx.c core/correlator/x86/float-amx.c
element_sources += elements/astrocorrelator.c elements/astrocorrelator-parts.c elements/astrocorrelator-parts.h elements/astrocorrelator.h
core_tests += tests/core/correlator/correlator tests/core/correlator/correlator-large tests/core/correlator/correlator-values tests/core/correlator/correlator-limits
dist_files += tests/core/correlator/correlator.h tests/elements/astrocorrelator.h
element_tests += tests/elements/astrocorrelator tests/elements/astrocorrelator-time tests/elements/astrocorrelator-devices
bench_programs += tests/bench/correlator
tests_bench_correlator_LDADD = $(LDADD) -ldl
gpu_sources += gpu/correlator/correlator.cu gpu/correlator/groups.cu gpu/correlator/dump.cu gpu/correlator/join.cu gpu/correlator/held.cu gpu/correlator/split.cu gpu/correlator/simt.cu \
  gpu/correlator/f32.cu gpu/correlator/map.cu gpu/correlator/mma.cu gpu/correlator/three.cu gpu/correlator/wgmma.cu
gpu_headers += gpu/correlator/choice.h gpu/correlator/correlator.h gpu/correlator/hopper.h \
	gpu/correlator/instance.h gpu/correlator/wgmma.h gpu/correlator/widen.h
gpu_bench_programs += tests/bench/correlator-gpu tests/bench/correlator-short tests/bench/devices-gpu
tests_bench_correlator_gpu_LDADD = $(LDADD) -ldl
tests_bench_correlator_short_LDADD = $(LDADD) -ldl
opencl_sources += opencl/correlator/correlator.c opencl/correlator/visibilities.c
opencl_headers += opencl/correlator/instance.h
opencl_programs += opencl/correlator/correlator.cl opencl/correlator/visibilities.cl
