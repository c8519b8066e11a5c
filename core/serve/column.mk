# Pieces that HTTP servers share, and pictures for browsers. The server is libsoup's, which only the plugin and the program link
# to: it is a library of its own here.
core_sources += core/serve/host.c core/serve/host.h core/serve/listen.c core/serve/listen.h core/serve/token.c core/serve/token.h
core_tests += tests/core/serve/serve-host tests/core/serve/serve-token
fuzz_programs += tests/fuzz/host
dist_files += tests/viewer.h
example_files += examples/waterfall.sh
if HAVE_SOUP
noinst_LTLIBRARIES += core/libastro-serve.la
element_sources += elements/astrohttpsink.c elements/astrohttpsink.h
core_tests += tests/core/serve/serve-pictures tests/core/serve/serve-patience
element_tests += tests/elements/astrohttpsink
serve_libs = core/libastro-serve.la $(SOUP_LIBS)
endif

core_libastro_serve_la_SOURCES = core/serve/pictures.c core/serve/pictures.h core/serve/pictures-parts.h \
  core/serve/callers.c core/serve/callers.h core/serve/answers.c core/serve/page.c core/serve/page.h
core_libastro_serve_la_CFLAGS = $(AM_CFLAGS) $(SOUP_CFLAGS)
tests_core_serve_serve_pictures_LDADD = $(serve_libs) $(LDADD)
tests_core_serve_serve_patience_LDADD = $(serve_libs) $(LDADD)
