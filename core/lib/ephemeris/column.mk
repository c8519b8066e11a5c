# Phases of pulsars: .par files, the way to the barycentre of the solar system, kernels of the JPL.
core_sources += core/lib/ephemeris/ephemeris.h core/lib/ephemeris/par.c core/lib/ephemeris/phases.c \
  core/lib/ephemeris/phases.h core/lib/ephemeris/planets.c core/lib/ephemeris/planets.h \
  core/lib/ephemeris/kernel.c core/lib/ephemeris/kernel.h
core_tests += tests/core/lib/ephemeris/ephemeris tests/core/lib/ephemeris/kernel
core_tests += tests/core/lib/ephemeris/fuzz-ephemeris tests/core/lib/ephemeris/fuzz-kernel
tests_core_lib_ephemeris_fuzz_ephemeris_SOURCES = tests/fuzz/ephemeris.c tests/fuzz/check.c
tests_core_lib_ephemeris_fuzz_kernel_SOURCES = tests/fuzz/kernel.c tests/fuzz/check.c
fuzz_programs += tests/fuzz/ephemeris tests/fuzz/kernel
dist_files += tests/core/lib/ephemeris/kernel.h

# PINT's phases beside ours, with the ephemeris of ERFA and with DE421.
interop_programs += tests/interop/phases
dist_files += tests/interop/pulsar.py
.PHONY: check-pulsars
check-pulsars: all tests/interop/phases packet-peers/.complete
	@here=$$(pwd) && sources=$$(cd $(srcdir) && pwd) && work=$$(mktemp -d) && cd "$$work" && \
	export PYTHONPATH="$$sources/tests/interop" && status=0 && \
	{ "$$here/packet-peers/bin/python" "$$sources/tests/interop/pulsar.py" "$$here/tests/interop/phases" || status=1; }; \
	rm -rf "$$work"; exit $$status
