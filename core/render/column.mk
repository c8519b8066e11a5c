# Pictures of streams: Cairo and Pango draw what stands around the pixels.
core_sources += core/render/colormap.h core/render/colormap.c core/render/colormap-data.c \
  core/render/stretch.h core/render/stretch.c core/render/pixels.h core/render/pixels.c \
  core/render/pixels-reference.c core/render/panel.h core/render/panel.c core/render/kind-image.c \
  core/render/kind-spectra.c core/render/kind-samples.c core/render/kind-power.c core/render/kind-validity.c core/render/kind-flags.c core/render/kind-profile.c core/render/kind-gains.c core/render/counted.h \
  core/render/waterfall.h core/render/waterfall.c core/render/visibilities.h core/render/visibilities.c \
  core/render/kind-matrix.c core/render/kind-spectrum.c core/render/kind-fringe.c core/render/lags.h \
  core/render/lags.c core/render/kind-correlation.c core/render/decades.h core/render/decades.c core/render/space-correlation.h core/render/space-correlation.c core/render/smooth.h core/render/smooth.c \
  core/render/sexagesimal.h core/render/sexagesimal.c core/render/bar-ticks.h core/render/bar-ticks.c \
  core/render/figure-bar.h core/render/figure-bar.c core/render/panel-curves.h core/render/panel-curves.c \
  core/render/ticks.h core/render/ticks.c core/render/sky-grid.c core/render/figure-layout.h \
  core/render/figure-layout.c core/render/pen.h core/render/pen.c core/render/panel-axes.h \
  core/render/panel-axes.c core/render/panel-marks.h core/render/panel-marks.c \
  core/render/figure.h core/render/figure.c core/render/render.h core/render/render.c
core_cflags += $(DRAWING_CFLAGS)
core_libs += $(DRAWING_LIBS)
core_cflags += $(GST_VIDEO_CFLAGS)
element_sources += elements/astrorender.c elements/astrorender.h
core_tests += tests/core/render/render tests/core/render/render-pixels tests/core/render/render-kinds \
  tests/core/render/render-scales tests/core/render/render-smooth tests/core/render/render-views tests/core/render/render-power tests/core/render/render-validity tests/core/render/render-profile tests/core/render/render-gains tests/core/render/render-samples
dist_files += tests/core/render/render.h
tests_core_render_render_CFLAGS = $(AM_CFLAGS) $(DRAWING_CFLAGS)
tests_core_render_render_LDADD = $(LDADD) $(DRAWING_LIBS)
element_tests += tests/elements/astrorender
tests_elements_astrorender_LDADD = $(LDADD) $(GST_VIDEO_LIBS)
tests_elements_astrorender_CFLAGS = $(AM_CFLAGS) $(GST_VIDEO_CFLAGS)
graph_tests += tests/graphs/pictures
bench_programs += tests/bench/render
example_files += examples/picture.sh
