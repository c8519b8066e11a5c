# Delays in time and in phase.
core_sources += core/delay/work.c core/delay/check.c core/delay/calibration.c core/delay/calibration.h \
  core/delay/calibration-table.c core/delay/calibration-table.h core/delay/due.c core/delay/due.h \
  core/delay/model.c core/delay/model.h core/delay/delay.h core/delay/instance.c core/delay/instance.h \
  core/delay/window.c core/delay/rows.c core/delay/stretches.c core/delay/reference.c core/delay/cpu.c core/delay/losses.c \
  core/delay/losses.h
element_sources += elements/astrodelay.c elements/astrodelay.h
core_tests += tests/core/delay/delay tests/core/delay/interpolate tests/core/delay/delay-reference tests/core/delay/delay-calls \
  tests/core/delay/delay-due
dist_files += tests/core/delay/delay.h
element_tests += tests/elements/astrodelay
bench_programs += tests/bench/delay
fuzz_programs += tests/fuzz/calibration
gpu_sources += gpu/delay/delay.cu gpu/delay/spectra.cu gpu/delay/voltages.cu
gpu_headers += gpu/delay/delay.h
opencl_sources += opencl/delay/delay.c opencl/delay/spectra.c opencl/delay/voltages.c
opencl_headers += opencl/delay/instance.h
opencl_programs += opencl/delay/delay.cl
