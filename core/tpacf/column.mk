core_sources += core/tpacf/tpacf.h core/tpacf/tpacf.c
core_tests += tests/core/tpacf
element_sources += elements/astrotpacf.c elements/astrotpacf.h
element_tests += tests/elements/astrotpacf
