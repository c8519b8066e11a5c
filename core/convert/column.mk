core_sources += core/convert/work.c core/convert/cpu.c core/convert/convert.h core/convert/check.c core/convert/check.h \
  core/convert/reference.c core/convert/scale.c core/convert/counted.c
element_sources += elements/astroconvert.c elements/astroconvert.h
gpu_sources += gpu/convert/convert.cu gpu/convert/bytes.cu
gpu_headers += gpu/convert/convert.h
opencl_sources += opencl/convert/convert.c
opencl_programs += opencl/convert/convert.cl
core_tests += tests/core/convert/convert tests/core/convert/convert-variants
dist_files += tests/core/convert/convert.h
element_tests += tests/elements/astroconvert
bench_programs += tests/bench/convert
