# Sources in images.
core_sources += core/measure/peaks.c core/measure/measure.h
element_sources += elements/astromeasure.c elements/astromeasure.h
core_tests += tests/core/measure/measure
element_tests += tests/elements/astromeasure
