# Fourier transforms of streams.
core_sources += core/fft/cpu.c core/fft/cut.c core/fft/cut.h core/fft/validity.c core/fft/validity.h
element_sources += elements/astrofft.c elements/astrofft.h elements/astrofft-caps.h \
  elements/astrofft-parts.h elements/astrofft-axes.c elements/astrofft-lengths.c elements/astrofft-maps.c \
  elements/astrofft-caps.c elements/astrofft-configure.c
core_tests += tests/core/fft/fft tests/core/fft/fft-part tests/core/fft/fft-cuda
dist_files += tests/core/fft/fft.h
element_tests += tests/elements/astrofft tests/elements/astrofft-time tests/elements/astrofft-in-place
bench_programs += tests/bench/fft
tests_bench_fft_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_bench_fft_LDADD = $(LDADD) $(FFTW_LIBS) -lfftw3f_threads -lfftw3_threads
example_files += examples/spectrum.sh
gpu_sources += gpu/fft/fft.cu
gpu_bench_programs += tests/bench/fft-gpu
tests_bench_fft_gpu_LDADD = $(LDADD) -ldl
opencl_sources += opencl/fft/fft.c
opencl_programs += opencl/fft/fft.cl
