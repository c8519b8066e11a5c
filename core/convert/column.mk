core_sources += core/convert/convert.c core/convert/convert.h core/convert/check.c core/convert/check.h \
  core/convert/reference.c core/convert/half.h core/convert/scale.c core/convert/counted.c core/convert/kernels.h \
  core/convert/kernels-vector.h core/convert/kernels-c.c
core_avx2_sources += core/convert/kernels-avx2.c
core_avx512_sources += core/convert/kernels-avx512.c
element_sources += elements/astroconvert.c elements/astroconvert.h
gpu_sources += gpu/convert.cu gpu/convert-bytes.cu
gpu_headers += gpu/convert.h
core_tests += tests/core/convert tests/core/convert-variants
dist_files += tests/core/convert.h
element_tests += tests/elements/astroconvert
bench_programs += tests/bench/convert
