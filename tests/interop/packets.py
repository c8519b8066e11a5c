"""baseband and spead2 read our packets, and we read theirs; run by "make check-packets", which is part of
"make check-interop"."""
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import baseband.data
import numpy as np
import spead2
import spead2.recv
import spead2.send
from astropy import units as u
from baseband import vdif
from checks import check, finish, launch

SKY = "astroskysrc stations=1 pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.2 start-time=2026-11-20T12:00:00"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def counts_of(text):
    """The counts in the last message of a receiver."""
    line = [line for line in text.splitlines() if "astro-packets" in line][-1]
    return {name: int(value) for name, value in re.findall(r"([a-z-]+)=\(guint64\)(\d+)", line)}


# ---- VDIF ----

def our_vdif(bits, caps_format, dtype):
    launch(f"{SKY} ! application/x-astro-voltages,format={caps_format} ! tee name=t t. ! queue ! filesink location=raw "
           f"t. ! queue ! astropay packet=vdif bits={bits} ! filesink location=ours.vdif")
    raw = np.fromfile("raw", dtype)
    with vdif.open("ours.vdif", "rs", sample_rate=1 * u.MHz) as file:
        check(f"baseband knows when {bits}-bit frames of ours begin",
              file.start_time.isot.startswith("2026-11-20T12:00:00.000"),
              file.start_time.isot)
    data = {}
    with vdif.open("ours.vdif", "rb") as file:
        while True:
            try:
                frame = file.read_frame()
            except EOFError:
                break
            data.setdefault(frame["thread_id"], []).append(np.asarray(frame.data)[:, 0])
    theirs = np.stack([np.concatenate(data[k]) for k in sorted(data)], 1)
    # Scales of 4 and 8 bits are baseband's own.
    ours = raw.reshape(-1, 2, 2)
    ours = ours[..., 0] + 1j * ours[..., 1]
    if bits == 2:  # between levels of 1 and 3.3359
        levels = raw.reshape(-1, 2, 2)
        levels = np.sign(levels) * np.where(abs(levels) < 4.3359 / 2, 1, 3.3359)
        ours = levels[..., 0] + 1j * levels[..., 1]
    n = min(len(ours), len(theirs))
    scale = np.vdot(ours[:n], theirs[:n]).real / np.vdot(ours[:n], ours[:n]).real
    # With 8 bits theirs lie half a step off ours, in which 128 is 0; their levels for 2 bits are 3.316505.
    apart = abs(theirs[:n] / scale - ours[:n])
    check(f"baseband finds our samples of {bits} bits", n > 190000 and apart.max() < 0.75 and apart.mean() < 0.72,
          (n, apart.max()))


def their_vdif():
    """Eight threads of 2 bits, one station, as telescopes record it."""
    with vdif.open(baseband.data.SAMPLE_VDIF, "rs") as file:
        rate = int(file.sample_rate.to_value(u.Hz))
        start = file.start_time.isot
        theirs = file.read()
    launch(f"filesrc location={baseband.data.SAMPLE_VDIF} ! astrodepay packet=vdif channels=8 rate={rate} block=1 "
           "layout=time:channel:station:pol ! filesink location=theirs.raw")
    ours = np.fromfile("theirs.raw", np.float32).reshape(-1, 8)
    first = np.argmax(np.any(ours != 0, 1))
    part = ours[first:first + len(theirs)]
    # Their level is 3.316505, the specification's is 3.3359.
    check("we find the samples of a telescope's file", len(part) == len(theirs)
          and abs(part - theirs).max() < 0.02, (part.shape, theirs.shape, start))


# ---- SPEAD ----

CHANNELS, STEPS, HEAPS, STATIONS = 16, 32, 120, 2
STEP = 4096  # increase of timestamps from a heap to the next


class Network(threading.Thread):
    """Stands between a sender and a receiver: loses, doubles and reorders packets chosen by a seed."""

    def __init__(self, to, loss, reorder, duplicate, seed):
        super().__init__(daemon=True)
        self.random, self.to = random.Random(seed), to
        self.loss, self.reorder, self.duplicate = loss, reorder, duplicate
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.socket.settimeout(1)
        self.dropped, self.held = set(), []

    def send(self, packet):
        self.socket.sendto(packet, ("127.0.0.1", self.to))
        time.sleep(2e-5)

    def run(self):
        while True:
            try:
                packet, sender = self.socket.recvfrom(65536)
            except TimeoutError:
                break
            heap = int.from_bytes(packet[8 + 2:16], "big")
            if self.random.random() < self.loss:
                self.dropped.add((sender, heap))
                continue
            if self.random.random() < self.duplicate:
                self.send(packet)
            if self.random.random() < self.reorder:
                self.held.append(packet)
            else:
                self.send(packet)
            if len(self.held) > 5:
                self.send(self.held.pop(0))
        for packet in self.held:
            self.send(packet)


def items(send):
    group = send.ItemGroup(flavour=spead2.Flavour(4, 64, 48, 0))
    for number, name in ((0x1600, "timestamp"), (0x4101, "feng_id"), (0x4103, "frequency")):
        group.add_item(number, name, "", shape=(), format=[("u", 48)])
    group.add_item(0x4300, "feng_raw", "", shape=(CHANNELS, STEPS, 2, 2), dtype=np.int8)
    return group


def send_heaps(port, station, data, first, repeats, multicast=None):
    stream = spead2.send.UdpStream(spead2.ThreadPool(), [(multicast or "127.0.0.1", port)],
                                   spead2.send.StreamConfig(max_packet_size=1024, rate=4e6),
                                   **({"ttl": 1, "interface_address": "127.0.0.1"} if multicast else {}))
    group = items(spead2.send)
    stream.send_heap(group.get_start())
    for i, heap in enumerate(data):
        group["timestamp"].value = (first + i) * STEP
        group["feng_id"].value = station
        group["frequency"].value = 64
        group["feng_raw"].value = heap
        sent = group.get_heap(descriptors="stale" if i == 0 else "none", data="all")
        sent.repeat_pointers = repeats
        stream.send_heap(sent, cnt=(first + i + 1))
    stream.send_heap(group.get_end())
    local = stream  # closes when it goes
    return local


def their_spead(loss, reorder, duplicate, seed, repeats, restart=False):
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 127, (STATIONS, HEAPS, CHANNELS, STEPS, 2, 2), np.int8)
    port = free_port()
    latency = 20 if restart else 400
    with open("received.txt", "w", encoding="ascii") as out:
        receiver = subprocess.Popen(
            ["gst-launch-1.0", "-e", "-m", *(
                f"astroudpsrc address=127.0.0.1 port={port} packet=katgpucbf-antenna-voltage packet-steps={STEPS} "
                f"stations=0-{STATIONS - 1} channels={CHANNELS} first-channel=64 sequence-step={STEP} rate=8000 "
                f"sync-epoch=2026-11-20T12:00:00 block=100 latency={latency} layout=station:channel:time:pol "
                "! filesink location=received.raw").split()], stdout=out)
        time.sleep(1.5)
        networks = [Network(port, loss, reorder, duplicate, seed + i) for i in range(STATIONS)]
        for network in networks:
            network.start()
        for _ in range(2 if restart else 1):
            threads = [threading.Thread(target=send_heaps, args=(n.port, s, data[s], 0, repeats))
                       for s, n in enumerate(networks)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for network in networks:
            network.join()
        time.sleep(0.5)
        receiver.send_signal(signal.SIGINT)
        receiver.wait(20)
    with open("received.txt", encoding="ascii") as text:
        counts = counts_of(text.read())
    name = f"loss {loss}, reorder {reorder}, duplicate {duplicate}, repeats {repeats}, restart {restart}"
    if restart:
        check(f"a sender that starts again is reported ({name})", counts["restarts"] == 1, counts)
        return
    wanted = data.copy()
    lost = 0
    for station, network in enumerate(networks):
        for _, heap in network.dropped:
            if 1 <= heap <= HEAPS:
                wanted[station, heap - 1] = 0
                lost += 1
    steps = round(0.1 * 8000 / STEPS + 0.499) * STEPS
    ours = np.fromfile("received.raw", np.int8).reshape(-1, STATIONS, CHANNELS, steps, 2, 2)
    # The first block begins before the first heap: timestamps begin one wrap of their 48 bits above zero.
    lead = 2**48 // STEP % (steps // STEPS) * STEPS
    ours = ours.transpose(1, 2, 0, 3, 4, 5).reshape(STATIONS, CHANNELS, -1, 2, 2)[:, :, lead:lead + HEAPS * STEPS]
    wanted = wanted.transpose(0, 2, 1, 3, 4, 5).reshape(STATIONS, CHANNELS, HEAPS * STEPS, 2, 2)[:, :, :ours.shape[2]]
    check(f"spead2's heaps come, each sample in its place ({name})", np.array_equal(ours, wanted), counts)
    check(f"and lost ones are counted ({name})", counts["packets"] == STATIONS * HEAPS - lost, (counts, lost))


def their_groups():
    """Each station sends to a multicast group of its own."""
    data = np.random.default_rng(7).integers(1, 127, (STATIONS, HEAPS, CHANNELS, STEPS, 2, 2), np.int8)
    port = free_port()
    with open("received.txt", "w", encoding="ascii") as out:
        receiver = subprocess.Popen(
            ["gst-launch-1.0", "-e", "-m", *(
                f"astroudpsrc address=239.255.7.1-2 multicast-iface=lo port={port} packet=katgpucbf-antenna-voltage "
                f"packet-steps={STEPS} stations=0-1 channels={CHANNELS} first-channel=64 sequence-step={STEP} "
                "rate=8000 sync-epoch=2026-11-20T12:00:00 latency=400 layout=station:channel:time:pol "
                "! filesink location=received.raw").split()], stdout=out)
        time.sleep(1.5)
        threads = [threading.Thread(target=send_heaps, args=(port, s, data[s], 0, False, f"239.255.7.{s + 1}"))
                   for s in range(STATIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.5)
        receiver.send_signal(signal.SIGINT)
        receiver.wait(20)
    with open("received.txt", encoding="ascii") as text:
        counts = counts_of(text.read())
    check("spead2's heaps come from two multicast groups", counts["packets"] == STATIONS * HEAPS
          and counts["lost"] == 0, counts)


def our_spead():
    port = free_port()
    stream = spead2.recv.Stream(spead2.ThreadPool(), spead2.recv.StreamConfig(max_heaps=64))
    stream.add_udp_reader(port, bind_hostname="127.0.0.1", buffer_size=1 << 24)
    heaps = []

    def take():
        for heap in stream:
            found = {item.id: item for item in heap.get_items()}
            heaps.append((found[0x1600].immediate_value, found[0x4101].immediate_value,
                          np.frombuffer(found[0x4300], np.int8).reshape(16, 32, 2, 2)))

    taker = threading.Thread(target=take)
    taker.start()
    launch("astroskysrc is-live=true stations=2 pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.05 "
           "block-steps=2048 ! astrochannelizer channels=16 ! application/x-astro-spectra,format=CI8 ! astropay "
           "packet=katgpucbf-antenna-voltage packet-steps=32 sequence-step=1024 packet-bytes=1024 ! "
           f"udpsink host=127.0.0.1 port={port}")
    time.sleep(1)
    stream.stop()
    taker.join()
    check("spead2 takes our heaps", len(heaps) > 100, len(heaps))
    # The filter bank swallows some spectra at the start.
    first = min(t for t, _, _ in heaps)
    check("and knows their stations and times", first % 1024 == 0 and {(t, s) for t, s, _ in heaps} ==
          {(first + i * 1024, s) for i in range(len(heaps) // 2) for s in range(2)})
    check("with samples in them", all(np.any(data) for _, _, data in heaps))


def our_visibilities():
    """Descriptors name the items, so that spead2 needs to know nothing of the format."""
    port = free_port()
    stream = spead2.recv.Stream(spead2.ThreadPool(), spead2.recv.StreamConfig(max_heaps=64))
    stream.add_udp_reader(port, bind_hostname="127.0.0.1", buffer_size=1 << 24)
    group, heaps = spead2.ItemGroup(), []

    def take():
        for heap in stream:
            new = group.update(heap)
            if "visibilities" in new:
                heaps.append({name: np.array(item.value) for name, item in group.items() if item.value is not None})

    taker = threading.Thread(target=take)
    taker.start()
    launch("astrovissrc is-live=true stations=5 channels=12 frequency=1.5e8 bandwidth=1.2e6 integration=0.02 "
           "duration=0.4 noise=1 start-time=2026-11-20T12:00:00 ! tee name=t t. ! queue ! filesink "
           "location=visibilities.raw t. ! queue ! astropay packet=results packet-channels=4 packet-bytes=1000 ! "
           f"udpsink host=127.0.0.1 port={port}")
    time.sleep(0.5)
    stream.stop()
    taker.join()
    raw = np.fromfile("visibilities.raw", np.complex64).reshape(-1, 12, 15, 2, 2)
    check("spead2 takes our visibilities", len(heaps) == 3 * len(raw) == 60, (len(heaps), len(raw)))
    check("with each value in its place", all(np.array_equal(
        heap["visibilities"], raw[heap["timestamp"], heap["frequency"]:heap["frequency"] + 4]) for heap in heaps))
    first = heaps[0]
    check("and their times, band and stations",
          {(int(h["timestamp"]), int(h["frequency"])) for h in heaps} ==
          {(t, c) for t in range(20) for c in (0, 4, 8)}
          and (first["n_chans"], first["n_ants"], first["n_bls"]) == (12, 5, 15)
          and (first["center_freq"], first["bandwidth"], first["int_time"]) == (1.5e8, 1.2e6, 0.02)
          and first["sync_time"] == 1795176000, first["sync_time"])
    check("and the texts that describe them", str(first["caps"]).startswith("application/x-astro-visibilities, ")
          and "start-mjd" in str(first["observation"]), (first["caps"], first["observation"]))


def our_counts():
    """The counts of good samples, where packets of the voltages were lost."""
    port = free_port()
    stream = spead2.recv.Stream(spead2.ThreadPool(), spead2.recv.StreamConfig(max_heaps=64))
    stream.add_udp_reader(port, bind_hostname="127.0.0.1", buffer_size=1 << 24)
    group, counts, power = spead2.ItemGroup(), [], []

    def take():
        for heap in stream:
            if "counts" in group.update(heap):
                counts.append(np.array(group["counts"].value))
                power.append(np.array(group["visibilities"].value))

    taker = threading.Thread(target=take)
    taker.start()
    launch(f"{SKY.replace('stations=1', 'stations=2')} ! application/x-astro-voltages,format=CI8 ! "
           "astropay packet=vdif packet-steps=400 loss=0.05 ! "
           "astrodepay packet=vdif stations=0-1 pols=2 rate=1000000 ! "
           "astrochannelizer channels=16 ! astrotranspose ! astrocorrelator integration=1000 ! "
           f"astropay packet=results ! udpsink host=127.0.0.1 port={port}")
    time.sleep(0.5)
    stream.stop()
    taker.join()
    check("spead2 takes our counts", len(counts) >= 12 and all(c.shape == (16, 3) for c in counts), len(counts))
    check("which say what was lost", all(0 < c.min() < c.max() <= 1000 for c in counts[1:-1]),
          [(c.min(), c.max()) for c in counts])


if len(sys.argv) > 1:
    for part in sys.argv[1:]:
        globals()[part]()
else:
    our_vdif(8, "CI8", np.int8)
    our_vdif(2, "CF32LE", np.float32)
    their_vdif()
    our_spead()
    our_visibilities()
    our_counts()
    for settings in ((0, 0, 0, 1, False), (0.01, 0, 0, 2, False), (0, 0.1, 0.1, 3, False), (0.01, 0.1, 0.05, 4, True)):
        their_spead(*settings)
    their_spead(0, 0, 0, 5, True, restart=True)
    their_groups()
finish()
