core_sources += core/catalogue/catalogue.h core/catalogue/random.c core/catalogue/mock.c \
  core/catalogue/mask.h core/catalogue/mask.c core/catalogue/regions.c core/catalogue/text.c \
  core/catalogue/last-line.h core/catalogue/last-line.c \
  core/catalogue/values.h core/catalogue/values.c \
  core/catalogue/units.h core/catalogue/units.c core/catalogue/ecsv.c \
  core/catalogue/columns.h core/catalogue/columns.c
core_tests += tests/core/catalogue tests/core/catalogue-text
fuzz_programs += tests/fuzz/catalogue
element_sources += elements/astrocatsrc.c elements/astrocatsrc.h
element_tests += tests/elements/astrocatsrc
dist_files += tests/elements/catalogues.h
