# Images of the sky from transformed grids.
core_sources += core/image/work.c core/image/image.h core/image/check.c core/image/check.h core/image/products.c \
  core/image/reference.c core/image/beam.c core/image/sidelobe.c core/image/cpu.c \
  core/image/kernels.h core/image/columns.c core/image/columns.h
core_level_sources += core/image/kernels-levels.c
element_sources += elements/astroimage.c elements/astroimage.h \
  elements/astroimage-caps.c elements/astroimage-caps.h \
  elements/astroimage-beam.c elements/astroimage-beam.h
core_tests += tests/core/image/image tests/core/image/image-backends tests/core/image/image-beam
dist_files += tests/core/image/image.h
element_tests += tests/elements/astroimage tests/elements/imaging-device tests/elements/touched
bench_programs += tests/bench/image
gpu_sources += gpu/image/image.cu gpu/image/columns.cu gpu/image/columns-single.cu gpu/image/columns-double.cu
gpu_headers += gpu/image/columns.h
opencl_sources += opencl/image/image.c
opencl_programs += opencl/image/image.cl
