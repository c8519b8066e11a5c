# Voltages to spectra.
core_sources += core/channelizer/work.c core/channelizer/channelizer.h core/channelizer/window.c core/channelizer/check.c \
  core/channelizer/check.h \
  core/channelizer/stretch.c core/channelizer/stretch.h core/channelizer/reference.c \
  core/channelizer/gains.c core/channelizer/gains.h \
  core/channelizer/cpu.c core/channelizer/fir.h core/channelizer/fir-c.c
# One source for both; the portable filter is loops that the compiler makes vectors of.
core_avx2_sources += core/channelizer/fir-levels.c
core_avx512_sources += core/channelizer/fir-levels.c
element_sources += elements/astrochannelizer.c elements/astrochannelizer.h
core_tests += tests/core/channelizer/channelizer tests/core/channelizer/channelizer-variants tests/core/channelizer/channelizer-calls \
  tests/core/channelizer/channelizer-coarse
dist_files += tests/core/channelizer/channelizer.h tests/elements/astrochannelizer.h
fuzz_programs += tests/fuzz/gains
element_tests += tests/elements/astrochannelizer tests/elements/astrochannelizer-time \
  tests/elements/astrochannelizer-coarse
bench_programs += tests/bench/channelizer
gpu_bench_programs += tests/bench/channelizer-gpu
tests_bench_channelizer_gpu_LDADD = $(LDADD) -ldl
tests_bench_channelizer_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_bench_channelizer_LDADD = $(LDADD) $(FFTW_LIBS)
example_files += examples/digitiser.sh examples/subbands.sh
gpu_sources += gpu/channelizer/channelizer.cu gpu/channelizer/fused.cu gpu/channelizer/square.cu \
  gpu/channelizer/mixed.cu gpu/channelizer/bytes.cu gpu/channelizer/bytes-long.cu gpu/channelizer/passes.cu
gpu_headers += gpu/channelizer/channelizer.h gpu/channelizer/bytes-filter.h gpu/channelizer/bytes-kernel.h \
  gpu/channelizer/bytes-long.h gpu/channelizer/bytes-out.h gpu/channelizer/bytes-shape.h gpu/channelizer/bytes-transform.h
opencl_sources += opencl/channelizer/channelizer.c opencl/channelizer/losses.c
opencl_headers += opencl/channelizer/instance.h
opencl_programs += opencl/channelizer/channelizer.cl
