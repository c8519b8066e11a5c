# The CUDA module's table, its device, and tools that several stages share.
gpu_sources += gpu/runtime/module.cu gpu/runtime/device.cu gpu/runtime/clipped.cu gpu/runtime/gather.cu \
  gpu/runtime/upload.cu gpu/runtime/sum.cu gpu/runtime/rows.cu
gpu_headers += gpu/runtime/barrier.h gpu/runtime/clipped.h gpu/runtime/cuda.h gpu/runtime/gather.h \
  gpu/runtime/phasor.h gpu/runtime/rows.h gpu/runtime/samples.h gpu/runtime/sum.h gpu/runtime/upload.h
