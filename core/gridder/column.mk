core_sources += core/gridder/work.c core/gridder/work.h core/gridder/gridder.h core/gridder/geometry.c core/gridder/extent.c \
  core/gridder/extent.h core/gridder/direct.c \
  core/gridder/direct.h core/gridder/sorted.c core/gridder/sorted.h core/gridder/buckets.c core/gridder/buckets.h \
  core/gridder/store.c core/gridder/store.h core/gridder/passes.c core/gridder/passes.h core/gridder/memory.c core/gridder/memory.h \
  core/gridder/planes.c core/gridder/rows.h core/gridder/wstacking/wstacking.c core/gridder/wstacking/kernels.h \
  core/gridder/wstacking/body.h core/gridder/wstacking/collect-body.h core/gridder/wstacking/taps.c core/gridder/wstacking/reference.c core/gridder/products.c \
  core/gridder/products.h core/gridder/prepare.c core/gridder/prepare.h core/gridder/weighting.c \
  core/gridder/weighting.h core/gridder/backend.c core/gridder/backend.h core/gridder/cpu.c \
  core/gridder/dumps.c core/gridder/dumps.h core/gridder/per-product.c core/gridder/per-product.h
element_sources += elements/astrogridder.c elements/astrogridder.h \
  elements/astrogridder-settings.c elements/astrogridder-settings.h \
  elements/astrogridder-lanes.c elements/astrogridder-lanes.h \
  elements/astrogridder-collector.c elements/astrogridder-collector.h elements/astrogridder-auto.c elements/astrogridder-auto.h \
  elements/astrogridder-reports.c elements/astrogridder-reports.h
core_sources += core/gridder/degrid/degrid.h core/gridder/degrid/degrid.c core/gridder/degrid/direct.c core/gridder/degrid/model.c \
  core/gridder/degrid/degridder.c core/gridder/degrid/degridder.h core/gridder/degrid/dumped.c core/gridder/degrid/dumped.h \
  core/gridder/degrid/images.c core/gridder/degrid/images.h core/gridder/degrid/correlations.c core/gridder/degrid/correlations.h core/gridder/degrid/planes.c core/gridder/degrid/planes.h core/gridder/degrid/kernels.h
core_level_sources += core/gridder/wstacking/kernels-levels.c core/gridder/degrid/kernels-levels.c
core_tests += tests/core/gridder/gridder tests/core/gridder/degrid tests/core/gridder/degrid-cuda tests/core/gridder/gridder-extent tests/core/gridder/gridder-cuda tests/core/gridder/gridder-prepare tests/core/gridder/gridder-sorted tests/core/gridder/gridder-calls
tests_core_gridder_gridder_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_gridder_gridder_LDADD = $(LDADD) $(FFTW_LIBS)
tests_core_gridder_degrid_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_gridder_degrid_LDADD = $(LDADD) $(FFTW_LIBS)
tests_core_gridder_degrid_cuda_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_gridder_degrid_cuda_LDADD = $(LDADD) $(FFTW_LIBS)
tests_core_gridder_gridder_cuda_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_core_gridder_gridder_cuda_LDADD = $(LDADD) $(FFTW_LIBS)
dist_files += tests/core/gridder/gridder.h tests/core/gridder/degridding.h tests/core/gridder/images.h tests/core/gridder/gridding-on-device.h tests/core/gridder/gridding-stage.h tests/core/gridder/touched.h \
  tests/bench/peers-gridder tests/bench/drift.h
graph_tests += tests/graphs/image-memory
element_tests += tests/elements/astrogridder tests/elements/astrogridder-memory tests/elements/astrogridder-auto tests/elements/astrogridder-time tests/elements/astrogridder-refused \
  tests/elements/astrogridder-devices \
  tests/elements/synthesis-device
dist_files += tests/elements/astrogridder.h tests/elements/model-file.h
tests_elements_astrogridder_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_elements_astrogridder_LDADD = $(LDADD) $(FFTW_LIBS)
tests_elements_astrogridder_auto_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_elements_astrogridder_auto_LDADD = $(LDADD) $(FFTW_LIBS)
tests_elements_astrogridder_time_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_elements_astrogridder_time_LDADD = $(LDADD) $(FFTW_LIBS)
tests_elements_astrogridder_devices_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_elements_astrogridder_devices_LDADD = $(LDADD) $(FFTW_LIBS)
tests_elements_astrogridder_refused_CFLAGS = $(AM_CFLAGS) $(FFTW_CFLAGS)
tests_elements_astrogridder_refused_LDADD = $(LDADD) $(FFTW_LIBS)
element_sources += elements/astrodegridder.c elements/astrodegridder.h elements/astrodegridder-model.c elements/astrodegridder-model.h
element_tests += tests/elements/astrodegridder
example_files += examples/grid.sh examples/residual.sh
bench_programs += tests/bench/gridder
gpu_sources += gpu/gridder/direct.cu gpu/gridder/gridder.cu gpu/gridder/prepare.cu gpu/gridder/prepare-tiles.cu gpu/gridder/prepare-sums.cu \
  gpu/gridder/weighting.cu gpu/gridder/per-product.cu
gpu_headers += gpu/gridder/room.h gpu/gridder/gridder.h gpu/gridder/prepare.h gpu/gridder/prepare-tiles.h gpu/gridder/per-product.h gpu/gridder/fixed-point.h
gpu_bench_programs += tests/bench/prepare-gpu
gpu_sources += gpu/gridder/wstacking/wstacking.cu gpu/gridder/wstacking/sort.cu gpu/gridder/wstacking/plan.cu \
  gpu/gridder/wstacking/rows.cu gpu/gridder/wstacking/single.cu gpu/gridder/wstacking/double.cu
gpu_headers += gpu/gridder/wstacking/wstacking.h gpu/gridder/wstacking/tile.h gpu/gridder/wstacking/taps.h
gpu_sources += gpu/gridder/degrid/degridder.cu gpu/gridder/degrid/predict.cu gpu/gridder/degrid/planes.cu \
  gpu/gridder/degrid/transform.cu gpu/gridder/degrid/columns-single.cu gpu/gridder/degrid/columns-double.cu \
  gpu/gridder/degrid/reach.cu gpu/gridder/degrid/single.cu gpu/gridder/degrid/double.cu gpu/gridder/degrid/values.cu
gpu_headers += gpu/gridder/degrid/degrid.h gpu/gridder/degrid/collect.h gpu/gridder/degrid/columns.h
gpu_bench_programs += tests/bench/gridder-gpu
tests_bench_gridder_gpu_LDADD = $(LDADD) -ldl
opencl_sources += opencl/gridder/gridder.c opencl/gridder/prepare.c opencl/gridder/prepare-dumps.c opencl/gridder/weighting.c opencl/gridder/sort.c opencl/gridder/per-product.c opencl/gridder/work.c \
  opencl/gridder/direct.c opencl/gridder/wstacking/wstacking.c opencl/gridder/wprojection/wprojection.c
opencl_headers += opencl/gridder/gridder.h opencl/gridder/per-product.h opencl/gridder/work.h opencl/gridder/prepare.h opencl/gridder/prepare-instance.h opencl/gridder/sort.h
opencl_programs += opencl/gridder/per-product.cl opencl/gridder/totals.cl opencl/gridder/prepare.cl opencl/gridder/weighting.cl opencl/gridder/sort.cl \
  opencl/gridder/direct.cl opencl/gridder/wstacking/wstacking.cl opencl/gridder/wprojection/wprojection.cl
