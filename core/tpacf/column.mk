core_sources += core/tpacf/tpacf.h core/tpacf/tpacf.c
core_tests += tests/core/tpacf
