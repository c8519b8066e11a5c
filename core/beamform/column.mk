# Spectra of stations to spectra of beams.
core_sources += core/beamform/work.c core/beamform/beamform.h core/beamform/check.c core/beamform/check.h core/beamform/losses.c \
  core/beamform/losses.h core/beamform/reference.c core/beamform/cpu.c core/beamform/kernels.h core/beamform/task.c \
  core/beamform/task.h \
  core/beamform/beams.c core/beamform/beams.h core/beamform/weights.c core/beamform/weights.h \
  core/beamform/steer.c core/beamform/steer.h
core_level_sources += core/beamform/kernels-levels.c
core_tests += tests/core/beamform/beamform tests/core/beamform/steering
dist_files += tests/core/beamform/beamform.h
bench_programs += tests/bench/beamform
gpu_bench_programs += tests/bench/beamform-gpu
tests_bench_beamform_gpu_LDADD = $(LDADD) -ldl
element_sources += elements/astrobeamform.c elements/astrobeamform.h elements/astrobeamform-plan.c \
  elements/astrobeamform-plan.h
element_tests += tests/elements/astrobeamform tests/elements/astrobeamform-devices
example_files += examples/beams.sh
gpu_sources += gpu/beamform/beamform.cu gpu/beamform/weigh.cu gpu/beamform/multiply.cu
gpu_headers += gpu/beamform/beamform.h
opencl_sources += opencl/beamform/beamform.c
opencl_programs += opencl/beamform/form.cl opencl/beamform/weigh.cl
