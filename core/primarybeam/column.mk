# Division of images by the primary beam.
core_sources += core/primarybeam/work.c core/primarybeam/primarybeam.h core/primarybeam/check.c core/primarybeam/check.h core/primarybeam/beam.c \
  core/primarybeam/reference.c core/primarybeam/cpu.c
element_sources += elements/astroprimarybeam.c elements/astroprimarybeam.h
core_tests += tests/core/primarybeam/primarybeam
element_tests += tests/elements/astroprimarybeam
