"""baseband reads its own samples of recordings, and so does astrorecordsrc: shapes, samples and times are equal,
samples within the table of levels in core/recorders/levels.h. Run with gst-launch-1.0 in PATH and
GST_PLUGIN_PATH_1_0 set, by a Python that has baseband and blimpy."""
import os
import re
import shutil
import subprocess
import tempfile
import warnings

import baseband
import baseband.dada
import baseband.guppi
import baseband.mark5b
import baseband.vdif
import numpy as np
from astropy import units as u
from astropy.time import Time, TimeDelta
from baseband.base.encoding import OPTIMAL_2BIT_HIGH
from blimpy.utils import unpack

from checks import check, finish

warnings.simplefilter("ignore")
FOLDER = os.path.join(os.path.dirname(baseband.__file__), "data")

# baseband's value of each of our integers.
LEVELS = {
    "1": lambda n: n,
    "2": lambda n: np.sign(n) * np.select([np.abs(n) == 10, np.abs(n) == 3], [OPTIMAL_2BIT_HIGH, 1], np.nan),
    "4": lambda n: n / 2.95,
    "8 of VDIF": lambda n: (n + 0.5) / 35.5,
    "8": lambda n: n,
}


class Ours:
    """A stream that astrorecordsrc makes of files: caps, the start, samples as integers, and warnings."""

    def __init__(self, location, settings=""):
        source = f"astrorecordsrc location={location} {settings}"
        with tempfile.NamedTemporaryFile() as out:
            run = subprocess.run(["gst-launch-1.0", "-v", *source.split(), "!", "tee", "name=t", "t.", "!", "filesink",
                                  f"location={out.name}", "t.", "!", "fakesink", "silent=false", "async=false"],
                                 capture_output=True, text=True, check=True, timeout=60)
            raw = np.fromfile(out.name, dtype=np.int8)
        self.said = run.stdout + run.stderr
        caps = re.search(r"src: caps = (\S+), (.*)", self.said)
        self.quantity = caps[1]
        self.fields = dict(re.findall(r"([\w-]+)=\(\w+\)([^,\s]+)", caps[2]))
        extents = {"channel": "channels", "station": "stations", "pol": "pols"}
        layout = self.fields["layout"].split(":")
        shape = [-1 if axis == "time" else int(self.fields[extents[axis]]) for axis in layout]
        if self.fields["format"].startswith("C"):
            raw = raw.astype(np.float32).view(np.complex64)
        self.samples = raw.reshape(shape)
        self.layout = layout
        told = dict(re.findall(r"(start-mjd|start-ns)=\(\w+\)(\d+)", self.said))
        if "start-mjd" in told:
            self.start = Time(int(told["start-mjd"]), format="mjd", scale="utc") + TimeDelta(
                int(told["start-ns"]) * u.ns)
        n, d = self.fields["rate"].split("/")
        self.rate = int(n) / int(d)

    def ordered(self, *axes):
        return self.samples.transpose([self.layout.index(axis) for axis in axes])


def as_values(levels, samples):
    of = LEVELS[levels]
    return of(samples.real) + 1j * of(samples.imag) if np.iscomplexobj(samples) else of(samples.astype(np.float32))


# Settings of baseband, settings of ours, levels, and the axes behind time, to which baseband's are reshaped.
SAMPLES = [
    ("sample.vdif", "vdif", {}, "threads=station", "2", ["station", "pol"]),
    ("sample_vlbi.vdif", "vdif", {}, "threads=station", "2", ["station", "pol"]),
    ("sample.vdif", "vdif", {}, "threads=band", "2", ["channel", "station", "pol"]),
    ("sample_mwa.vdif", "vdif", {"sample_rate": 1.28 * u.MHz}, "rate=1.28e6 pols=2", "8 of VDIF", ["station", "pol"]),
    ("sample_arochime.vdif", "vdif", {"sample_rate": 390625 * u.Hz}, "rate=390625", "4", ["station", "pol", "channel"]),
    ("sample_bps1.vdif", "vdif", {"sample_rate": 32 * u.MHz}, "rate=32e6", "1", ["channel", "station", "pol"]),
    ("sample.dada", "dada", {}, "", "8", ["station", "pol"]),
    ("sample_meerkat.dada", "dada", {}, "", "8", ["station", "pol"]),
    ("sample_puppi.raw", "guppi", {}, "", "8", ["station", "pol", "channel"]),
    ("sample.m5b", "mark5b", {"sample_rate": 32 * u.MHz, "nchan": 8, "kday": 56000},
     "channels=8 bits=2 rate=32e6 start-time=2014-01-01T00:00:00", "2", ["channel", "station", "pol"]),
    ("sample.m5b", "mark5b", {"sample_rate": 32 * u.MHz, "nchan": 8, "kday": 56000},
     "channels=8 pols=2 bits=2 rate=32e6 start-time=2015-01-01T00:00:00", "2", ["channel", "station", "pol"]),
]

for name, form, told, settings, levels, axes in SAMPLES:
    path = os.path.join(FOLDER, name)
    ours = Ours(path, settings)
    with getattr(baseband, form).open(path, "rs", **told) as theirs:
        expected = theirs.read()
        start, rate = theirs.start_time, theirs.sample_rate.to_value(u.Hz)
    found = as_values(levels, ours.ordered("time", *axes))
    what = f"{name} {settings}".strip()
    check(f"{what}: shape", found.size == expected.size and len(found) == len(expected), found.shape)
    check(f"{what}: samples", np.allclose(found.reshape(expected.shape), expected, atol=1e-5))
    check(f"{what}: rate", abs(ours.rate / rate - 1) < 1e-9, ours.rate)
    off = abs((ours.start - start).to_value(u.ns))
    check(f"{what}: start", off < 1, f"{off} ns")

with tempfile.TemporaryDirectory() as folder:
    # Recordings of which there is only the begin of the first block, filled up with holes.
    for name in ("sample_vegas.raw", "sample_blc.raw"):
        path = os.path.join(folder, name)
        shutil.copy(os.path.join(FOLDER, name), path)
        with open(path, "rb") as file:
            header = baseband.guppi.GUPPIHeader.fromfile(file)
        os.truncate(path, 16384 + header["BLOCSIZE"])
        ours = Ours(path, "num-buffers=1")
        check(f"{name}: channels and rate", int(ours.fields["channels"]) == header.nchan and
              abs(ours.rate * u.Hz / header.sample_rate - 1) < 1e-9, ours.rate)
        check(f"{name}: start", abs((ours.start - header.time).to_value(u.ns)) < 1, ours.start)
        check(f"{name}: band", float(ours.fields["frequency"]) == float(header["OBSFREQ"]) * 1e6 and
              float(ours.fields["bandwidth"]) == abs(float(header["OBSBW"])) * 1e6)

    # Frames that are missing or invalid.
    whole = np.fromfile(os.path.join(FOLDER, "sample.vdif"), dtype=np.uint8).reshape(16, -1)
    broken = whole.copy()
    broken[5, 3] |= 0x80
    path = os.path.join(folder, "broken.vdif")
    broken[[0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15]].tofile(path)
    ours = Ours(path, "threads=station")
    with baseband.vdif.open(path, "rs") as theirs:
        expected = theirs.read()
    found = as_values("2", ours.ordered("time", "station", "pol")).reshape(expected.shape)
    lost = np.isnan(found)
    check("missing frames: as baseband has them", np.array_equal(lost, expected == 0), lost.mean())
    check("missing frames: samples", np.allclose(found[~lost], expected[~lost], atol=1e-5))
    check("missing frames: are counted", "40000 of 320000 samples are lost" in ours.said)

    # Blocks of GUPPI in two files, in the wrong order.
    blocks = np.fromfile(os.path.join(FOLDER, "sample_puppi.raw"), dtype=np.uint8).reshape(4, -1)
    blocks[2:].tofile(os.path.join(folder, "a.raw"))
    blocks[:2].tofile(os.path.join(folder, "b.raw"))
    ours = Ours(os.path.join(folder, "?.raw"))
    with baseband.guppi.open(os.path.join(FOLDER, "sample_puppi.raw"), "rs") as theirs:
        expected = theirs.read()
    found = ours.ordered("time", "station", "pol", "channel")[:, 0]
    check("GUPPI in two files: samples", np.array_equal(found, expected))

    # Written by baseband in all widths.
    random = np.random.default_rng(1)
    for bits, levels in ((1, "1"), (2, "2"), (4, "4"), (8, "8 of VDIF")):
        for is_complex in (False, True):
            for channels in (1, 4):
                path = os.path.join(folder, "made.vdif")
                steps = 8192
                data = random.normal(scale=2, size=(steps, 2, channels, 2)).astype(np.float32)
                data = data.view(np.complex64)[..., 0] if is_complex else data[..., 0]
                per_frame = 1024
                header = baseband.vdif.VDIFHeader.fromvalues(
                    edv=0, time=Time("2020-02-02T02:02:02", precision=9), nchan=channels, bps=bits,
                    complex_data=is_complex, station="me", samples_per_frame=per_frame)
                with baseband.vdif.open(path, "ws", header0=header, sample_rate=1.024 * u.MHz, nthread=2) as out:
                    out.write(data if channels > 1 else data[..., 0])
                ours = Ours(path, "rate=1.024e6")
                with baseband.vdif.open(path, "rs", sample_rate=1.024 * u.MHz) as theirs:
                    expected = theirs.read().reshape(steps, 2, channels)
                axes = ["station", "pol", "channel"] if channels > 1 else ["station", "pol"]
                found = as_values(levels, ours.ordered("time", *axes)).reshape(expected.shape)
                check(f"VDIF of {bits} bits, {channels} channels, {'complex' if is_complex else 'real'}",
                      np.allclose(found, expected, atol=1e-5))

    # GUPPI of 2 and 4 bits, which blimpy unpacks; of 4 bits it leaves the sign to its user.
    with open(os.path.join(FOLDER, "sample_puppi.raw"), "rb") as file:
        header = baseband.guppi.GUPPIHeader.fromfile(file)
    packed = np.random.default_rng(3).integers(0, 256, 24000, dtype=np.uint8)
    for bits in (2, 4):
        header.mutable = True
        header.update(NBITS=bits, OBSNCHAN=3, OVERLAP=0, BLOCSIZE=packed.size, PKTIDX=0, PKTSIZE=packed.size,
                      TBIN=1e-6, OBSBW=3.0, CHAN_BW=1.0)
        path = os.path.join(folder, f"{bits}.raw")
        with open(path, "wb") as file:
            header.tofile(file)
            file.write(packed.tobytes())
        expected = unpack(packed, bits).astype(np.int8)
        expected = expected / 4 if bits == 2 else (expected ^ 8) - 8
        expected = expected.reshape(3, -1, 2, 2).astype(np.float32).view(np.complex64)[..., 0]
        found = Ours(path).ordered("channel", "time", "station", "pol")[:, :, 0]
        check(f"GUPPI of {bits} bits: as blimpy has them", np.array_equal(found, expected))

finish()
