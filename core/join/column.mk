core_sources += core/join/join.h core/join/check.c core/join/check.h core/join/validity.c core/join/reference.c \
  core/join/cpu.c core/join/metas.c core/join/weave.c core/join/weave.h
element_sources += elements/astrojoin.c elements/astrojoin.h elements/astrojoin-caps.c elements/astrojoin-caps.h \
  elements/astrojoin-observe.c
core_tests += tests/core/join/join
element_tests += tests/elements/astrojoin tests/elements/astrojoin-beams tests/elements/astrojoin-maps tests/elements/astromerge
bench_programs += tests/bench/join
example_files += examples/receivers.sh examples/recorded.sh examples/bands.sh
