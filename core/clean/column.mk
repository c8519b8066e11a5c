# Deconvolution of images.
core_sources += core/clean/clean.h core/clean/check.c core/clean/check.h core/clean/stop.c core/clean/stop.h core/clean/work.c \
  core/clean/reference.c core/clean/cpu.c \
  core/clean/method.h core/clean/phases.c core/clean/join.c core/clean/join.h core/clean/multiscale.c \
  core/clean/even-noise.c core/clean/components.c core/clean/components.h core/clean/hogbom-body.h core/clean/hogbom-single.c core/clean/hogbom-double.c \
  core/clean/kernels.h core/clean/memory.c core/clean/memory.h \
  core/clean/threshold.c core/clean/threshold.h
core_level_sources += core/clean/kernels-levels.c
element_sources += elements/astroclean.c elements/astroclean.h elements/astroclean-caps.c elements/astroclean-caps.h \
  elements/astroclean-files.c elements/astroclean-files.h elements/astroclean-told.c elements/astroclean-told.h
core_tests += tests/core/clean/clean tests/core/clean/scales tests/core/clean/masks tests/core/clean/joined tests/core/clean/threshold \
  tests/core/kit/polynomial
dist_files += tests/core/clean/cleaned.h tests/interop/deep.py
element_tests += tests/elements/astroclean tests/elements/clean-files tests/elements/wide-psf
example_files += examples/clean.sh
graph_files += graphs/selfcal.graph
graph_tests += tests/graphs/cycles
