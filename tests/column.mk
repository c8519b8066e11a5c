# Tests print TAP through GLib's test framework; automake's driver counts every case.
LDADD = $(astro_libs) $(GST_CHECK_LIBS) $(GST_LIBS) $(GLIB_LIBS) -lm

dist_files += tests/soak doc/misfits.md doc/known-limits.md tests/rooms tests/rooms.awk tests/rooms.order tests/tests.h tests/tsan-glib.h tests/comma.h tests/device.h tests/distance.h tests/half.h tests/may-fail.h tests/host.h tests/near.h tests/observe.h tests/peak.h tests/quiet-caps.h tests/remove-all.h tests/environment tests/in-a-folder tests/subbuild tests/lsan.supp tests/tsan.supp \
  tests/core/fake-device.h tests/core/on-device.h \
  tests/elements/astrostage.h tests/elements/changed.h tests/elements/elements.h tests/elements/misfit-judging.h tests/elements/misfit-kinds.h tests/elements/misfit-model.h tests/elements/misfit-running.h tests/elements/misfit-stages.h tests/elements/recorded.h tests/elements/left.h tests/elements/merging.h tests/elements/pulled.h tests/elements/running.h tests/elements/setter.h \
  tests/bench/beams.h tests/bench/bench.h tests/bench/powers.h tests/bench/record.h tests/bench/block.h tests/bench/read.h tests/bench/cublas.h tests/bench/cufft.h tests/bench/free-src.h \
  tests/bench/library.h tests/bench/openblas.h tests/bench/on-device.h tests/bench/device-copy.h tests/bench/device-work.h tests/bench/play.h tests/bench/stream.h \
  tests/bench/cpu-figures.md tests/bench/gpu-figures.md tests/fuzz/corpus

if INSTALLED_TESTS
testcoredir = $(testdir)/core
testcore_PROGRAMS = $(core_tests)
testelementsdir = $(testdir)/elements
testelements_PROGRAMS = $(element_tests)
testgraphsdir = $(testdir)/graphs
testgraphs_PROGRAMS = $(graph_tests)
dist_test_SCRIPTS = tests/check-gpu-sanitizers
testbenchdir = $(testdir)/bench
testbench_PROGRAMS = $(bench_programs) $(gpu_bench_programs)
EXTRA_PROGRAMS = $(fuzz_programs) $(interop_programs)
else
check_PROGRAMS = $(core_tests) $(element_tests) $(graph_tests)
EXTRA_PROGRAMS = $(bench_programs) $(gpu_bench_programs) $(fuzz_programs) $(interop_programs)
endif

# Tests of pages and sources, in shell.
source_tests = tests/rooms tests/tutorial tests/words
dist_files += tests/tutorial doc/tutorial.md tests/words tests/words-comments.awk tests/words-pages.awk tests/words-width.awk

# They begin in this order. One of those of the API takes the longest of all, on one core.
TESTS = $(source_tests) $(api_tests) $(core_tests) $(element_tests) $(graph_tests)
# Tests have flags of their own (configure.ac); benchmarks have those of the code that they measure.
tests/core/%.o tests/elements/%.o tests/graphs/%.o: CFLAGS = $(TESTS_CFLAGS)
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(srcdir)/tests/in-a-folder
AM_TESTS_ENVIRONMENT = . $(srcdir)/tests/environment; export CC='$(CC)' CXX='$(CXX)' PYTHON_GI='$(PYTHON_GI)';

# Targets that are not part of "make check".
.PHONY: check-gpu-sanitizers bench bench-gpu bench-peers check-peers check-peers-calibrate check-large fuzz fuzz-run check-format check-tidy check-sanitizers check-threads threads-run check-stress stress-run soak

# Each benchmark prints a table of figures beside the limit measured in the same run.
bench: all $(bench_programs)
	@. $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG; for program in $(bench_programs); do $$program || exit 1; done

# Besides, bench-gpu.json has each figure with its limit and the energy that it took.
bench-gpu: all $(gpu_bench_programs)
	@rm -f bench-gpu.lines; . $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG; \
	  ASTRO_COMMIT=$$(git -C $(srcdir) rev-parse --short HEAD 2>/dev/null || echo $(VERSION)); \
	  ASTRO_BENCH_JSON=bench-gpu.lines; export ASTRO_COMMIT ASTRO_BENCH_JSON; \
	  for program in $(gpu_bench_programs); do $$program || exit 1; done
	@{ echo '['; paste -sd, bench-gpu.lines; echo ']'; } >bench-gpu.json
CLEANFILES += bench-gpu.lines bench-gpu.json

# Counts pairs with Corrfunc and TreeCorr, from PyPI, too: counts have to be equal; prints speeds. Gains are compared
# with those of CASA.
peers/.complete:
	rm -rf peers && python3 -m venv peers && peers/bin/pip install --quiet Corrfunc TreeCorr ducc0 \
	  casatasks python-casacore astropy six certifi && touch $@

check-peers-calibrate: all peers/.complete
	peers/bin/python $(srcdir)/tests/bench/peers-calibrate check $(builddir)

check-peers: all tests/bench/histogram tests/bench/histogram-space peers/.complete check-peers-calibrate
	peers/bin/python $(srcdir)/tests/bench/peers-tpacf check $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-space check $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-shear check $(builddir)
	test '$(PYTHON_GI)' = no || peers/bin/python $(srcdir)/tests/bench/peers-arrays $(builddir) $(PYTHON_GI)

# Compares speed, and images with ducc0's.
bench-peers: all tests/bench/histogram tests/bench/histogram-space tests/bench/gridder peers/.complete
	peers/bin/python $(srcdir)/tests/bench/peers-tpacf bench $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-space bench $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-shear bench $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-gridder $(builddir)
	peers/bin/python $(srcdir)/tests/bench/peers-calibrate bench $(builddir)

# Compares pair counts with a plain loop, at the size of a survey, for which the loop takes a minute.
check-large: all tests/core/histogram/histogram-large
	@. $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG; tests/core/histogram/histogram-large -m slow -p /histogram/large

# Runs compute-sanitizer over the kernels' tests, on a machine with a GPU.
check-gpu-sanitizers: all $(core_tests)
	@. $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG; TESTS=tests/core $(srcdir)/tests/check-gpu-sanitizers

# Runs every fuzz target for a minute, from its corpus, in a separate build with clang.
FUZZ_SECONDS = 60
fuzz:
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/subbuild build-fuzz "fuzz-run FUZZ_SECONDS=$(FUZZ_SECONDS)" --with-cuda=no \
	  --disable-shared --enable-static CC=clang CXX=clang++ \
	  CFLAGS='-g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' LDFLAGS='-fsanitize=address,undefined'

fuzz-run: all
	@$(MAKE) -s $(fuzz_programs) LDFLAGS='-fsanitize=fuzzer,address,undefined'
	@. $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG; ASAN_OPTIONS=$$ASAN_OPTIONS:$$ASTRO_WHO_ALLOCATED; \
	for program in $(fuzz_programs); do \
	  corpus=$$(mktemp -d); cp $(srcdir)/tests/fuzz/corpus/$$(basename $$program)/* $$corpus/; \
	  echo "== $$program"; $$program -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -print_final_stats=1 $$corpus >$$program.out 2>&1 || \
	    { tail -n 40 $$program.out; exit 1; }; grep -E 'number_of_executed_units' $$program.out; rm -rf $$corpus; \
	done

# Only version 14 of clang-format checks the format: other versions differ in places.
check-format:
	@case $$(clang-format --version) in *"version 14."*) ;; \
	  *) echo "check-format: skipped: the tree is as clang-format 14 has it, this is: $$(clang-format --version)"; exit 0 ;; esac; \
	cd $(srcdir) && find core elements gpu opencl graphs tests examples '(' -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' ')' -print0 | \
	  xargs -0 clang-format --dry-run -Werror

# Runs the checks of .clang-tidy over all C of the library, the elements and the program, or over TIDY="FILES". Sources that
# are built once per level are read as for AVX2: not all of them have a portable one.
if !HAVE_HDF5
not_tidied = -not -path 'core/uvh5/*' -not -path 'core/lib/hdf5/*' -not -path 'core/fits/hdf5/*' -not -name 'astrouvh5*'
endif
TIDY = `cd $(srcdir) && find core elements graphs -name '*.c' $(not_tidied)`
check-tidy: $(BUILT_SOURCES)
	@case $$(clang-tidy --version 2>&1) in *"version 14."*) ;; \
	  *) echo "check-tidy: skipped: the checks are those of clang-tidy 14, which is not here"; exit 0 ;; esac; \
	echo $(TIDY) | tr ' ' '\n' | sed 's|^|$(abs_srcdir)/|' | xargs -P $$(nproc) -n 4 sh -c 'found=$$(clang-tidy --quiet \
	  "$$@" -- $(DEFS) -DASTRO_LEVEL_AVX2 -I. $(AM_CPPFLAGS) $(GST_CFLAGS) $(GST_VIDEO_CFLAGS) $(GLIB_CFLAGS) $(SOUP_CFLAGS) $(HDF5_CFLAGS) $(MPI_CFLAGS) $(core_cflags) 2>/dev/null) || { \
	  echo "$$found"; exit 1; }' tidy

# Receives and records for SOAK_SECONDS at SOAK_RATE samples a second on bad days: tests/soak says more. It needs root.
SOAK_SECONDS = 1200
SOAK_RATE = 1e6
soak: all
	@. $(srcdir)/tests/environment; unset GST_TRACERS GST_DEBUG G_DEBUG G_SLICE; \
	PYTHONUNBUFFERED=1 $(srcdir)/tests/soak $(SOAK_SECONDS) $(SOAK_RATE)

# The tarball has every file (distcheck-hook), and builds all that is installed. Of the tests it builds and runs those that
# read files of the source, as the others see no difference to "make check". The tarball is packed fast, as nobody gets it.
.PHONY: check-dist
check-dist:
	XZ_OPT=-1 $(MAKE) $(AM_MAKEFLAGS) distcheck check_PROGRAMS="$(graph_tests)" TESTS="$(source_tests) $(api_tests) $(graph_tests)" \
	  DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O1 CXXFLAGS=-O1"

# Enough to name the lines of what is found.
sanitizer_build_flags = CFLAGS='-g1 -O1' CXXFLAGS='-g1 -O1'

check-sanitizers:
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/subbuild build-sanitizers check --with-cuda=no --enable-sanitizers $(sanitizer_build_flags)

# ThreadSanitizer proves the rules for memory on host and device, and runs elements under stress, for an instant each.
# Kernels have no threads of their own, so that the portable ones do.
check-threads:
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/subbuild build-threads threads-run \
	  --with-cuda=no --disable-vector-kernels --enable-sanitizers=thread $(sanitizer_build_flags)

thread_tests = tests/core/memory/memory tests/core/memory/memory-threads tests/core/memory/memory-failures tests/core/memory/memory-devices \
  tests/core/memory/memory-buffers tests/core/memory/pool tests/elements/stress $(mpi_thread_tests)
threads-run: $(BUILT_SOURCES)
	@$(MAKE) $(thread_tests) $(plugin_LTLIBRARIES) $(check_LTLIBRARIES)
	@$(MAKE) check-TESTS TESTS="$(thread_tests)" check_PROGRAMS="$(thread_tests)"

# Runs every element under threads that push, flush, seek, end, stop and start at random, for this many seconds each, with
# AddressSanitizer and ThreadSanitizer.
STRESS_SECONDS = 10
check-stress:
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/subbuild build-sanitizers stress-run --with-cuda=no --enable-sanitizers $(sanitizer_build_flags)
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/subbuild build-threads stress-run \
	  --with-cuda=no --enable-sanitizers=thread $(sanitizer_build_flags)

stress-run: $(BUILT_SOURCES)
	@$(MAKE) tests/elements/stress $(plugin_LTLIBRARIES)
	@ASTRO_STRESS_SECONDS=$(STRESS_SECONDS) $(MAKE) check-TESTS TESTS=tests/elements/stress check_PROGRAMS=tests/elements/stress

# Files that tests leave in the build tree.
CLEANFILES += tests/registry.bin $(fuzz_programs:=.out)
clean-local:
	rm -rf core/api/pages tests/plugins tests/cache tests/tmp.* build-fuzz build-sanitizers build-threads peers packet-peers casa-peers page-pictures *.source
