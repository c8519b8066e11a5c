"""sets.py UVFITS SET CASACORES: checks that our Measurement Set, read by python-casacore, holds what astropy reads from
our UVFITS file of the same stream, and that we read both our set and the one that casacore made of the UVFITS file."""
import sys

import numpy as np
from astropy.io import fits
from casacore import tables

from checks import check, finish, launch

LIGHT_SPEED = 299792458.0
UVFITS_ORDER = [0, 3, 1, 2]  # where a set has XX, YY, XY, YX


def read_groups(path):
    with fits.open(path) as hdus:
        data, header = hdus[0].data, hdus[0].header
        values = np.asarray(data.data).reshape(len(data), -1, 4, 3)
        uvw = np.stack([np.asarray(data.par(k), float) for k in range(3)], axis=1) * LIGHT_SPEED
        # The second DATE is the rest of the first.
        days = np.float64(data.par(3)) - header["PZERO4"] + np.float64(data.par(4))
        baseline = np.asarray(data.par("BASELINE")).astype(int)
        table = hdus["AIPS AN"]
        return {
            "data": values[..., 0] + 1j * values[..., 1],
            "weight": values[..., 2], "uvw": uvw,
            "time": (header["PZERO4"] - 2400000.5 + days) * 86400,
            "one": baseline // 256 - 1, "two": baseline % 256 - 1,
            "position": np.asarray(table.data["STABXYZ"]), "length": np.asarray(data.par("INTTIM")),
        }


def check_set(path, groups):
    table = tables.table(path, ack=False)
    data = table.getcol("DATA")[..., UVFITS_ORDER]
    weight = table.getcol("WEIGHT_SPECTRUM")[..., UVFITS_ORDER]
    flag = table.getcol("FLAG")[..., UVFITS_ORDER]
    check("values", np.array_equal(data, groups["data"].astype(np.complex64)), data.shape)
    check("weights", np.array_equal(weight, groups["weight"]), f"{weight.min():g} to {weight.max():g}")
    check("flags", np.array_equal(flag, groups["weight"] <= 0), f"{flag.mean():.3g} flagged")
    check("antennas", np.array_equal(table.getcol("ANTENNA1"), groups["one"]) and
          np.array_equal(table.getcol("ANTENNA2"), groups["two"]))
    error = np.abs(table.getcol("TIME") - groups["time"]).max()
    check("times", error < 2e-6, f"within {error:.1e} s")
    check("lengths", np.allclose(table.getcol("INTERVAL"), groups["length"], rtol=1e-6))
    uvw = table.getcol("UVW")
    # UVFITS has single precision.
    error = (np.abs(uvw - groups["uvw"]) - np.abs(groups["uvw"]) * 2e-7).max()
    check("(u,v,w)", error < 1e-3, f"within {max(error, 0):.1e} m and the precision of UVFITS")
    positions = tables.table(path + "::ANTENNA", ack=False).getcol("POSITION")
    error = np.abs(positions - groups["position"]).max()
    check("positions", error < 1e-6, f"within {error:.1e} m")
    weight = table.getcol("WEIGHT")
    sigma = table.getcol("SIGMA")
    check("SIGMA is that of WEIGHT", np.allclose(sigma[weight > 0] ** -2, weight[weight > 0], rtol=1e-5))
    for name in ["SPECTRAL_WINDOW", "POLARIZATION", "DATA_DESCRIPTION", "FIELD", "FEED", "OBSERVATION", "STATE",
                 "PROCESSOR", "HISTORY"]:
        check(f"table {name} has rows", tables.table(f"{path}::{name}", ack=False).nrows() > 0)


def check_read(path, groups, what):
    launch(f"astromssrc location={path} ! astrofitssink location=read.uvfits")
    found = read_groups("read.uvfits")
    check(f"we read {what}", np.array_equal(found["data"], groups["data"]) and
          np.array_equal(found["weight"], groups["weight"]), found["data"].shape)
    error = np.abs(found["time"] - groups["time"]).max()
    check(f"times of {what}", error < 2e-6, f"within {error:.1e} s")


uvfits, ours, casacores = sys.argv[1:]
truth = read_groups(uvfits)
check_set(ours, truth)
check_read(ours, truth, "our set")
check_read(casacores, truth, "casacore's set")
finish()
