core_sources += core/select/select.h core/select/list.c core/select/check.c core/select/check.h core/select/validity.c core/select/metas.c \
  core/select/reference.c core/select/cpu.c
element_sources += elements/astroselect.c elements/astroselect.h elements/astroselect-lists.c elements/astroselect-lists.h
core_tests += tests/core/select/select
element_tests += tests/elements/astroselect
bench_programs += tests/bench/select
example_files += examples/subset.sh
