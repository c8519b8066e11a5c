# W-projection: tables of convolution functions, and the gridder that takes them.
core_sources += core/gridder/wprojection/wprojection.c core/gridder/wprojection/wprojection.h \
  core/gridder/wprojection/algorithm.c core/gridder/wprojection/build.c \
  core/gridder/wprojection/places.h core/gridder/wprojection/reference.c \
  core/gridder/wprojection/taps.c core/gridder/wprojection/taps.h \
  core/gridder/wprojection/records.h core/gridder/wprojection/records.c \
  core/gridder/wprojection/merge.c core/gridder/wprojection/spread.c \
  core/gridder/wprojection/kernels.h core/gridder/wprojection/body.h
core_level_sources += core/gridder/wprojection/kernels-levels.c
core_tests += tests/core/gridder/wprojection/wprojection tests/core/gridder/wprojection/wprojection-image tests/core/gridder/wprojection/wprojection-cuda
tests_core_gridder_wprojection_wprojection_image_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_gridder_wprojection_wprojection_image_LDADD = $(LDADD) $(FFTW_LIBS)
dist_files += tests/core/gridder/wprojection/wprojection.h
if X86_KERNELS # its peak is of their instructions
bench_programs += tests/bench/wprojection
endif
gpu_sources += gpu/gridder/wprojection/wprojection.cu gpu/gridder/wprojection/records.cu gpu/gridder/wprojection/merge.cu \
  gpu/gridder/wprojection/spread.cu gpu/gridder/wprojection/staged.cu
gpu_headers += gpu/gridder/wprojection/wprojection.h gpu/gridder/wprojection/cells.h
gpu_bench_programs += tests/bench/wprojection-gpu
dist_files += tests/bench/tracks.h
