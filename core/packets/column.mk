core_sources += core/packets/packets.h core/packets/formats.h core/packets/formats.c core/packets/vdif.c \
  core/packets/spead.c core/packets/beamlet.c core/packets/describe.h core/packets/describe.c core/packets/described.c \
  core/packets/sequence.h core/packets/sequence.c core/packets/window.h core/packets/window.c \
  core/packets/place.h core/packets/place.c core/packets/lossy.h core/packets/lossy.c \
  core/packets/identities.h core/packets/identities.c core/packets/streams.h core/packets/streams.c core/packets/heaps.h \
  core/packets/spead.h core/packets/part.h core/packets/part.c core/packets/results.h core/packets/results.c \
  core/packets/results-describe.h core/packets/results-describe.c core/packets/results-sender.h core/packets/results-sender.c \
  core/packets/results-receiver.h core/packets/results-receiver.c core/packets/turn.h core/packets/turn.c core/packets/heaps.c core/packets/settings.h core/packets/settings.c core/packets/shape.h core/packets/shape.c \
  core/packets/epoch.h core/packets/epoch.c core/packets/receiver.h core/packets/receiver-parts.h core/packets/receiver.c \
  core/packets/receiver-ready.c core/packets/receiver-blocks.c core/packets/receiver-tell.c core/packets/payload.h \
  core/packets/payload.c core/packets/sender.h core/packets/sender.c core/packets/row.h core/packets/row.c \
  core/packets/ports.h core/packets/ports.c core/packets/udp.h core/packets/udp.c core/packets/bits.h core/packets/check.c core/packets/reference.c core/packets/cpu.c
core_tests += tests/core/packets/packets tests/core/packets/packets-unpack tests/core/packets/packets-window tests/core/packets/packets-place \
  tests/core/packets/packets-chain tests/core/packets/packets-heaps
# Fuzz targets for five seconds each, without libFuzzer.
core_tests += tests/core/packets/fuzz-receiver tests/core/packets/fuzz-vdif tests/core/packets/fuzz-spead \
  tests/core/packets/fuzz-beamlet tests/core/packets/fuzz-describe
tests_core_packets_fuzz_receiver_SOURCES = tests/fuzz/receiver.c tests/fuzz/check.c
tests_core_packets_fuzz_vdif_SOURCES = tests/fuzz/vdif.c tests/fuzz/check.c
tests_core_packets_fuzz_spead_SOURCES = tests/fuzz/spead.c tests/fuzz/check.c
tests_core_packets_fuzz_beamlet_SOURCES = tests/fuzz/beamlet.c tests/fuzz/check.c
tests_core_packets_fuzz_describe_SOURCES = tests/fuzz/describe.c tests/fuzz/check.c
bench_programs += tests/bench/packets
fuzz_programs += tests/fuzz/receiver tests/fuzz/vdif tests/fuzz/spead tests/fuzz/beamlet tests/fuzz/describe
dist_files += tests/elements/packets.h tests/core/packets/packets.h tests/fuzz/packets.h
element_sources += elements/astropay.c elements/astropay.h elements/astrodepay.c elements/astrodepay.h \
  elements/astroudpsrc.c elements/astroudpsrc.h \
  elements/base/astropackets.c elements/base/astropackets.h elements/base/astroutcclock.c elements/base/astroutcclock.h
element_tests += tests/elements/astropackets tests/elements/astroresults tests/elements/astroudpsrc tests/elements/astroutcclock
tests_elements_astroutcclock_SOURCES = tests/elements/astroutcclock.c elements/base/astroutcclock.c
tests_elements_astroutcclock_LDADD = $(GST_NET_LIBS) $(LDADD)

# Descriptions that are installed.
packetdir = $(datadir)/gst-astro/packets
dist_packet_DATA = core/packets/snap2.packet core/packets/chips.packet
example_files += examples/packets.sh
dist_files += doc/packets.md

# Exchanges packets with baseband and spead2, from PyPI, in both directions, and recordings with baseband and blimpy,
# and compares joined, selected and added streams and beams with numpy; part of check-interop.
packet_peers = pint-pulsar==1.1.* skyfield-data==7.0.* spead2==4.5.* baseband==4.3.* blimpy==2.1.* pyuvdata==3.1.3 python-casacore==3.8.*
lone_peers = your==0.6.7 # only its reader of PSRFITS is used, which needs none of what it depends on
dist_files += tests/interop/packets.py tests/interop/many.py tests/interop/beams.py tests/bench/peers-spead2
.PHONY: check-packets
packet-peers/.complete:
	@rm -rf packet-peers && { python3 -m venv packet-peers || \
	  { echo "check-packets: Python cannot make a virtual environment: Debian's package python3-venv does that" >&2; exit 1; }; }
	@packet-peers/bin/pip install --quiet --disable-pip-version-check $(packet_peers) || \
	  { echo "check-packets: these packages of PyPI cannot be installed: $(packet_peers)" >&2; exit 1; }
	@packet-peers/bin/pip install --quiet --disable-pip-version-check --no-deps $(lone_peers) || \
	  { echo "check-packets: these packages of PyPI cannot be installed: $(lone_peers)" >&2; exit 1; }
	@touch $@

check-packets: all packet-peers/.complete
	@here=$$(pwd) && sources=$$(cd $(srcdir) && pwd) && . $(srcdir)/tests/environment && unset GST_TRACERS GST_DEBUG && \
	work=$$(mktemp -d) && cd "$$work" && export PYTHONPATH="$$sources/tests/interop" && \
	status=0; for script in packets recorders recorders-written filterbank many beams; do \
	  "$$here/packet-peers/bin/python" "$$sources/tests/interop/$$script.py" || status=1; done; rm -rf "$$work"; exit $$status
