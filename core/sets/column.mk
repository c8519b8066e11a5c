# Measurement Sets, with casacore, in C++: a library and a plugin of their own, that nothing else needs.
sets_sources = core/sets/sets.h core/sets/tables.h core/sets/tables-private.hh core/sets/tables.cc core/sets/create.cc \
  core/sets/open.cc core/sets/write.c core/sets/reader.h core/sets/select.c core/sets/band.c core/sets/sky.c \
  core/sets/weights.c core/sets/read.c core/sets/update.c
sets_element_sources = elements/ms/plugin.c elements/ms/astromssink.c elements/ms/astromssink.h elements/ms/astromssrc.c elements/ms/astromssrc.h \
  elements/base/astroearth.c elements/base/astrorowsink.c elements/base/astrorowsrc.c elements/base/astrointegrations.c elements/base/astrostamps.c

if HAVE_CASACORE
noinst_LTLIBRARIES += core/libastro-sets.la
core_libastro_sets_la_SOURCES = $(sets_sources)
# casacore's own templates bind references to null allocators, which the sanitizer for undefined behaviour stops at.
core_libastro_sets_la_CXXFLAGS = $(astro_cxx_warnings) -ffp-contract=off $(HARDENING_CFLAGS) $(SANITIZER_CFLAGS) -fno-sanitize=undefined $(GST_CFLAGS) \
  $(GLIB_CFLAGS) $(BUILD_PATHS_CFLAGS)
core_libastro_sets_la_LIBADD = $(CASACORE_LIBS)

plugin_LTLIBRARIES += elements/libgstastroms.la
elements_libgstastroms_la_SOURCES = $(sets_element_sources)
elements_libgstastroms_la_CFLAGS = $(AM_CFLAGS) $(core_cflags)
elements_libgstastroms_la_LIBADD = core/libastro-sets.la $(astro_libs) $(CASACORE_LIBS) $(GST_LIBS) $(GLIB_LIBS)
elements_libgstastroms_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^gst_plugin_astroms_' \
  -Wl,-rpath,'$$ORIGIN/..'
core_tests += tests/core/sets/sets
element_tests += tests/elements/astroms
bench_programs += tests/bench/sets
tests_bench_sets_LDADD = core/libastro-sets.la $(LDADD) $(CASACORE_LIBS)
tests_elements_astroms_SOURCES = tests/elements/astroms.c tests/core/sets/alter.cc
tests_elements_astroms_CXXFLAGS = $(core_libastro_sets_la_CXXFLAGS)
tests_elements_astroms_LDADD = $(LDADD) $(CASACORE_LIBS)
tests_core_sets_sets_SOURCES = tests/core/sets/sets.c tests/core/sets/alter.cc
tests_core_sets_sets_CXXFLAGS = $(core_libastro_sets_la_CXXFLAGS)
tests_core_sets_sets_LDADD = core/libastro-sets.la $(LDADD) $(CASACORE_LIBS)
endif
dist_files += tests/interop/sets.py tests/interop/sets_uvh5.py tests/core/sets/alter.h tests/bench/rows.h

# Exchanges sets with CASA, from PyPI. Apart from check-interop, since CASA and its data take 2 GB.
casa_peers = casatools==6.7.* casatasks==6.7.* casadata six
dist_files += tests/interop/casa.py tests/interop/casa-config.py
.PHONY: check-casa
casa-peers/.complete:
	@rm -rf casa-peers && { python3 -m venv casa-peers || \
	  { echo "check-casa: Python cannot make a virtual environment: Debian's package python3-venv does that" >&2; exit 1; }; }
	@casa-peers/bin/pip install --quiet --disable-pip-version-check $(casa_peers) || \
	  { echo "check-casa: these packages of PyPI cannot be installed: $(casa_peers)" >&2; exit 1; }
	@touch $@

check-casa: all casa-peers/.complete
	@here=$$(pwd) && sources=$$(cd $(srcdir) && pwd) && . $(srcdir)/tests/environment && unset GST_TRACERS GST_DEBUG && \
	work=$$(mktemp -d) && cd "$$work" && export PYTHONPATH="$$sources/tests/interop" HOME="$$work" \
	  CASASITECONFIG="$$sources/tests/interop/casa-config.py" && status=0; \
	"$$here/casa-peers/bin/python" "$$sources/tests/interop/casa.py" || status=1; rm -rf "$$work"; exit $$status
