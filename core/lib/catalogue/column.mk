core_sources += core/lib/catalogue/catalogue.h core/lib/catalogue/random.c core/lib/catalogue/mock.c \
  core/lib/catalogue/random-jump.h core/lib/catalogue/random-step.h core/lib/catalogue/placing.h core/lib/catalogue/random-jump.c core/lib/catalogue/uniform.h core/lib/catalogue/uniform.c \
  core/lib/catalogue/mask.h core/lib/catalogue/mask.c core/lib/catalogue/text.c \
  core/lib/catalogue/units.h core/lib/catalogue/units.c core/lib/catalogue/ecsv.c core/lib/catalogue/columns.h \
  core/lib/catalogue/columns.c core/lib/catalogue/distance.h core/lib/catalogue/distance.c \
  core/lib/catalogue/split.h core/lib/catalogue/split.c core/lib/catalogue/spill.h core/lib/catalogue/spill.c \
  core/lib/catalogue/held.h core/lib/catalogue/held.c
core_tests += tests/core/lib/catalogue/catalogue tests/core/lib/catalogue/catalogue-text tests/core/lib/catalogue/distance tests/core/lib/catalogue/split tests/core/lib/catalogue/uniform \
  tests/core/lib/catalogue/held
fuzz_programs += tests/fuzz/catalogue
gpu_sources += gpu/lib/catalogue/uniform.cu
element_sources += elements/astrocatsrc.c elements/astrocatsrc.h elements/astrocatsrc-points.c elements/astrocatsrc-points.h \
  elements/astrocatsrc-parts.h elements/astrocatsrc-mock.c elements/astrocatsrc-read.c
element_tests += tests/elements/astrocatsrc
dist_files += tests/elements/catalogues.h
