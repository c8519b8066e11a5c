plugin_LTLIBRARIES = elements/libgstastro.la

element_sources += elements/plugin.c elements/astrostage.c elements/astrostage.h \
  elements/astroreader.c elements/astroreader.h
element_tests += tests/elements/plugin tests/elements/astrostage
bench_programs += tests/bench/passthrough

elements_libgstastro_la_SOURCES = $(element_sources)
elements_libgstastro_la_CFLAGS = $(AM_CFLAGS) $(core_cflags)
elements_libgstastro_la_LIBADD = core/libastro-core.la $(GST_LIBS) $(GLIB_LIBS)
elements_libgstastro_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-rpath,'$$ORIGIN/..'
