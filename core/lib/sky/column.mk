# A simulated array under a simulated sky.
core_sources += core/lib/sky/array.c core/lib/sky/array.h core/lib/sky/sky.c core/lib/sky/horizon.c \
  core/lib/sky/sky.h core/lib/sky/setup.c core/lib/sky/setup.h core/lib/sky/scene.c core/lib/sky/scene.h \
  core/lib/sky/voltages.c core/lib/sky/voltages.h core/lib/sky/streams.c core/lib/sky/streams.h core/lib/sky/store.c \
  core/lib/sky/store.h core/lib/sky/kernels.c core/lib/sky/kernels.h
# The emission of sources: Stokes parameters and lines, and filters that make such signals out of noise.
core_sources += core/lib/sky/source.c core/lib/sky/source.h core/lib/sky/source-filter.c core/lib/sky/source-filter.h \
  core/lib/sky/filter.c core/lib/sky/filter.h core/lib/sky/fourier.c core/lib/sky/fourier.h core/lib/sky/moving.c \
  core/lib/sky/pulse.c core/lib/sky/pulse.h core/lib/sky/dispersion.c core/lib/sky/dispersion.h \
  core/lib/sky/moving.h
# Interference.
core_sources += core/lib/sky/interference.c core/lib/sky/interference.h core/lib/sky/emitters.c \
  core/lib/sky/emitters.h
core_tests += tests/core/lib/sky/interference
core_level_sources += core/lib/sky/kernels-levels.c
element_sources += elements/astroskysrc.c elements/astroskysrc.h elements/astroobserve.c elements/astroobserve.h \
  elements/astroobserve-bytes.c elements/astroobserve-bytes.h
core_tests += tests/core/lib/sky/sky tests/core/lib/sky/voltages tests/core/lib/sky/voltages-samples \
  tests/core/lib/sky/polarised tests/core/lib/sky/pulses
dist_files += tests/core/lib/sky/voltages.h tests/core/lib/sky/spectra.h tests/core/lib/sky/coherency.h
element_tests += tests/elements/astroskysrc tests/elements/astroobserve tests/elements/polarised
bench_programs += tests/bench/sky
fuzz_programs += tests/fuzz/sky
example_files += examples/voltages.sh examples/polarised.sh

# Earth orientation: the days that an observation carries, the IERS's files, what elements do with them.
core_sources += core/lib/sky/earth-file.c core/lib/sky/earth-file.h core/lib/sky/earth-error.c \
  core/lib/sky/earth-error.h
core_tests += tests/core/lib/sky/earth
element_tests += tests/elements/earth
fuzz_programs += tests/fuzz/earth
dist_files += tests/earth-orientation.h
