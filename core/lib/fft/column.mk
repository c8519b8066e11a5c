# Fourier transforms, and what all users of FFTW share.
core_sources += core/lib/fft/work.c core/lib/fft/planner.c core/lib/fft/planner.h core/lib/fft/wisdom.c core/lib/fft/wisdom.h \
  core/lib/fft/fft.h core/lib/fft/check.c core/lib/fft/check.h core/lib/fft/reference.c core/lib/fft/lines.h \
  core/lib/fft/lines-body.h core/lib/fft/lines-single.c core/lib/fft/lines-double.c core/lib/fft/columns.c \
  core/lib/fft/columns.h core/lib/fft/columns-body.h
core_level_sources += core/lib/fft/columns-levels.c
core_cflags += $(FFTW_CFLAGS)
core_libs += $(FFTW_LIBS)
core_tests += tests/core/lib/fft/fft-planner tests/core/lib/fft/fft-wisdom tests/core/lib/fft/fft-columns
tests_core_lib_fft_fft_planner_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_lib_fft_fft_planner_LDADD = $(LDADD) $(FFTW_LIBS)
tests_core_lib_fft_fft_wisdom_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_lib_fft_fft_wisdom_LDADD = $(LDADD) $(FFTW_LIBS)
fuzz_programs += tests/fuzz/wisdom
gpu_sources += gpu/lib/fft/cufft.cu gpu/lib/fft/move.cu gpu/lib/fft/columns.cu gpu/lib/fft/columns-single.cu \
  gpu/lib/fft/columns-double.cu gpu/lib/fft/planes.cu gpu/lib/fft/rows.cu gpu/lib/fft/rows-single.cu \
  gpu/lib/fft/rows-double.cu
gpu_headers += gpu/lib/fft/butterflies.h gpu/lib/fft/turned.h gpu/lib/fft/columns.h gpu/lib/fft/parts.h gpu/lib/fft/rows.h
opencl_sources += opencl/lib/fft/lines.c
opencl_headers += opencl/lib/fft/lines.h
opencl_programs += opencl/lib/fft/lines.cl
