# A simulated array under a simulated sky.
core_sources += core/lib/sky/array.c core/lib/sky/array.h core/lib/sky/sky.c core/lib/sky/horizon.c \
  core/lib/sky/sky.h core/lib/sky/setup.c core/lib/sky/setup.h core/lib/sky/scene.c core/lib/sky/scene.h \
  core/lib/sky/voltages.c core/lib/sky/voltages.h core/lib/sky/streams.c core/lib/sky/streams.h core/lib/sky/store.c \
  core/lib/sky/store.h core/lib/sky/kernels.c core/lib/sky/kernels.h
core_level_sources += core/lib/sky/kernels-levels.c
element_sources += elements/astroskysrc.c elements/astroskysrc.h elements/astroobserve.c elements/astroobserve.h \
  elements/astroobserve-bytes.c elements/astroobserve-bytes.h
core_tests += tests/core/lib/sky/sky tests/core/lib/sky/voltages tests/core/lib/sky/voltages-samples
dist_files += tests/core/lib/sky/voltages.h
element_tests += tests/elements/astroskysrc tests/elements/astroobserve
bench_programs += tests/bench/sky
fuzz_programs += tests/fuzz/sky
example_files += examples/voltages.sh

# Earth orientation: the days that an observation carries, the IERS's files, what elements do with them.
core_sources += core/lib/sky/earth-file.c core/lib/sky/earth-file.h core/lib/sky/earth-error.c \
  core/lib/sky/earth-error.h
core_tests += tests/core/lib/sky/earth
element_tests += tests/elements/earth
fuzz_programs += tests/fuzz/earth
dist_files += tests/earth-orientation.h
