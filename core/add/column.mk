core_sources += core/add/add.h core/add/check.c core/add/check.h core/add/validity.c core/add/reference.c core/add/cpu.c core/add/work.c
element_sources += elements/astroadd.c elements/astroadd.h elements/astroadd-said.c elements/astroadd-said.h
core_tests += tests/core/add/add
element_tests += tests/elements/astroadd
bench_programs += tests/bench/add
example_files += examples/nights.sh examples/add.sh
