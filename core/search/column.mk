# The search for pulses in power: boxcars over a baseline and noise that interference does not move.
core_sources += core/search/search.h core/search/check.c core/search/check.h core/search/series.c core/search/series.h core/search/work.c \
  core/search/reference.c core/search/cpu.c core/search/groups.c core/search/groups.h
core_tests += tests/core/search/search tests/core/search/groups
dist_files += tests/core/search/search.h
core_sources += core/search/rows.c core/search/rows.h
element_sources += elements/astrosearch.c elements/astrosearch.h
element_tests += tests/elements/astrosearch
bench_programs += tests/bench/search
example_files += examples/search.sh
graph_files += graphs/search.graph graphs/transient.graph
graph_tests += tests/graphs/bursts
