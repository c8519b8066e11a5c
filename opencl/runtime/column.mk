# The OpenCL module's table, its devices, and tools that several stages share.
opencl_sources += opencl/runtime/module.c opencl/runtime/platforms.c opencl/runtime/device.c opencl/runtime/memory.c opencl/runtime/queues.c \
  opencl/runtime/addresses.c opencl/runtime/program.c opencl/runtime/cache.c opencl/runtime/launch.c \
  opencl/runtime/status.c opencl/runtime/clipped.c opencl/runtime/room.c opencl/runtime/host.c opencl/runtime/samples.c \
  opencl/runtime/sum.c
opencl_headers += opencl/runtime/opencl.h opencl/runtime/device.h opencl/runtime/addresses.h opencl/runtime/cache.h opencl/runtime/clipped.h \
  opencl/runtime/platforms.h opencl/runtime/host.h opencl/runtime/samples.h opencl/runtime/sum.h
opencl_programs += opencl/runtime/common.cl opencl/runtime/samples.cl opencl/runtime/clipped.cl opencl/runtime/sum.cl
gpu_bench_programs += tests/bench/opencl-gpu
core_tests += tests/core/backend/opencl
element_tests += tests/elements/opencl tests/elements/opencl-waits
dist_files += tests/elements/chains.h
