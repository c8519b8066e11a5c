core_sources += core/packets/packets.h core/packets/formats.h core/packets/formats.c core/packets/vdif.c \
  core/packets/spead.c core/packets/beamlet.c core/packets/describe.h core/packets/describe.c core/packets/described.c \
  core/packets/sequence.h core/packets/sequence.c core/packets/window.h core/packets/window.c \
  core/packets/place.h core/packets/place.c core/packets/lossy.h core/packets/lossy.c \
  core/packets/bits.h core/packets/check.c core/packets/reference.c core/packets/cpu.c
core_tests += tests/core/packets tests/core/packets-unpack tests/core/packets-window tests/core/packets-place \
  tests/core/packets-chain
fuzz_programs += tests/fuzz/vdif tests/fuzz/spead tests/fuzz/beamlet tests/fuzz/describe
dist_files += tests/core/packets.h tests/fuzz/packets.h
