# Samples from one format to another.
core_sources += core/lib/formats/half.h core/lib/formats/kernels.h core/lib/formats/kernels-vector.h \
  core/lib/formats/kernels-c.c
core_avx2_sources += core/lib/formats/kernels-avx2.c
core_avx512_sources += core/lib/formats/kernels-avx512.c
