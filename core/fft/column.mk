# What all users of FFTW share.
core_sources += core/fft/planner.c core/fft/planner.h
core_cflags += $(FFTW_CFLAGS)
core_libs += $(FFTW_LIBS)
core_tests += tests/core/planner
tests_core_planner_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_planner_LDADD = $(LDADD) $(FFTW_LIBS)
