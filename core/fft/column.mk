# Fourier transforms, and what all users of FFTW share.
core_sources += core/fft/planner.c core/fft/planner.h core/fft/wisdom.c core/fft/wisdom.h core/fft/fft.h core/fft/check.c core/fft/check.h \
  core/fft/reference.c core/fft/cpu.c core/fft/lines.h core/fft/lines-body.h core/fft/lines-single.c \
  core/fft/lines-double.c core/fft/cut.c core/fft/cut.h core/fft/validity.c core/fft/validity.h \
  core/fft/columns.c core/fft/columns.h core/fft/columns-kernels.h core/fft/columns-body.h core/fft/columns-c.c
core_avx2_sources += core/fft/columns-avx2.c
core_avx512_sources += core/fft/columns-avx512.c
element_sources += elements/astrofft.c elements/astrofft.h elements/astrofft-caps.h \
  elements/astrofft-parts.h elements/astrofft-axes.c elements/astrofft-lengths.c elements/astrofft-maps.c \
  elements/astrofft-caps.c elements/astrofft-configure.c
core_cflags += $(FFTW_CFLAGS)
core_libs += $(FFTW_LIBS)
core_tests += tests/core/planner tests/core/wisdom tests/core/fft tests/core/fft-part tests/core/fft-cuda tests/core/columns
dist_files += tests/core/fft.h
element_tests += tests/elements/astrofft tests/elements/astrofft-time tests/elements/astrofft-in-place
bench_programs += tests/bench/fft
fuzz_programs += tests/fuzz/wisdom
tests_bench_fft_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_bench_fft_LDADD = $(LDADD) $(FFTW_LIBS) -lfftw3f_threads -lfftw3_threads
tests_core_planner_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_planner_LDADD = $(LDADD) $(FFTW_LIBS)
tests_core_wisdom_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_wisdom_LDADD = $(LDADD) $(FFTW_LIBS)
example_files += examples/spectrum.sh
gpu_sources += gpu/fft.cu gpu/fft-cufft.cu gpu/fft-move.cu gpu/fft-columns.cu \
  gpu/fft-columns-single.cu gpu/fft-columns-double.cu gpu/fft-planes.cu gpu/fft-rows.cu \
  gpu/fft-rows-single.cu gpu/fft-rows-double.cu
gpu_headers += gpu/fft.h gpu/fft-columns.h gpu/fft-parts.h gpu/fft-rows.h
gpu_bench_programs += tests/bench/fft-gpu
tests_bench_fft_gpu_LDADD = $(LDADD) -ldl
