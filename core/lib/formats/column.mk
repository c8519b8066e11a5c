# Samples from one format to another.
core_sources += core/lib/formats/half.h core/lib/formats/kernels.h core/lib/formats/shared.c \
  core/lib/formats/rounding.h core/lib/formats/one.h core/lib/formats/many.h core/lib/formats/bytes.h \
  core/lib/formats/samples.c core/lib/formats/samples.h \
  core/lib/formats/arithmetic.c core/lib/formats/arithmetic.h
core_level_sources += core/lib/formats/kernels-levels.c
opencl_sources += opencl/lib/formats/any.c opencl/lib/formats/gather.c
opencl_headers += opencl/lib/formats/any.h opencl/lib/formats/gather.h
opencl_programs += opencl/lib/formats/any.cl opencl/lib/formats/gather.cl
