# The CUDA module: built where nvcc is, linked to CUDA's static runtime, loaded with GModule.
gpu_sources += gpu/module.cu gpu/device.cu
gpu_headers += gpu/cuda.h
gpu_objects = $(gpu_sources:.cu=.o)

SUFFIXES = .cu
NVCCFLAGS = -O3 -std=c++17 $(NVCC_ARCH) -Xcompiler -fPIC,-fvisibility=hidden -Wno-deprecated-gpu-targets

.cu.o:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(NVCC) $(NVCCFLAGS) $(AM_CPPFLAGS) $(GST_CFLAGS_NVCC) -MD -MF $(@:.o=.d) -c $< -o $@

if HAVE_CUDA
gpumoduledir = $(moduledir)
gpumodule_DATA = gpu/astro-cuda.so
endif
gpu/astro-cuda.so: $(gpu_objects)
	$(AM_V_GEN)$(NVCC) $(NVCC_ARCH) -shared -cudart static -o $@ $(gpu_objects) $(GLIB_LIBS)

CLEANFILES = $(gpu_objects) $(gpu_objects:.o=.d) gpu/astro-cuda.so
-include $(gpu_objects:.o=.d)
