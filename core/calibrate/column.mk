# The calibration of visibilities: gains of stations solved against a model, and divided out.
core_sources += core/calibrate/calibrate.h core/calibrate/check.c core/calibrate/check.h core/calibrate/complex.h core/calibrate/sums.c core/calibrate/sums.h \
  core/calibrate/graph.c core/calibrate/graph.h core/calibrate/solve.h core/calibrate/solve-alone.c core/calibrate/solve-full.c \
  core/calibrate/solve-delay.c core/calibrate/jones.c core/calibrate/solved.c core/calibrate/solved.h \
  core/calibrate/model.c core/calibrate/model.h core/calibrate/lookup.c core/calibrate/lookup.h \
  core/calibrate/apply.c core/calibrate/apply.h core/calibrate/reference.c core/calibrate/cpu.c
core_tests += tests/core/calibrate/solve tests/core/calibrate/backends
bench_programs += tests/bench/calibrate
dist_files += tests/core/calibrate/calibrate.h tests/bench/peers-calibrate
element_sources += elements/astrocalibrate.c elements/astrocalibrate.h elements/astrocalibrate-table.c elements/astrocalibrate-table.h \
  elements/astrocalibrate-told.c elements/astrocalibrate-told.h elements/astrocalibrate-parts.h \
  elements/astrocalibrate-observed.c elements/astrocalibrate-blocks.c elements/astrocalibrate-intervals.c \
  elements/astrocalibrate-input.c elements/astrocalibrate-input.h
element_tests += tests/elements/astrocalibrate tests/elements/astrocalibrate-model
example_files += examples/calibrate.sh
graph_files += graphs/calibrate.graph
graph_tests += tests/graphs/calibrate
