# Deconvolution of images.
core_sources += core/clean/clean.h core/clean/check.c core/clean/check.h core/clean/stop.c core/clean/stop.h \
  core/clean/reference.c core/clean/cpu.c \
  core/clean/hogbom.h core/clean/hogbom-body.h core/clean/hogbom-single.c core/clean/hogbom-double.c \
  core/clean/kernels.h core/clean/kernels-body.h core/clean/kernels-c.c
core_avx2_sources += core/clean/kernels-avx2.c
core_avx512_sources += core/clean/kernels-avx512.c
element_sources += elements/astroclean.c elements/astroclean.h
core_tests += tests/core/clean
element_tests += tests/elements/astroclean tests/elements/wide-psf
example_files += examples/clean.sh
