# The science of all stages: a convenience library, of which the plugin, gst-astro, the CUDA module and the tests each take
# what they call, so that nothing of it is exported. What has to be there once in a process (types, devices, memory) is
# in libgstastro-1.0 (core/api/column.mk). Variants for instruction sets have flags of their own.
if X86_KERNELS
core_kernels = core/libastro-avx2.la core/libastro-avx512.la core/libastro-vnni.la core/libastro-amx.la \
  core/libastro-exact-avx2.la core/libastro-exact-avx512.la
endif
noinst_LTLIBRARIES = core/libastro-core.la $(core_kernels)

# Where things are installed, in a header of its own: a build that is configured again for another prefix
# compiles anew what reads it, and nothing else.
BUILT_SOURCES = core/paths.h
CLEANFILES += core/paths.h
core/paths.h: Makefile
	@$(MKDIR_P) core
	@{ echo '#define ASTRO_PREFIX "$(prefix)"'; echo '#define ASTRO_LIBDIR "$(libdir)"'; \
	   echo '#define ASTRO_PLUGINDIR "$(plugindir)"'; echo '#define ASTRO_MODULEDIR "$(moduledir)"'; \
	   echo '#define ASTRO_GRAPHDIR "$(graphdir)"'; echo '#define ASTRO_BINDIR "$(bindir)"'; \
	   echo '#define ASTRO_MANDIR "$(mandir)"'; echo '#define ASTRO_COMPLETIONDIR "$(completiondir)"'; } >$@.new
	@cmp -s $@.new $@ && rm -f $@.new || mv $@.new $@

library_sources += core/backend/device.c core/backend/device.h core/backend/handles.h core/memory/faces.c core/memory/reaper.c \
  core/memory/faces.h core/memory/memory.c core/memory/buffer.c core/memory/box.c core/memory/box.h core/memory/memory.h core/memory/pool.c \
  core/memory/pool.h core/backend/backend.c core/backend/backend.h core/backend/instance.c \
  core/backend/instance.h core/backend/result.h core/backend/cpu.c core/backend/cpu.h \
  core/backend/device-list.c core/backend/device-list.h core/backend/locked.c core/backend/locked.h \
  core/backend/module.c core/backend/node.c core/backend/node.h core/backend/work.c core/backend/work.h core/backend/module.h core/backend/once.c core/backend/once.h core/backend/relocate.c core/backend/scratch.c core/backend/scratch.h core/backend/budget.c core/backend/budget.h core/backend/threads.c \
  core/backend/threads.h
core_sources += core/backend/level.h core/backend/count.h core/backend/plant.h

fuzz_programs += tests/fuzz/caps
core_tests += tests/core/hardened tests/core/stream/stream tests/core/stream/observation tests/core/stream/beams tests/core/stream/validity \
  tests/core/memory/memory tests/core/memory/memory-threads tests/core/memory/memory-failures tests/core/memory/memory-devices tests/core/memory/memory-buffers tests/core/memory/box \
  tests/core/memory/pool tests/core/backend/cpu tests/core/backend/threads tests/core/backend/node tests/core/backend/backend
dist_files += tests/core/memory/memory.h tests/core/box.h

core_libastro_core_la_SOURCES = $(core_sources) $(core_level_sources) $(core_exact_level_sources)
core_libastro_core_la_CFLAGS = $(AM_CFLAGS) $(core_cflags)
core_libastro_core_la_LIBADD = $(core_kernels) core/api/libgstastro-1.0.la $(core_libs) $(GST_LIBS) $(GLIB_LIBS) -lm

core_libastro_avx2_la_SOURCES = $(core_avx2_sources) $(core_level_sources)
core_libastro_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_LEVEL_AVX2
core_libastro_avx2_la_CFLAGS = $(AM_CFLAGS) $(AVX2_CFLAGS)
core_libastro_avx512_la_SOURCES = $(core_avx512_sources) $(core_level_sources)
core_libastro_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_LEVEL_AVX512
core_libastro_avx512_la_CFLAGS = $(AM_CFLAGS) $(AVX512_CFLAGS)
# Where a product is rounded before it is added to, as it is without these instruction sets.
core_libastro_exact_avx2_la_SOURCES = $(core_exact_level_sources)
core_libastro_exact_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_LEVEL_AVX2
core_libastro_exact_avx2_la_CFLAGS = $(AM_CFLAGS) $(AVX2_CFLAGS) -ffp-contract=off
core_libastro_exact_avx512_la_SOURCES = $(core_exact_level_sources)
core_libastro_exact_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_LEVEL_AVX512
core_libastro_exact_avx512_la_CFLAGS = $(AM_CFLAGS) $(AVX512_CFLAGS) -ffp-contract=off
core_libastro_vnni_la_SOURCES = $(core_vnni_sources)
core_libastro_vnni_la_CFLAGS = $(AM_CFLAGS) $(VNNI_CFLAGS)
core_libastro_amx_la_SOURCES = $(core_amx_sources)
core_libastro_amx_la_CFLAGS = $(AM_CFLAGS) $(AMX_CFLAGS)
