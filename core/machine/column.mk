# Machines for plans: measured, or described by a file.
core_sources += core/machine/machine.c core/machine/machine.h core/machine/measure.c core/machine/measure.h \
  core/machine/peaks.c core/machine/peaks.h core/machine/nvml.c core/machine/nvml.h
core_tests += tests/core/machine/machine tests/core/machine/nvml tests/core/machine/bench-record
# Stands for NVIDIA's library, also in tests of gst-astro; never installed.
check_LTLIBRARIES += tests/core/machine/fake-nvml.la
tests_core_machine_fake_nvml_la_SOURCES = tests/core/machine/fake-nvml.c
tests_core_machine_fake_nvml_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere

# The work that stages tell of, against references that count (core/backend/count.h).
core_tests += tests/core/machine/told-work
tests_core_machine_told_work_SOURCES = tests/core/machine/told-work.c core/add/reference.c core/beamform/reference.c core/channelizer/fir-c.c \
  core/convert/reference.c core/correlator/reference.c core/dedisperse/reference.c core/delay/reference.c core/fold/reference.c \
  core/phaseshift/reference.c core/power/reference.c
tests_core_machine_told_work_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_COUNTS_WORK
core_tests += tests/core/machine/told-images
tests_core_machine_told_images_SOURCES = tests/core/machine/told-images.c core/flag/reference.c core/gridder/direct.c \
  core/gridder/wstacking/reference.c core/image/reference.c core/primarybeam/reference.c core/terms/reference.c
tests_core_machine_told_images_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_COUNTS_WORK
tests_core_machine_told_images_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_machine_told_images_LDADD = $(LDADD) $(FFTW_LIBS)
core_tests += tests/core/machine/told-part
tests_core_machine_told_part_SOURCES = tests/core/machine/told-part.c core/clean/join.c core/clean/reference.c core/flag/reference.c \
  core/flag/reference-plane.c core/gridder/wprojection/reference.c core/search/reference.c core/search/series.c
tests_core_machine_told_part_CPPFLAGS = $(AM_CPPFLAGS) -DASTRO_COUNTS_WORK
tests_core_machine_told_part_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_machine_told_part_LDADD = $(LDADD) $(FFTW_LIBS)
