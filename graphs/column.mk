# gst-astro and the graphs that it runs.
bin_PROGRAMS = graphs/gst-astro
dist_man1_MANS = graphs/gst-astro.1
completion_DATA = graphs/completion/gst-astro
graph_DATA = $(graph_files)
noinst_DATA = graphs/source

graph_files += graphs/first-light.graph graphs/correlate.graph graphs/correlate-file.graph graphs/filterbank.graph \
  graphs/fringe.graph graphs/synthesis.graph graphs/image.graph graphs/watch.graph graphs/camera.graph graphs/receive.graph graphs/record.graph \
  graphs/transmit.graph graphs/replay.graph graphs/look.graph graphs/spectrometer.graph graphs/incoherent.graph \
  graphs/beam.graph graphs/voltages.graph graphs/pulsar.graph graphs/flag.graph
example_files += examples/look.py
dist_example_DATA = examples/gst-astro@.service
dist_files += graphs/gst-astro.bash tests/graphs/program.h tests/graphs/mpi.h tests/graphs/detected.h tests/graphs/interrupted.h tests/graphs/asked.h tests/graphs/page.js
graph_tests += tests/graphs/graph tests/graphs/gst-astro tests/graphs/refused tests/graphs/interrupt tests/graphs/interrupt-long \
  tests/graphs/report tests/graphs/shipped tests/graphs/catalogues tests/graphs/commands tests/graphs/correlate tests/graphs/watch \
  tests/graphs/places tests/graphs/many tests/graphs/packets tests/graphs/power tests/graphs/pulsar tests/graphs/beams \
  tests/graphs/recordings tests/graphs/flags tests/graphs/machine tests/graphs/plan tests/graphs/qualify tests/graphs/planted tests/graphs/camera tests/graphs/rounds \
  tests/graphs/ranks tests/graphs/ranks-spread tests/graphs/control tests/graphs/usage tests/graphs/watchdog tests/graphs/devices
fuzz_programs += tests/fuzz/graph tests/fuzz/control
bench_programs += tests/bench/graphs

# The answers of the control, without its server, so that a fuzzer can ask without one.
control_sources = graphs/control.h graphs/control-parts.h graphs/control-address.c graphs/control-answers.c \
  graphs/control-state.c graphs/control-metrics.c graphs/control-set.c graphs/control-page.c graphs/control-page.h \
  graphs/glimpse.c graphs/glimpse.h graphs/json.c graphs/json.h graphs/usage.c graphs/usage.h graphs/counts.c graphs/counts.h graphs/flow.c graphs/flow.h
if HAVE_SOUP
control_server = graphs/control.c
else
control_server = graphs/control-without.c
endif
dist_files += graphs/control.c graphs/control-without.c

parser_sources = graphs/graph.c graphs/graph.h graphs/scan.c graphs/scan-lines.c graphs/scan-parts.h graphs/links.c graphs/expand.c graphs/locate.c \
  graphs/passes.c graphs/passes.h graphs/job.c graphs/job.h \
  graphs/near.c graphs/near.h

# Compares backends with references; a test has these files too.
qualify_sources = graphs/qualify-exact.c graphs/qualify-exact.h graphs/qualify-rate.c graphs/qualify-call.c graphs/qualify-call.h \
  graphs/qualify-cases.c graphs/qualify-cases.h graphs/qualify-stages.c graphs/qualify-result.c graphs/qualify-result.h \
  graphs/qualify-elements.c graphs/qualify-elements.h graphs/qualify-lines.c graphs/qualify-play.c graphs/qualify-play.h \
  graphs/qualify-meter.c graphs/qualify-meter.h

graphs_gst_astro_SOURCES = $(parser_sources) $(control_sources) $(control_server) graphs/main.c graphs/arguments.c graphs/arguments.h \
  graphs/find.c graphs/find.h graphs/explain.c graphs/explain.h graphs/devices.c graphs/devices.h graphs/sequence.c graphs/sequence.h graphs/run.c graphs/run.h graphs/run-parts.h graphs/run-told.c graphs/run-end.c graphs/run-pipeline.c graphs/clock.c graphs/clock.h \
  graphs/check.c graphs/check.h graphs/unlinked.c graphs/unlinked.h graphs/interrupt.c graphs/interrupt.h \
  graphs/progress.c graphs/progress.h graphs/stats.c graphs/stats.h graphs/bounds.c graphs/bounds.h graphs/sources.c graphs/sources.h graphs/places.c graphs/places.h graphs/sinks.c graphs/sinks.h \
  graphs/next.c graphs/next.h graphs/names.c graphs/names.h graphs/pictures.c graphs/pictures.h graphs/values.c graphs/values.h graphs/whole.c graphs/whole.h graphs/format.c graphs/format.h graphs/service.c graphs/service.h graphs/watchdog.c graphs/watchdog.h \
  graphs/machine.c graphs/machine-gpu.c graphs/machine.h graphs/table.c graphs/table.h \
  graphs/plan.c graphs/plan.h graphs/plan-shapes.c graphs/plan-shapes.h graphs/plan-sinks.c graphs/plan-sinks.h \
  graphs/plan-roofs.c graphs/plan-roofs.h graphs/plan-route.c graphs/plan-route.h graphs/plan-print.c graphs/plan-print.h \
  graphs/qualify.c graphs/qualify.h graphs/qualify-streams.h graphs/qualify-losses.c graphs/qualify-stops.c graphs/qualify-images.c graphs/qualify-peers.c graphs/qualify-seeds.c graphs/qualify-seeds.h graphs/qualify-seeds-correlator.c graphs/qualify-rate-elements.c \
  graphs/qualify-report.c graphs/qualify-report.h $(qualify_sources)
machinedir = $(graphdir)/machines
dist_machine_DATA = graphs/machines/h100.machine graphs/machines/h200.machine graphs/machines/server-64.machine
graphs_gst_astro_CFLAGS = $(AM_CFLAGS) $(SOUP_CFLAGS)
graphs_gst_astro_LDADD = $(serve_libs) $(astro_libs) $(GST_NET_LIBS) $(GST_LIBS) $(GLIB_LIBS) -lm
# The path is relative to the program, so that the prefix may be moved.
graphs_gst_astro_LDFLAGS = $(AM_LDFLAGS) \
  -Wl,-rpath,'$$ORIGIN'/"$$(realpath -ms --relative-to='$(bindir)' '$(libdir)')"

tests_graphs_qualify_SOURCES = tests/graphs/qualify.c $(qualify_sources) graphs/json.c graphs/json.h graphs/usage.c graphs/usage.h
# A kernel of its own, which is compiled with the defects of core/backend/plant.h.
tests_graphs_planted_SOURCES = tests/graphs/planted.c $(qualify_sources) graphs/json.c graphs/json.h graphs/usage.c graphs/usage.h core/power/cpu.c
tests_graphs_planted_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_PLANTS_DEFECTS
# Its flags have no sanitizer's.
if SANITIZERS
check_LTLIBRARIES += tests/graphs/quiet-start.la
endif
tests_graphs_quiet_start_la_SOURCES = tests/graphs/quiet-start.c
tests_graphs_quiet_start_la_CFLAGS = $(astro_warnings) $(GST_CFLAGS)
tests_graphs_quiet_start_la_LDFLAGS = $(HARDENING_LDFLAGS) -module -avoid-version -rpath /nowhere

tests_graphs_places_SOURCES = tests/graphs/places.c graphs/places.c graphs/places.h
tests_graphs_graph_SOURCES = tests/graphs/graph.c $(parser_sources)
tests_graphs_rounds_SOURCES = tests/graphs/rounds.c $(parser_sources)
tests_graphs_ranks_SOURCES = tests/graphs/ranks.c $(parser_sources)
tests_graphs_usage_SOURCES = tests/graphs/usage.c graphs/json.c graphs/json.h graphs/usage.c graphs/usage.h
tests_fuzz_graph_SOURCES = tests/fuzz/graph.c $(parser_sources)
tests_fuzz_control_SOURCES = tests/fuzz/control.c $(control_sources)

# This link tells the program that it runs in a build tree, and where to find the graphs as they are edited.
graphs/source:
	$(AM_V_GEN)$(MKDIR_P) graphs && rm -f $@ && $(LN_S) '$(abs_top_srcdir)/graphs' $@

graphs/completion/gst-astro: graphs/gst-astro.bash
	$(AM_V_GEN)$(MKDIR_P) graphs/completion && cp '$(srcdir)/graphs/gst-astro.bash' $@

CLEANFILES += graphs/source graphs/completion/gst-astro

.PHONY: first-light
first-light: all
	@graphs/gst-astro run first-light output='$(abs_builddir)/first-light.uvfits' \
	  image='$(abs_builddir)/first-light.fits' picture='$(abs_builddir)/first-light.png'

# Chromium looks at the page of a run; part of check-interop. Pictures of it are left in page-pictures.
dist_files += tests/interop/page.py
.PHONY: check-page
check-page: all
	@. $(srcdir)/tests/environment && unset GST_TRACERS GST_DEBUG && \
	  python3 $(srcdir)/tests/interop/page.py graphs/gst-astro page-pictures
