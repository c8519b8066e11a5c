# Where in the sky an image lies.
core_sources += core/lib/wcs/wcs.c core/lib/wcs/wcs.h
core_cflags += $(WCSLIB_CFLAGS)
core_libs += $(WCSLIB_LIBS)
core_tests += tests/core/lib/wcs/wcs
