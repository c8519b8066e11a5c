# The plugin with all elements.
plugin_LTLIBRARIES += elements/libgstastro.la

element_sources += elements/plugin.c elements/astrosave.c elements/astrosave.h
example_files += examples/find-elements.sh
example_files += examples/transpose.sh examples/requantise.sh
element_tests += tests/elements/astroshares tests/elements/plugin tests/elements/astrostage tests/elements/astrostage-time tests/elements/astrosteps tests/elements/late tests/elements/playing tests/elements/lengths tests/elements/logs tests/elements/counts tests/elements/outside-stage tests/elements/device \
  tests/elements/astrosave tests/elements/agreed tests/elements/blocklengths tests/elements/misfits tests/elements/stress tests/elements/streams \
  tests/elements/cuda tests/elements/cuda-failures tests/elements/cuda-bad-input tests/elements/imaging-memory tests/elements/interrupted tests/elements/given-up

# libtool only makes a shared module if there is an rpath; this one is never installed.
check_LTLIBRARIES += tests/elements/fake-module.la
tests_elements_fake_module_la_SOURCES = tests/elements/fake-module.c
tests_elements_fake_module_la_LIBADD = $(astro_libs) $(GST_LIBS) $(GLIB_LIBS)
tests_elements_fake_module_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
bench_programs += tests/bench/passthrough tests/bench/chain tests/bench/memory

elements_libgstastro_la_SOURCES = $(element_sources)
elements_libgstastro_la_CFLAGS = $(AM_CFLAGS) $(core_cflags)
elements_libgstastro_la_LIBADD = $(serve_libs) $(astro_libs) $(GST_VIDEO_LIBS) $(GST_NET_LIBS) $(GST_LIBS) $(GLIB_LIBS)
elements_libgstastro_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^gst_plugin_astro_' \
  -Wl,-rpath,'$$ORIGIN/..'
