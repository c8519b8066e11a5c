"""pip.py, to be run where GStreamer finds the plugin: weights of pairs by bits (PIP) are those of a plain loop over the
realisations of a survey, in which a pair counts that has both its points. Needs numpy alone."""
import numpy as np

from checks import check, finish, launch

REALISATIONS = 128
EDGES = np.array([20.0, 45.0, 90.0, 180.0, 400.0])  # arcmin


def make(random, n):
    """Positions in degrees, weights, and in which realisations a point is selected."""
    often = random.uniform(0.02, 0.9, n)
    return {"ra": random.uniform(0, 20, n), "dec": random.uniform(-10, 10, n), "w": random.uniform(0.5, 1.5, n),
            "selected": random.uniform(size=(REALISATIONS, n)) < often}


def write(points, name):
    """Words of 64 bits: realisation k is bit k % 64 of word k // 64, as a signed integer."""
    columns = [points["ra"], points["dec"], points["w"]]
    bits = np.packbits(points["selected"], axis=0, bitorder="little")
    words = np.ascontiguousarray(bits.T).view("<i8").T
    with open(name, "w") as file:
        file.write("ra,dec,w," + ",".join(f"b{k}" for k in range(len(words))) + "\n")
        for row in zip(*columns, *words):
            file.write(",".join([repr(float(value)) for value in row[:3]] + [str(word) for word in row[3:]]) + "\n")


def directions(points):
    ra, dec = np.deg2rad(points["ra"]), np.deg2rad(points["dec"])
    return np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)]).T


def sums(a, b, weights):
    """Sums of weights of pairs by their angle, from the chord."""
    chord = np.linalg.norm(directions(a)[:, None] - directions(b)[None], axis=2)
    arcmin = np.rad2deg(2 * np.arcsin(chord / 2)) * 60
    return np.histogram(arcmin.ravel(), EDGES, weights=(a["w"][:, None] * b["w"][None] * weights).ravel())[0]


def loop(data, random, realisations, offset):
    """Pairs that realisations select, one realisation after the other; random points are in all of them."""
    n = len(data["ra"])
    both, one = np.zeros((n, n)), np.zeros(n)
    for selected in data["selected"]:
        both += np.outer(selected, selected)
        one += selected
    dd = np.triu(realisations / (offset + both), 1)
    dr = np.repeat((realisations / (offset + one))[:, None], len(random["ra"]), axis=1)
    rr = np.triu(np.ones((len(random["ra"]),) * 2), 1)
    return sums(data, data, dd), sums(data, random, dr), sums(random, random, rr)


def count(settings, backend):
    source = "ra-column=ra dec-column=dec weight-column=w"
    launch(f"astrohistogram name=h edges={','.join(str(edge) for edge in EDGES)} backend={backend} {settings} ! "
           f"filesink location=sums.f64 astrofitssrc location=data.csv {source} bitweight-columns=b0,b1 ! h.data "
           f"astrofitssrc location=random.csv {source} ! h.random")
    return np.fromfile("sums.f64", "<f8").reshape(-1, len(EDGES) - 1)


draw = np.random.default_rng(48)
data, random = make(draw, 700), make(draw, 900)
write(data, "data.csv")
write(random, "random.csv")
for settings, realisations, offset in [("", REALISATIONS + 1, 1), ("nrealizations=300 noffset=2", 300, 2)]:
    expected = np.array(loop(data, random, realisations, offset))
    for backend in ["reference", "cpu"]:
        found = count(settings, backend)
        error = np.abs(found / expected - 1).max() if found.shape == expected.shape else np.inf
        check(f"weights of pairs by a loop over realisations, {settings or 'defaults'}, {backend}", error < 1e-12,
              f"largest difference {error:.1e} of DD, DR and RR")
finish()
