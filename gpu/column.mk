# The CUDA module: built where nvcc is, linked to CUDA's static runtime, loaded with GModule.
core_tests += tests/core/backend/cuda
gpu_bench_programs += tests/bench/seam tests/bench/stream-gpu tests/bench/camera-gpu

gpu_objects = $(gpu_sources:.cu=.o)

SUFFIXES = .cu
NVCCFLAGS = $(NVCC_OPTIMIZE) -std=c++20 $(NVCC_ARCH) -Xcompiler -fPIC,-fvisibility=hidden -Wno-deprecated-gpu-targets \
  --expt-relaxed-constexpr -diag-suppress 1217 -DPACKAGE_VERSION=\"$(PACKAGE_VERSION)\" -DCUDA_TOOLKIT=\"$(CUDA_TOOLKIT)\"

.cu.o:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(NVCC) $(NVCCFLAGS) $(AM_CPPFLAGS) $(NVCC_GST_CFLAGS) -MD -MF $(@:.o=.d) -c $< -o $@

if HAVE_CUDA
gpumoduledir = $(moduledir)
gpumodule_DATA = gpu/astro-cuda.so
endif
gpu/astro-cuda.so: $(gpu_objects) $(astro_libs)
	$(AM_V_GEN)$(NVCC) $(NVCC_ARCH) -Wno-deprecated-gpu-targets -shared -cudart static -o $@ $(gpu_objects) \
	  core/.libs/libastro-core.a -Xlinker --exclude-libs,ALL,--as-needed -Lcore/api/.libs -lgstastro-1.0 \
	  $(filter -l% -L%,$(core_libs)) $(NVCC_GLIB_LIBS) $(HARDENING_NVCC_LDFLAGS) -Xlinker -rpath,'$$ORIGIN/..'

CLEANFILES += $(gpu_objects) $(gpu_objects:.o=.d) gpu/astro-cuda.so
-include $(gpu_objects:.o=.d)
