core_sources += core/tpacf/tpacf.h core/tpacf/tpacf.c core/tpacf/csv.h core/tpacf/csv.c \
  core/tpacf/about.h core/tpacf/about.c
core_tests += tests/core/tpacf/tpacf tests/core/tpacf/tpacf-mock
element_sources += elements/astrotpacf.c elements/astrotpacf.h
element_tests += tests/elements/astrotpacf
graph_files += graphs/tpacf.graph graphs/tpacf-files.graph graphs/tpacf-cross.graph graphs/tpacf-seed.graph
