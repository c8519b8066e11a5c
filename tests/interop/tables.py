"""tables.py, to be run where GStreamer finds the plugin: we read astropy's tables, and astropy reads ours."""
import numpy as np
from astropy.io import fits
from astropy.table import Table

from checks import check, finish, launch, verified

POINTS = 100000


def read(path, options, columns):
    launch(f"astrofitssrc location={path} {options} ! filesink location=points.f64")
    return np.fromfile("points.f64", "<f8").reshape(columns, -1)


def make_table():
    random = np.random.default_rng(1)
    return Table({
        "NAME": [f"s{i % 100}" for i in range(POINTS)],
        "Ra": random.uniform(0, 360, POINTS),
        "Dec": random.uniform(-90, 90, POINTS),
        "MAG": random.uniform(15, 25, POINTS).astype("f4"),
        "GOOD": random.integers(0, 2, POINTS).astype(bool),
        "W": random.integers(0, 60000, POINTS).astype("u2"),
    }, units={"Ra": "deg", "Dec": "deg"})


def read_theirs(table):
    table.write("degrees.fits")
    table.write("degrees.fits.gz")
    expected = np.array([table["Ra"], table["Dec"], table["W"]])
    for path in ["degrees.fits", "degrees.fits.gz"]:
        check(f"reading {path}", np.array_equal(read(path, "weight-column=w", 3), expected))
    both = read("degrees.fits*", "weight-column=w", 1)[0]
    check("reading two files", np.array_equal(both, np.tile(expected.ravel(), 2)))

    filtered = read("degrees.fits", "where=MAG<20&&GOOD&&W>=40000", 2)
    rows = (table["MAG"] < 20) & table["GOOD"] & (table["W"] >= 40000)
    check("reading some rows", np.array_equal(filtered, expected[:2, rows]), rows.sum())

    converted = table.copy()
    for name in ["Ra", "Dec"]:
        converted[name] = np.deg2rad(converted[name].data)
        converted[name].unit = "rad"
    converted.write("radians.fits")
    error = np.abs(read("radians.fits", "", 2) - expected[:2]).max()
    check("reading radians", error < 1e-12, f"error {error:g}")


def write_ours(table):
    launch("astrofitssrc location=degrees.fits ! astrofitssink location=ours.fits")
    ours = Table.read("ours.fits")
    check("writing a catalogue", np.array_equal(ours["ra"], table["Ra"]) and ours["dec"].unit == "deg")
    check("fitsverify of a catalogue", verified("ours.fits"))
    for name in ["w.fits", "w.csv"]:
        launch("astrohistogram name=h regions=5 min-angle=100 max-angle=1000 ! astrotpacf ! "
               f"astrofitssink location={name} astrocatsrc points=3000 ! h.data "
               "astrocatsrc points=3000 seed=2 ! h.random")
    with fits.open("w.fits") as file:
        stored = file["CORRELATION"].data
        text = np.genfromtxt("w.csv", delimiter=",", names=True)
        same = [np.allclose(stored[name], text[name], rtol=1e-14, equal_nan=True)
                for name in ("theta", "w", "error", "dd")]
        covariance = np.array([text[f"cov{k}"] for k in range(len(text))]).T
        check("a correlation function as table and text",
              all(same) and np.allclose(stored["cov"], covariance, rtol=1e-13))
    check("fitsverify of a correlation function", verified("w.fits"))


table = make_table()
read_theirs(table)
write_ours(table)
finish()
