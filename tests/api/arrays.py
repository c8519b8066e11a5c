"""The cases of tests/api/arrays, in the form of TAP."""
import gc
import os
import tempfile
import traceback
import warnings

import numpy as np

import gstastro
from gstastro import dlpack
from gstastro.blocks import DTYPES
from gi.repository import GstAstro

VOLTAGES = "application/x-astro-voltages,format={},layout=time:station:pol,stations=3,pols=2,rate=(fraction)1000/1"
SOURCE = ("astroskysrc stations=3 pols=2 num-buffers=2 noise=1 ! "
          "application/x-astro-voltages,format=CF32LE,layout=time:station:pol")
random = np.random.default_rng(42)


def voltages(format="CF32LE", steps=5, **fields):
    dtype = DTYPES[format]
    samples = np.frombuffer(random.bytes(steps * 6 * dtype.itemsize), np.uint8) & 0x3f  # no NaN
    stream = gstastro.Stream(VOLTAGES.format(format)).with_fields(**fields)
    return gstastro.Block.make(stream, samples.view(dtype).reshape(steps, 3, 2))


def raises(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert words in str(error), f"expected {words!r} in: {error}"
        return error
    raise AssertionError(f"expected {kind.__name__} with {words!r}")


def blocks_of(line, source=None):
    with gstastro.Pipeline(line, source) as pipeline:
        return list(pipeline)


class Half(gstastro.Stage):
    """Halves voltages"""

    takes = gives = "application/x-astro-voltages,format=CF32LE"

    def process(self, block):
        return block.samples / 2


class Fails(gstastro.Stage):
    """Fails at the second block"""

    count = 0

    def process(self, block):
        self.count += 1
        return block if self.count == 1 else [][0]


class Powers(gstastro.Stage):
    """The power of voltages, without the axis of polarisations"""

    takes = "application/x-astro-voltages,format=CF32LE"

    def configure(self, stream):
        return stream.with_fields(layout="time:station", pols=None)

    def process(self, block):
        return (np.abs(block.samples) ** 2).sum(axis=block.axis("pol"))


class Mute(gstastro.Stage):
    """Gives everything at the end"""

    def process(self, block):
        self.last = block

    def finish(self):
        return self.last


for stage in (Half, Fails, Powers, Mute):
    stage.register(stage.__name__.lower())


def case_views():
    block = blocks_of(SOURCE)[0]
    assert block.axes == ("time", "station", "pol") and block.extents[1:] == (3, 2)
    assert block.samples.shape == block.extents
    other = gstastro.Block(block.stream, block.buffer)
    assert np.shares_memory(block.samples, other.samples)
    raises(ValueError, "read-only", block.samples.__setitem__, 0, 0)
    samples, total = block.samples, block.samples.sum()
    del block, other
    gc.collect()
    blocks_of(SOURCE)  # would reuse the memory if it were free
    assert samples.sum() == total


def case_overrides():
    block = voltages()
    stream = GstAstro.Stream()
    stream.from_caps(block.stream.caps)
    assert np.shares_memory(stream.array(block.buffer), block.samples) and stream.axes(block.buffer) == block.axes


def case_stations():
    observation = blocks_of(SOURCE)[0].observation
    found = [observation.get_station(i) for i in range(observation.n_stations)]
    assert len(found) == 3 and observation.names == [station.name for station in found]
    assert observation.positions == [(station.x, station.y, station.z) for station in found]
    assert np.linalg.norm(observation.positions[2]) > 6e6 and observation.dms == []
    assert not hasattr(observation, "beams")
    observation = GstAstro.Observation.new(1)
    observation.set_dms([1, 2.5], 1e9)
    assert observation.dms == [1, 2.5]


def case_formats():
    for format, dtype in DTYPES.items():
        if format in ("I8", "I16LE", "F32LE", "F64LE", "U64LE"):
            continue
        block = voltages(format)
        assert block.samples.dtype == dtype and block.samples.flags.writeable, format
        block.samples[...] = np.zeros((), dtype)
        assert not block.samples.tobytes().strip(b"\0"), format
    packed = np.array([0x80, 0x7f, 0x0f, 0xf0], np.uint8)
    assert (gstastro.complex_of(packed, "CI4") == [-8, 7 - 1j, -1j, -1]).all()
    wide = np.zeros(2, DTYPES["CI32LE"])
    wide["re"], wide["im"] = 2**31 - 1, -2**31
    assert (gstastro.complex_of(wide) == 2**31 - 1 - 1j * 2**31).all()


def case_converted():
    """astroconvert and numpy agree on the values of samples."""
    wanted = gstastro.complex_of(voltages("CI8").samples)
    block = voltages("CI8")
    block.samples["re"], block.samples["im"] = wanted.real, wanted.imag
    made = blocks_of("astroconvert ! application/x-astro-voltages,format=CF32LE", [block])[0]
    assert (made.samples == wanted).all()


def case_validity():
    block = voltages()
    assert block.validity is None and block.valid().all()
    counts = np.arange(15).reshape(5, 3)
    block.set_validity(counts, ("time", "station"), 14)
    assert (block.validity == counts).all() and block.validity_axes == ("time", "station") and block.full == 14
    assert block.valid().sum() == 28 and not block.valid()[0, 0].any()
    block.validity = counts[::-1]
    assert (block.validity == counts[::-1]).all()
    block.set_validity(0, ())
    assert not block.valid().any()
    shared = gstastro.Block(block.stream, block.buffer.copy())  # PyGObject only adds a reference
    shared.validity = np.ones(shared.validity.shape)
    assert not block.valid().any() and shared.valid().all() and (block.samples == shared.samples).all()
    raises(ValueError, "from 0 to full", block.set_validity, counts, ("time", "station"), 13)
    raises(ValueError, "15 counts over station:pol, expected 6", block.set_validity, counts, ("station", "pol"), 14)
    raises(ValueError, "in its order", block.set_validity, counts, ("station", "time"), 14)


def case_make():
    stream = VOLTAGES.format("CF32LE")
    raises(ValueError, "use astype", gstastro.Block.make, stream, np.zeros((5, 3, 2)))
    raises(ValueError, "have (5, 3, 2)", gstastro.Block.make, stream, np.zeros((5, 2, 3), "c8"))
    raises(ValueError, "format", gstastro.Stream, "application/x-astro-voltages,format=CX,layout=time")
    raises(ValueError, "no caps", gstastro.Stream, "a,,b=")
    spectra = gstastro.Stream("application/x-astro-spectra,format=CF32LE,layout=time:channel,channels=4,"
                              "rate=(fraction)1/1,frequency=(double)10,bandwidth=(double)4")
    assert (spectra.frequencies() == [8.5, 9.5, 10.5, 11.5]).all()


def case_observation():
    block = blocks_of(SOURCE)[1]
    assert abs(block.time - blocks_of(SOURCE)[0].duration) < 1e-9
    observation = block.observation.copy()
    observation.set_telescope("mine")
    block.observation, block.time = observation, 7
    made = blocks_of("astroconvert", [block])[0]
    assert made.observation.telescope == "mine" and made.time == 7


def case_uvw():
    stream = gstastro.Stream("application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
                             "channels=1,baselines=3,pols=1")
    uvw = random.normal(size=(2, 3, 3))
    block = gstastro.Block.make(stream, np.zeros((2, 1, 3, 1, 1), "c8"), uvw=uvw)
    assert (block.uvw == uvw).all() and voltages().uvw is None
    raises(ValueError, "3 for each of 3 baselines", setattr, block, "uvw", uvw[0, :2])
    raises(ValueError, "at most", setattr, block, "uvw", uvw * np.nan)


def case_outputs():
    line = (f"{SOURCE} ! tee name=t t. ! queue ! appsink name=a "
            "t. ! queue ! astrochannelizer channels=4 ! appsink name=b")
    with gstastro.Pipeline(line) as pipeline:
        pairs = [(a.stream.quantity, b.stream.quantity) for a, b in zip(pipeline["a"], pipeline["b"])]
    assert pairs == [("voltages", "spectra")] * 2
    with tempfile.TemporaryDirectory() as folder:
        gstastro.Pipeline(f"{SOURCE} ! filesink location={folder}/x").run()
        assert os.path.getsize(f"{folder}/x") > 0
    raises(ValueError, "no appsink name=c", lambda: list(gstastro.Pipeline(SOURCE)["c"]))
    raises(ValueError, "does not run", lambda: list(gstastro.Pipeline(SOURCE)))
    raises(ValueError, 'no element "astronothing"', gstastro.Pipeline, "astronothing")
    raises(ValueError, "no appsrc name=x", gstastro.Pipeline, SOURCE, {"x": []})


def case_errors():
    error = raises(gstastro.Error, "astrofitssrc0", blocks_of, "astrofitssrc location=/nothing.fits")
    assert error.element == "astrofitssrc0" and "/nothing.fits" in str(error)

    def broken():
        yield voltages()
        raise KeyError("mine")
    error = raises(gstastro.Error, "KeyError", blocks_of, "identity", broken())
    assert isinstance(error.__cause__, KeyError)
    raises(gstastro.Error, "found a int, but an input takes blocks", blocks_of, "identity", [3])
    many = [voltages()] * 9  # more than the queue of an input holds
    raises(gstastro.Error, "/nothing.par", blocks_of, "astrofold ephemeris=/nothing.par", many)


def case_stage():
    plain, halves = blocks_of(SOURCE), blocks_of(f"{SOURCE} ! half")
    assert len(halves) == 2 and all((a.samples / 2 == b.samples).all() for a, b in zip(plain, halves))
    assert halves[1].time == plain[1].time and halves[0].observation.n_stations == 3
    assert "Halves voltages" == gstastro.Gst.ElementFactory.find("half").get_metadata("description")


def case_stage_validity():
    block = voltages()
    counts = random.integers(0, 2, (5, 3))
    block.set_validity(counts, ("time", "station"))
    made = blocks_of("half ! half", [block])[0]
    assert (made.validity == counts).all() and made.validity_axes == ("time", "station")
    block.set_validity(np.ones((5, 3, 2)), None)
    raises(gstastro.Error, "which do not fit samples over time:station", blocks_of, "powers", [block])
    bare = voltages(counts=True)
    raises(gstastro.Error, "promise counts", blocks_of, "half", [bare])
    gap = voltages()
    gap.buffer.set_flags(gstastro.Gst.BufferFlags.GAP)
    assert not blocks_of("half", [gap])[0].valid().any()


def case_stage_configure():
    made = blocks_of(f"{SOURCE} ! powers")[0]
    assert made.axes == ("time", "station")
    with gstastro.Pipeline(f"{SOURCE} ! mute") as pipeline:
        assert len(list(pipeline)) == 1


def case_stage_fails():
    error = raises(gstastro.Error, "IndexError: list index out of range", blocks_of, f"{SOURCE} ! fails")
    assert "Traceback" in str(error) and error.element == "fails0"


def case_dlpack():
    block = voltages()
    array = np.from_dlpack(gstastro.to_dlpack(block))
    assert np.shares_memory(array, block.samples) and array.dtype == np.complex64
    total = block.samples.sum()
    del block
    gc.collect()
    assert array.sum() == total
    assert np.from_dlpack(gstastro.to_dlpack(voltages("CI8"))).shape == (5, 3, 2, 2)
    capsule = gstastro.to_dlpack(voltages()).__dlpack__()
    del capsule, array
    gc.collect()
    assert not dlpack._in_use


def vectors(ra, dec):
    ra, dec = np.radians(ra), np.radians(dec)
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], 1)


def case_pairs():
    n, edges = 300, np.array([1, 10, 60, 200.5])
    ra, dec, weights = random.uniform(0, 10, n), random.uniform(-5, 5, n), random.uniform(0, 1, n)
    regions = random.integers(0, 3, n)
    points = vectors(ra, dec)
    angle = 60 * np.degrees(2 * np.arcsin(np.linalg.norm(points[:, None] - points, axis=2) / 2))
    once = np.tril_indices(n, -1)
    wanted = np.histogram(angle[once], edges)[0]
    assert (gstastro.pairs(ra, dec, edges).counts == wanted).all()
    assert (gstastro.pairs(ra, dec, edges / 60, unit="deg", backend="reference", threads=1).counts == wanted).all()
    found = gstastro.pairs(ra, dec, edges, weights=weights, regions=regions)
    products = np.histogram(angle[once], edges, weights=np.outer(weights, weights)[once])[0]
    assert found.counts.shape == (3, 3, 3) and (found.counts.sum(axis=(0, 1)) == wanted).all()
    assert np.allclose(found.weights.sum(axis=(0, 1)), products, rtol=1e-12)
    wanted = np.histogram(angle[:, :50], edges)[0] - np.histogram(angle[np.arange(50), np.arange(50)], edges)[0]
    assert (gstastro.pairs(ra, dec, edges, ra2=ra[:50], dec2=dec[:50]).counts == wanted).all()
    raises(ValueError, "one length", gstastro.pairs, ra, dec[:5], edges)
    raises(ValueError, "unit is one of", gstastro.pairs, ra, dec, edges, unit="feet")
    raises(gstastro.Error, "edge", gstastro.pairs, ra, dec, edges[::-1])


def case_image():
    n, size, cell, frequencies = 2500, 128, 40.0, np.array([150e6, 151e6, 152e6])
    uvw = random.normal(0, 300, (n, 3)) * [1, 1, 0.2]
    waves = frequencies / 299792458

    def phase(l, m):
        return (uvw @ [l, m, np.sqrt(1 - l * l - m * m) - 1])[:, None] * waves
    visibilities = sum(flux * np.exp(2j * np.pi * phase(l, m)) for l, m, flux in ((0, 0, 1), (0.004, -0.006, 2)))
    weights = random.uniform(0.1, 1, (n, 3))
    visibilities[5, 1] = np.nan
    used = np.where(np.isfinite(visibilities), weights, 0)
    for dtype, accuracy in (("c16", 1e-7), ("c8", 1e-4)):
        made = gstastro.image(uvw, visibilities.astype(dtype), frequencies, size, cell, weights=weights,
                              accuracy=accuracy)
        for y, x in ((64, 64), (33, 43), (0, 0), (127, 3)):
            l, m = -(x - 64) * np.radians(cell / 3600), (y - 64) * np.radians(cell / 3600)
            wanted = (used * np.nan_to_num(visibilities) * np.exp(-2j * np.pi * phase(l, m))).real.sum() / used.sum()
            assert abs(made[y, x] - wanted) < 5 * accuracy, (dtype, y, x, made[y, x], wanted)
    raises(ValueError, "rise evenly", gstastro.image, uvw, visibilities, frequencies**2, size, cell)
    for wrong, words in ((-weights, "from 0 on"), (0 * weights, "all weights are 0"),
                         (np.where(weights > 0.5, 1, 1e-12), "must be at least")):
        raises(ValueError, words, gstastro.image, uvw, visibilities, frequencies, size, cell, weights=wrong)
    raises(ValueError, "[row, 3]", gstastro.image, uvw[:5], visibilities, frequencies, size, cell)


def case_graph():
    """The line of a graph, where the shell would have to be told of the plugins and where not; it runs."""
    told = gstastro.graph("synthesis", size=64, duration=20, output="a b.uvfits", image="i.fits", picture="i.png")
    plugins = os.environ.pop("GST_PLUGIN_PATH_1_0")
    try:
        untold = gstastro.graph("synthesis", size=64, duration=20, output="a b.uvfits", image="i.fits", picture="i.png")
    finally:
        os.environ["GST_PLUGIN_PATH_1_0"] = plugins
    assert told == untold and told.startswith("astrovissrc ") and "a\\ b.uvfits" in told, (told, untold)
    raises(ValueError, "no graph nothing", gstastro.graph, "nothing")
    raises(ValueError, "no parameter", gstastro.graph, "synthesis", sizes=64)


def case_released():
    """All blocks of the library are given back."""
    for _ in range(20):
        for block in blocks_of(f"{SOURCE} ! half"):
            block.samples, block.validity
    del block
    gc.collect()
    counters = GstAstro.MemoryCounters()
    GstAstro.memory_counters(counters)
    assert counters.blocks == 0, f"{counters.blocks} blocks are held"


def main():
    warnings.simplefilter("error")
    cases = [name for name in globals() if name.startswith("case_")]
    for i, name in enumerate(cases):
        what = "/arrays/" + name.removeprefix("case_").replace("_", "/")
        try:
            globals()[name]()
            print(f"ok {i + 1} {what}")
        except Exception:
            print("\n".join("# " + line for line in traceback.format_exc().split("\n")))
            print(f"not ok {i + 1} {what}")


main()
