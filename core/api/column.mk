# libgstastro-1.0: code that stages inside and outside this tree share, and everything that a process must have only once.
# It exports the API, which core/api/gst-astro-1.0.symbols lists. Functions of other headers with ASTRO_BEGIN_DECLS are
# exported only to programs of the same release, and everything else is hidden.
lib_LTLIBRARIES = core/api/libgstastro-1.0.la

core_api_libgstastro_1_0_la_SOURCES = $(library_sources)
core_api_libgstastro_1_0_la_CFLAGS = $(AM_CFLAGS) $(CAST_CFLAGS) -fvisibility=hidden
core_api_libgstastro_1_0_la_LIBADD = $(GST_LIBS) $(GLIB_LIBS) -lm
core_api_libgstastro_1_0_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined -Wl,--version-script=core/api/gst-astro-1.0.map
EXTRA_core_api_libgstastro_1_0_la_DEPENDENCIES = core/api/gst-astro-1.0.map

core/api/gst-astro-1.0.map: core/api/gst-astro-1.0.symbols Makefile
	@$(MKDIR_P) core/api
	$(AM_V_GEN){ echo 'GSTASTRO_1.0 { global:'; sed -n '/^astro_/s/$$/;/p' $(srcdir)/core/api/gst-astro-1.0.symbols; echo '};'; \
	  echo 'GSTASTRO_PRIVATE_$(PACKAGE_VERSION) { global: astro_*; local: *; };'; } >$@
CLEANFILES += core/api/gst-astro-1.0.map
dist_files += core/api/gst-astro-1.0.symbols

# The headers under the names they are installed by, whatever folder they are in here. core/api/include is for programs that
# are compiled against a build tree.
public_headers += core/kit/exports.h core/kit/fail.h core/kit/enum.h core/stream/stream.h core/stream/history.h \
  core/stream/earth.h core/stream/beams.h core/stream/observation.h core/stream/validity.h core/stream/languages.h core/backend/handles.h \
  core/memory/memory.h core/memory/pool.h core/backend/threads.h core/backend/result.h core/backend/work.h core/backend/backend.h elements/base/astrofields.h \
  elements/base/astrostage.h elements/base/astromerge.h
staged_headers = $(addprefix core/api/include/astro/,$(patsubst astro%,%,$(notdir $(public_headers))))
apidir = $(includedir)/gst-astro-1.0
nodist_api_HEADERS = core/api/include/gst-astro.h
apiastrodir = $(apidir)/astro
nodist_apiastro_HEADERS = $(staged_headers)
dist_files += core/api/gst-astro.h core/api/stage-headers

core/api/include/gst-astro.h: core/api/gst-astro.h core/api/stage-headers $(public_headers)
	$(AM_V_GEN)$(srcdir)/core/api/stage-headers core/api/include $(patsubst %,$(srcdir)/%,$(public_headers)) && cp $(srcdir)/core/api/gst-astro.h $@
$(staged_headers): core/api/include/gst-astro.h

# Both give paths relative to the .pc file, so that a prefix may be moved and a build tree used without installing.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = core/api/gst-astro-1.0.pc
noinst_DATA += core/api/gst-astro-1.0-uninstalled.pc
dist_files += core/api/gst-astro-1.0.pc.in
from_prefix = sed "s,@$(1)@,\$${prefix}/`realpath -ms --relative-to='$(prefix)' '$(2)'`,"
core/api/gst-astro-1.0.pc: core/api/gst-astro-1.0.pc.in Makefile
	@$(MKDIR_P) core/api
	$(AM_V_GEN)sed -e "s,@PREFIX@,\$${pcfiledir}/`realpath -ms --relative-to='$(pkgconfigdir)' '$(prefix)'`," \
	  -e 's,@RELEASE@,$(PACKAGE_VERSION),' $(srcdir)/core/api/gst-astro-1.0.pc.in | $(call from_prefix,INCLUDEDIR,$(includedir)) | \
	  $(call from_prefix,LIBDIR,$(libdir)) | $(call from_prefix,PLUGINSDIR,$(plugindir)) | $(call from_prefix,GRAPHDIR,$(graphdir)) >$@
core/api/gst-astro-1.0-uninstalled.pc: core/api/gst-astro-1.0.pc.in Makefile
	@$(MKDIR_P) core/api
	$(AM_V_GEN)sed -e 's,@PREFIX@,$(abs_builddir),' -e 's,@RELEASE@,$(PACKAGE_VERSION),' -e 's,@LIBDIR@,$${prefix}/core/api/.libs,' \
	  -e 's,@PLUGINSDIR@,$${prefix}/elements/.libs,' -e 's,@GRAPHDIR@,$(abs_top_srcdir)/graphs,' \
	  -e 's,/girepository-1.0,/..,' -e 's,-I$${includedir}/gst-astro-1.0,-I$${prefix}/core/api/include,' -e '/INCLUDEDIR/d' \
	  $(srcdir)/core/api/gst-astro-1.0.pc.in >$@
CLEANFILES += core/api/gst-astro-1.0.pc core/api/gst-astro-1.0-uninstalled.pc core/api/include/gst-astro.h $(staged_headers)

# Tests in shell.
api_tests = tests/api/headers tests/api/symbols tests/api/outside tests/api/python
dist_files += $(api_tests) tests/api/tap.sh
# It installs, for which libtool moves the plugins away and links them once more: no other test may run meanwhile.
# (By a variable, since automake leaves out its own rule for a log that it sees one for.)
install_test_log = tests/api/outside.log
$(install_test_log): $(filter-out $(install_test_log),$(TEST_LOGS))

# The example of a stage outside the tree, which doc/first-stage.md explains.
outsidedir = $(exampledir)/outside
outside_DATA = examples/outside/channelpower.c examples/outside/Makefile
dist_files += $(outside_DATA)

# Pages are installed side by side as in the source, so that their links work there too.
dist_doc_DATA = NEWS
dist_files += doc/first-stage.md
pages = `cd $(srcdir) && ls -d *.md doc/*.* doc/qualified/*.* tests/bench/*.md`
install-data-local:
	@for page in $(pages); do \
	  $(MKDIR_P) "$(DESTDIR)$(docdir)/`dirname $$page`" && $(INSTALL_DATA) "$(srcdir)/$$page" "$(DESTDIR)$(docdir)/$$page" || exit; \
	done
	@rm -f '$(DESTDIR)$(docdir)/examples' && \
	  $(LN_S) "`realpath -ms --relative-to='$(docdir)' '$(exampledir)'`" '$(DESTDIR)$(docdir)/examples'
uninstall-local:
	@for page in $(pages) examples; do rm -f "$(DESTDIR)$(docdir)/$$page"; done

example_files += examples/validity.py
# The typelib, with which Python and other languages use the library.
gir_flags = --namespace=GstAstro --nsversion=1.0 --identifier-prefix=Astro --symbol-prefix=astro --pkg=gstreamer-1.0 \
  --pkg=gstreamer-base-1.0 --pkg-export=gst-astro-1.0 --include=Gst-1.0 --include=GstBase-1.0 --c-include=gst-astro.h \
  --library=gstastro-1.0 --library-path=core/api/.libs -Icore/api/include
if INTROSPECTION
girdir = $(datadir)/gir-1.0
gir_DATA = core/api/GstAstro-1.0.gir
typelibdir = $(libdir)/girepository-1.0
typelib_DATA = core/api/GstAstro-1.0.typelib
endif
dist_files += core/api/describe core/api/annotations

core/api/gst-astro-described.c: core/api/include/gst-astro.h core/api/describe core/api/annotations
	$(AM_V_GEN)python3 $(srcdir)/core/api/describe $(srcdir)/core/api/annotations $(staged_headers) >$@.new && mv $@.new $@
core/api/GstAstro-1.0.gir: core/api/gst-astro-described.c core/api/libgstastro-1.0.la
	$(AM_V_GEN)CC='$(CC)' LD_LIBRARY_PATH=core/api/.libs GST_PLUGIN_SYSTEM_PATH_1_0= GST_REGISTRY_1_0=core/api/registry.bin \
	  $(G_IR_SCANNER) --quiet $(gir_flags) --add-init-section='extern void gst_init(int *, char ***); gst_init(NULL, NULL);' --output=$@ $(staged_headers) \
	  core/api/gst-astro-described.c
core/api/GstAstro-1.0.typelib: core/api/GstAstro-1.0.gir
	$(AM_V_GEN)$(G_IR_COMPILER) --output=$@ $<
CLEANFILES += core/api/registry.bin core/api/gst-astro-described.c core/api/GstAstro-1.0.gir core/api/GstAstro-1.0.typelib

# Pages of the API, by gi-docgen, in core/api/pages.
.PHONY: api-pages
api-pages: all
	@test -e core/api/GstAstro-1.0.gir || { echo 'api-pages: this build is without introspection; configure says why' >&2; exit 1; }
	@command -v gi-docgen >/dev/null || { echo 'api-pages: gi-docgen is missing' >&2; exit 1; }
	gi-docgen generate --quiet --config $(srcdir)/core/api/gst-astro.toml --no-namespace-dir --content-dir $(srcdir)/doc \
	  --output-dir core/api/pages core/api/GstAstro-1.0.gir
	@echo 'the pages: $(abs_builddir)/core/api/pages/index.html'
dist_files += core/api/gst-astro.toml
