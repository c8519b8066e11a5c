"""numpy joins, selects and adds random streams as astrojoin, astroselect and astroadd do; run by "make check-interop".
Streams are files of samples, of random formats, orders of axes and sizes of buffers. Losses and late starts are those
of tests/elements/astromerge."""
import random

import numpy as np

from checks import check, finish, launch

FORMATS = {"CI8": ("i1", 2), "CI16LE": ("<i2", 2), "CF32LE": ("<f4", 2)}
AXES = ["station", "pol", "time", "channel"]
STEPS = 96
WIDTH = 1000.0  # of a channel, Hz
SEED = 20261126


def values(rng, shape, code):
    if code == "<f4":
        return rng.standard_normal(shape).astype(code)
    return rng.integers(np.iinfo(code).min, np.iinfo(code).max, shape, code, endpoint=True)


class Stream:
    """data has the axes in the order of AXES, and the components of a sample last."""

    def __init__(self, pick, data, name, fmt, first_channel=0):
        self.data, self.name, self.format, self.first = data, name, fmt, first_channel
        self.layout = pick.sample(AXES, 4)
        lengths = [d for d in range(1, STEPS + 1) if STEPS % d == 0]
        self.steps = pick.choice(lengths)  # of a buffer
        self.write()

    def write(self):
        order = [AXES.index(a) for a in self.layout] + [4]
        with open(self.name, "wb") as file:
            for t in range(0, STEPS, self.steps):
                file.write(np.ascontiguousarray(self.data[:, :, t:t + self.steps].transpose(order)).tobytes())

    def caps(self):
        stations, pols, _, channels = self.data.shape[:4]
        width, centre = channels * WIDTH, 1e8 + (self.first + channels / 2) * WIDTH
        return (f"application/x-astro-spectra,format={self.format},layout={':'.join(self.layout)},stations={stations},"
                f"pols={pols},channels={channels},rate=1000/1,frequency=(double){centre},"
                f"bandwidth=(double){width}")

    def source(self):
        block = self.data[:, :, :self.steps].nbytes
        return f"filesrc location={self.name} blocksize={block} ! {self.caps()}"


def written(sink, expected, code, what):
    """The output is time:station:pol:channel, so that the lengths of its blocks do not matter."""
    found = np.fromfile(sink, code)
    wanted = expected.transpose(2, 0, 1, 3, 4)
    check(what, found.size == wanted.size and np.array_equal(found.reshape(wanted.shape), wanted),
          f"{found.size} of {wanted.size} values")


IN_TIME = " ! astrotranspose layout=time:station:pol:channel ! filesink location=out.bin "


def random_shape(pick, axis, extent):
    shape = [pick.randint(1, 5), pick.randint(1, 2), STEPS, pick.randint(1, 9), 2]
    shape[AXES.index(axis)] = extent
    return shape


def joined(rng, pick, n):
    axis = pick.choice(["station", "channel", "pol"])
    fmt = pick.choice(list(FORMATS))
    code = FORMATS[fmt][0]
    pads = 2 if axis == "pol" else pick.randint(2, 6)
    shape = random_shape(pick, axis, 1)
    streams, first, layout = [], 0, None
    for k in range(pads):
        shape[AXES.index(axis)] = 1 if axis == "pol" else pick.randint(1, 5)
        stream = Stream(pick, values(rng, shape, code), f"in{k}.bin", fmt, first if axis == "channel" else 0)
        layout = layout or stream.layout  # pads of a join have one layout
        stream.layout = layout
        stream.write()
        first += shape[3]
        streams.append(stream)
    launch(f"astrojoin name=j axis={axis}" + IN_TIME +
           " ".join(f"{s.source()} ! j.sink_{k}" for k, s in enumerate(streams)))
    written("out.bin", np.concatenate([s.data for s in streams], AXES.index(axis)), code,
            f"join {n}: {pads} pads of {fmt} {':'.join(layout)} along {axis}")


def selected(rng, pick, n):
    axis = pick.choice(["station", "channel", "pol"])
    fmt = pick.choice(list(FORMATS))
    code = FORMATS[fmt][0]
    extent = 2 if axis == "pol" else pick.randint(1, 12)
    stream = Stream(pick, values(rng, random_shape(pick, axis, extent), code), "in.bin", fmt)
    if axis == "channel":  # one band: neighbouring channels
        low = pick.randint(0, extent - 1)
        kept = list(range(low, pick.randint(low, extent - 1) + 1))
    else:
        kept = pick.sample(range(extent), pick.randint(1, extent))
    launch(f"{stream.source()} ! astroselect {axis}s={','.join(map(str, kept))}" + IN_TIME)
    written("out.bin", stream.data.take(kept, AXES.index(axis)), code,
            f"select {n}: {len(kept)} of {extent} along {axis} of {fmt} {':'.join(stream.layout)}")


def added(rng, pick, n):
    """Means without counts all have the same weight."""
    pads = pick.randint(2, 5)
    channels, products = pick.randint(1, 40), pick.choice(["I", "XX:YY"])
    pols = len(products.split(":"))
    data = [rng.standard_normal((STEPS, channels, pols)).astype("<f4") for _ in range(pads)]
    line = "astroadd name=a ! filesink location=out.bin "
    for k, values_of in enumerate(data):
        values_of.tofile(f"in{k}.bin")
        steps = pick.choice([1, 3, 8, 32, 96])
        line += (f" filesrc location=in{k}.bin blocksize={values_of[:steps].nbytes} ! application/x-astro-power,"
                 f"format=F32LE,layout=time:channel:pol,channels={channels},pols={pols},products={products},rate=10/1,"
                 f"frequency=(double)1e8,bandwidth=(double)1e6 ! a.sink_{k}")
    launch(line)
    found = np.fromfile("out.bin", "<f4").astype(float)
    wanted = np.mean(np.array(data, float), axis=0).ravel()
    apart = np.abs(found - wanted).max() if found.size == wanted.size else np.inf
    check(f"add {n}: {pads} pads of power, {channels} channels, {products}", apart < 1e-6, f"{apart:.1e}")


if __name__ == "__main__":
    pick, rng = random.Random(SEED), np.random.default_rng(SEED)
    for work in joined, selected, added:
        for n in range(12):
            work(rng, pick, n)
    finish()
