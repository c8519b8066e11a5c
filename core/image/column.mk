# Images of the sky from transformed grids, and where in the sky they are.
core_sources += core/image/wcs.c core/image/wcs.h
core_cflags += $(WCSLIB_CFLAGS)
core_libs += $(WCSLIB_LIBS)
core_tests += tests/core/wcs
