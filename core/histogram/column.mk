core_sources += core/histogram/regions.h core/histogram/regions.c core/histogram/halve.h core/histogram/halve.c core/histogram/halve-large.c \
  core/histogram/layout.h core/histogram/tree.h core/histogram/tree.c \
  core/histogram/histogram.h core/histogram/vector.h core/histogram/bins.c core/histogram/points.h core/histogram/points.c \
  core/histogram/check.h core/histogram/check.c core/histogram/count.h core/histogram/count.c core/histogram/reference.c core/histogram/cpu.c \
  core/histogram/from-catalogues.h core/histogram/from-catalogues.c core/histogram/bounds.h core/histogram/cell-rule.h core/histogram/kernels.h \
  core/histogram/deal.h core/histogram/deal.c core/histogram/shares.h core/histogram/shares.c \
  core/histogram/budget.h core/histogram/budget.c core/histogram/slices.h core/histogram/slices.c \
  core/histogram/side.h core/histogram/side.c core/histogram/side-parts.h core/histogram/side-regions.c \
  core/histogram/side-weigh.c core/histogram/side-points.c core/histogram/collector.h core/histogram/collector.c core/histogram/collected.c \
  core/histogram/count-slices.h core/histogram/count-slices.c \
  core/histogram/space.h core/histogram/space.c core/histogram/space-bounds.h core/histogram/space-cpu.h core/histogram/space-cpu.c \
  core/histogram/walk.h core/histogram/walk.c core/histogram/fields.h core/histogram/fields.c \
  core/histogram/fields-cpu.c core/histogram/fields-reference.c core/histogram/vector-sums.h \
  core/histogram/pair-weights.h core/histogram/pair-weights.c core/histogram/pair-table.c \
  core/histogram/totals.h core/histogram/totals.c
# The bin rule rounds every operation by itself.
core_exact_level_sources += core/histogram/kernels-levels.c core/histogram/space-levels.c core/histogram/fields-levels.c
core_tests += tests/core/histogram/histogram tests/core/histogram/histogram-large tests/core/histogram/histogram-calls \
  tests/core/histogram/histogram-refused tests/core/histogram/histogram-space tests/core/histogram/histogram-shares \
  tests/core/histogram/histogram-slices tests/core/histogram/histogram-fields tests/core/histogram/histogram-pairs tests/core/histogram/halve
fuzz_programs += tests/fuzz/events
bench_programs += tests/bench/histogram tests/bench/histogram-space
dist_files += tests/core/histogram/histogram.h tests/core/histogram/space.h tests/elements/astrohistogram.h tests/elements/fake-devices.h tests/bench/peers-tpacf tests/bench/peers-space tests/bench/peers-shear
element_sources += elements/astrohistogram.c elements/astrohistogram.h elements/astrohistogram-pad.c \
  elements/astrohistogram-pad.h elements/astrohistogram-settings.c elements/astrohistogram-settings.h \
  elements/astrohistogram-progress.c elements/astrohistogram-progress.h \
  elements/astrohistogram-devices.c elements/astrohistogram-devices.h elements/astrohistogram-parts.h \
  elements/astrohistogram-collector.c elements/astrohistogram-counts.c elements/astrohistogram-out.c
element_tests += tests/elements/astrohistogram tests/elements/astrohistogram-refused \
  tests/elements/astrohistogram-time tests/elements/astrohistogram-pairs tests/elements/astrohistogram-space \
  tests/elements/astrohistogram-devices
gpu_sources += gpu/histogram/histogram.cu gpu/histogram/copies.cu gpu/histogram/order.cu gpu/histogram/tree.cu gpu/histogram/leaves.cu \
  gpu/histogram/near.cu
# The bin rule, as above.
gpu/histogram/near.o: NVCCFLAGS += -fmad=false
gpu_headers += gpu/histogram/curve.h gpu/histogram/order.h gpu/histogram/histogram.h gpu/histogram/copies.h gpu/histogram/near.h \
  gpu/histogram/fields.h
gpu_bench_programs += tests/bench/histogram-gpu tests/bench/histogram-near-gpu tests/bench/histogram-size-gpu
opencl_sources += opencl/histogram/histogram.c opencl/histogram/counter.h opencl/histogram/walk.c opencl/histogram/whole.c \
  opencl/histogram/near.c
opencl_programs += core/histogram/carried.cl opencl/histogram/seeds.cl opencl/histogram/histogram.cl opencl/histogram/values.cl opencl/histogram/near.cl
