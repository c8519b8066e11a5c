# Tests print TAP through GLib's framework; automake's driver counts every case.
LDADD = core/libastro-core.la $(GST_CHECK_LIBS) $(GST_LIBS) $(GLIB_LIBS) -lm

dist_files += tests/tests.h tests/elements/elements.h tests/core/fake-device.h tests/bench/bench.h tests/environment \
  tests/fuzz/corpus

if INSTALLED_TESTS
testcoredir = $(testdir)/core
testcore_PROGRAMS = $(core_tests)
testelementsdir = $(testdir)/elements
testelements_PROGRAMS = $(element_tests)
testgraphsdir = $(testdir)/graphs
testgraphs_PROGRAMS = $(graph_tests)
testbenchdir = $(testdir)/bench
testbench_PROGRAMS = $(bench_programs)
EXTRA_PROGRAMS = $(fuzz_programs) $(interop_programs)
else
check_PROGRAMS = $(core_tests) $(element_tests) $(graph_tests)
EXTRA_PROGRAMS = $(bench_programs) $(fuzz_programs) $(interop_programs)
endif

TESTS = $(core_tests) $(element_tests) $(graph_tests)
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = . $(srcdir)/tests/environment;
