# Recordings: files of telescopes' recorders, read.
core_sources += core/recorders/recorders.h core/recorders/recording.h core/recorders/formats.c core/recorders/agree.c \
  core/recorders/describe.c core/recorders/frames.c core/recorders/timing.c core/recorders/read.c core/recorders/file.h \
  core/recorders/file.c core/recorders/keywords.h core/recorders/keywords.c core/recorders/levels.h core/recorders/levels.c \
  core/recorders/unpack.h core/recorders/reference.c core/recorders/cpu.c core/recorders/turn.h core/recorders/turn.c \
  core/recorders/lanes.h core/recorders/lanes.c \
  core/recorders/vdif.c core/recorders/dada.c core/recorders/guppi.c core/recorders/mark5b.c core/recorders/cu8.c core/recorders/sigproc.c
element_sources += elements/astrorecordsrc.c elements/astrorecordsrc.h
bench_programs += tests/bench/recordings
core_tests += tests/core/recorders/unpack tests/core/recorders/blocks
element_tests += tests/elements/astrorecordsrc
example_files += examples/recorder.sh examples/recordings.sh
dist_files += doc/recordings.md tests/elements/recordings.h tests/interop/recorders.py
fuzz_programs += tests/fuzz/recorded-vdif tests/fuzz/recorded-dada tests/fuzz/recorded-guppi tests/fuzz/recorded-mark5b \
  tests/fuzz/recorded-sigproc
dist_files += tests/fuzz/recordings.h
# Fuzz targets for five seconds each, without libFuzzer.
core_tests += tests/core/recorders/fuzz-recorded-vdif tests/core/recorders/fuzz-recorded-dada tests/core/recorders/fuzz-recorded-guppi \
  tests/core/recorders/fuzz-recorded-mark5b tests/core/recorders/fuzz-recorded-sigproc
tests_core_recorders_fuzz_recorded_vdif_SOURCES = tests/fuzz/recorded-vdif.c tests/fuzz/check.c
tests_core_recorders_fuzz_recorded_dada_SOURCES = tests/fuzz/recorded-dada.c tests/fuzz/check.c
tests_core_recorders_fuzz_recorded_guppi_SOURCES = tests/fuzz/recorded-guppi.c tests/fuzz/check.c
tests_core_recorders_fuzz_recorded_mark5b_SOURCES = tests/fuzz/recorded-mark5b.c tests/fuzz/check.c
tests_core_recorders_fuzz_recorded_sigproc_SOURCES = tests/fuzz/recorded-sigproc.c tests/fuzz/check.c
