# The OpenCL module: built where OpenCL's headers and loader are, loaded with GModule like the CUDA module.
if HAVE_OPENCL
openclmoduledir = $(moduledir)
openclmodule_LTLIBRARIES = opencl/astro-opencl.la
endif
opencl_astro_opencl_la_SOURCES = $(opencl_sources)
nodist_opencl_astro_opencl_la_SOURCES = $(opencl_texts)
opencl_astro_opencl_la_CFLAGS = $(AM_CFLAGS) $(OPENCL_CFLAGS) -DCL_TARGET_OPENCL_VERSION=120
opencl_astro_opencl_la_LIBADD = $(astro_libs) $(OPENCL_LIBS) $(GST_LIBS) $(GLIB_LIBS) -lm
opencl_astro_opencl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^astro_module$$' \
  -Wl,-rpath,'$$ORIGIN/..'

# The text of a program as C strings, one a line.
opencl_texts = $(opencl_programs:.cl=.cl.h)
SUFFIXES += .cl .cl.h
.cl.cl.h:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $< >$@.new && mv $@.new $@
$(opencl_astro_opencl_la_OBJECTS): $(opencl_texts)
CLEANFILES += $(opencl_texts)
