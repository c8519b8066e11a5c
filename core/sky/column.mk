# A simulated array under a simulated sky.
core_sources += core/sky/lines.c core/sky/lines.h core/sky/array.c core/sky/array.h \
  core/sky/sky.c core/sky/horizon.c core/sky/sky.h core/sky/angle.c core/sky/angle.h core/sky/setup.c core/sky/setup.h core/sky/scene.c core/sky/scene.h core/sky/voltages.c core/sky/voltages.h \
  core/sky/streams.c core/sky/streams.h core/sky/store.c core/sky/store.h \
  core/sky/kernels.c core/sky/kernels.h core/sky/kernels-body.h core/sky/kernels-c.c
core_avx2_sources += core/sky/kernels-avx2.c
core_avx512_sources += core/sky/kernels-avx512.c
element_sources += elements/astroskysrc.c elements/astroskysrc.h elements/astroscene.c elements/astroscene.h \
  elements/astrosimulator.c elements/astrosimulator.h elements/astroliveclock.c elements/astroliveclock.h elements/astroobserve.c elements/astroobserve.h \
  elements/astrobytes.c elements/astrobytes.h
core_tests += tests/core/sky tests/core/voltages tests/core/voltages-samples
dist_files += tests/core/voltages.h
element_tests += tests/elements/astroskysrc tests/elements/astroobserve
bench_programs += tests/bench/sky
fuzz_programs += tests/fuzz/sky
example_files += examples/voltages.sh

# Earth orientation: the days that an observation carries, the IERS's files, what elements do with them.
core_sources += core/stream/earth.c core/stream/earth.h core/sky/earth-file.c core/sky/earth-file.h \
  core/sky/earth-error.c core/sky/earth-error.h
element_sources += elements/astroearth.c elements/astroearth.h
core_tests += tests/core/earth
element_tests += tests/elements/earth
fuzz_programs += tests/fuzz/earth
dist_files += tests/earth-orientation.h
