"""CASA lists a Measurement Set of ours, and we read sets of its simulator: rows, values, weights, flags, times, (u,v,w)
and positions are those that its own tables have. Both sets go through UVFITS by CASA's exportuvfits and importuvfits.
Run by check-casa, which sets CASASITECONFIG."""
import subprocess

import numpy as np
from casatasks import casalog, exportuvfits, importuvfits, listobs
from casatools import measures, msmetadata, simulator, table

from checks import check, finish, launch

HZ = 1.4e9
COLUMNS = ("DATA", "WEIGHT", "FLAG", "TIME", "INTERVAL", "ANTENNA1", "ANTENNA2", "UVW")
MM = 1e-3


def columns(path):
    """Rows in order of time and baseline."""
    tool = table()
    tool.open(path)
    found = {name: tool.getcol(name) for name in COLUMNS}
    tool.close()
    order = np.lexsort((found["ANTENNA2"], found["ANTENNA1"], np.round(found["TIME"], 3)))
    found = {name: values[..., order] for name, values in found.items()}
    tool.open(path + "/ANTENNA")
    found["POSITION"] = tool.getcol("POSITION")
    tool.close()
    return found


def warnings():
    """Those of CASA so far, but for the age of its table of leap seconds."""
    with open("log") as log:
        lines = [line for line in log if "\tWARN\t" in line or "\tSEVERE\t" in line]
    return [line for line in lines if "MeasTable::dUTC" not in line]


def compare(name, theirs, ours, weights=None, seconds=2e-6, metres=MM):
    """Flagged values need not be the same. A set of ours has antenna 1 minus 2, and values for that; another may have
    the opposite. weights: what WEIGHT has to be (None: the same)."""
    good = ~theirs["FLAG"]
    check(f"{name}: as many rows, channels and products", theirs["DATA"].shape == ours["DATA"].shape,
          ours["DATA"].shape)
    check(f"{name}: flags", np.array_equal(theirs["FLAG"], ours["FLAG"]), f"{theirs['FLAG'].mean():.2g} flagged")
    check(f"{name}: antennas", np.array_equal(theirs["ANTENNA1"], ours["ANTENNA1"]) and
          np.array_equal(theirs["ANTENNA2"], ours["ANTENNA2"]))
    late = abs(theirs["TIME"] - ours["TIME"]).max()
    check(f"{name}: times", late < seconds and np.allclose(theirs["INTERVAL"], ours["INTERVAL"], atol=1e-4),
          f"within {late:.2g} s")
    same = abs(theirs["UVW"] - ours["UVW"]).max() <= abs(theirs["UVW"] + ours["UVW"]).max()
    values, uvw = (theirs["DATA"], theirs["UVW"]) if same else (theirs["DATA"].conj(), -theirs["UVW"])
    apart = abs(uvw - ours["UVW"]).max()
    check(f"{name}: (u,v,w)", apart < metres, f"within {apart:.2g} m")
    check(f"{name}: values", np.array_equal(values[good].astype(np.complex64), ours["DATA"][good].astype(np.complex64)))
    if weights is None:
        weights = theirs["WEIGHT"]
    check(f"{name}: weights", np.allclose(weights, ours["WEIGHT"]))
    check(f"{name}: positions", abs(theirs["POSITION"] - ours["POSITION"]).max() < 1e-6)


# ---- ours, by CASA ----
casalog.setlogfile("log")
launch("astrovissrc stations=9 num-buffers=8 loss=0.2 ! astroobserve telescope=VLA ! astromssink location=ours.ms")
about = listobs("ours.ms", listfile="listed")
check("listobs finds our rows", about["numrecords"] == 8 * 45, about["numrecords"])
check("listobs finds our field and times", about["nfields"] == 1 and about["timeref"] == "UTC" and
      abs(about["EndTime"] - about["BeginTime"] - 80 / 86400) < 1e-9)
check("listobs warns of nothing", not warnings(), warnings())
metadata = msmetadata()
metadata.open("ours.ms")
check("CASA finds our stations, band and products", metadata.nantennas() == 9 and metadata.nspw() == 1 and
      list(metadata.corrtypesforpol(0)) == [9, 10, 11, 12])
metadata.close()
ours = columns("ours.ms")


# ---- CASA's, by us ----
def simulate(path, windows, fields):
    """A set of all spectral windows (names to Hz) and fields (names to right ascensions). Values, flags and weights are
    random."""
    simulated, ruler = simulator(), measures()
    simulated.open(path)
    simulated.setconfig(telescopename="VLA", x=[0, 100, 350, -200], y=[0, 50, -120, 300], z=[0, 0, 0, 0],
                        dishdiameter=[25] * 4, mount=["alt-az"] * 4, antname=list("ABCD"), coordsystem="local",
                        referencelocation=ruler.observatory("VLA"))
    for name, hertz in windows.items():
        simulated.setspwindow(spwname=name, freq=f"{hertz}Hz", deltafreq="1MHz", freqresolution="1MHz", nchannels=4,
                              stokes="RR RL LR LL")
    simulated.setfeed("perfect R L", pol=[""])
    for name, ra in fields.items():
        simulated.setfield(sourcename=name, sourcedirection=ruler.direction("J2000", ra, "34d0m0s"))
    simulated.setlimits(shadowlimit=0.001, elevationlimit="8deg")
    simulated.setauto(autocorrwt=0.0)
    simulated.settimes(integrationtime="10s", usehourangle=True,
                       referencetime=ruler.epoch("UTC", "2019/10/4/00:00:00"))
    for window in windows:
        for k, field in enumerate(fields):
            simulated.observe(field, window, starttime=f"{120 * k - 60}s", stoptime=f"{120 * k + 60}s")
    simulated.close()
    random = np.random.default_rng(1)
    tool = table()
    tool.open(path, nomodify=False)
    shape = tool.getcol("DATA").shape
    tool.putcol("DATA", random.normal(size=shape) + 1j * random.normal(size=shape))
    tool.putcol("FLAG", random.random(size=shape) < 0.1)
    tool.putcol("WEIGHT", random.integers(1, 9, size=(shape[0], shape[2])).astype(float))
    tool.close()


def refused(line, says):
    run = subprocess.run(["gst-launch-1.0", "-q", *line.split()], capture_output=True, text=True, timeout=60)
    check(f"refused: {says}", run.returncode != 0 and says in run.stderr, None if says in run.stderr else run.stderr)


def mean_weights(found):
    """Per row, of those channels that are not flagged."""
    good = ~found["FLAG"]
    weights = np.where(good, found["WEIGHT"][:, None, :], 0)
    return weights.sum(axis=1) / np.maximum(good.sum(axis=1), 1)


simulate("casas.ms", {"L": HZ}, {"here": "6h0m0s"})
casas = columns("casas.ms")
launch("astromssrc location=casas.ms ! astromssink location=back.ms")
# UT1 is taken as UTC without a table of the Earth.
compare("CASA's set", casas, columns("back.ms"), mean_weights(casas), metres=2 * MM)
launch("astromssrc location=casas.ms uvw=file ! astromssink location=exact.ms")
compare("CASA's set with its own (u,v,w)", casas, columns("exact.ms"), mean_weights(casas))

# ---- through UVFITS ----
launch("astromssrc location=ours.ms ! astrofitssink location=ours.uvfits")
importuvfits(fitsfile="ours.uvfits", vis="imported.ms")
# importuvfits adds up the weights of all channels.
weights = np.where(~ours["FLAG"], ours["WEIGHT"][:, None, :], 0).sum(axis=1)
compare("our UVFITS by importuvfits", dict(ours, WEIGHT=weights), columns("imported.ms"))

exportuvfits(vis="ours.ms", fitsfile="exported.uvfits", datacolumn="data")
launch("astroopen input=exported.uvfits ! astromssink location=again.ms")
# exportuvfits writes times of day in single precision.
compare("our set by exportuvfits", ours, columns("again.ms"), seconds=1e-3)

exportuvfits(vis="casas.ms", fitsfile="casas.uvfits", datacolumn="data")
launch("astroopen input=casas.uvfits uvw=file ! astromssink location=casas-again.ms")
again = columns("casas-again.ms")
# exportuvfits divides by the number of channels; weights with fractions are multiplied by a power of two.
scale = 2.0 ** np.round(np.log2(again["WEIGHT"].max() / mean_weights(casas).max()))
compare("CASA's set by exportuvfits", casas, again, scale * mean_weights(casas), seconds=1e-3)

# ---- several windows and fields ----
simulate("many.ms", {"L": HZ, "S": 2 * HZ}, {"here": "6h0m0s", "there": "6h0m8s"})
refused("astromssrc location=many.ms field=here ! fakesink async=false", "band=")
refused("astromssrc location=many.ms band=0 ! fakesink async=false", "field=")
launch("astromssrc location=many.ms field=there band=1 ! astromssink location=one.ms")
metadata.open("one.ms")
found = metadata.phasecenter(0)["m0"]["value"] * 43200 / np.pi % 86400
check("one window and field of several", metadata.nfields() == 1 and abs(found - 6 * 3600 - 8) < 1e-6 and
      abs(metadata.chanfreqs(0)[0] - 2 * HZ) < 1, f"{found:.9g} s, {metadata.chanfreqs(0)[0]:.9g} Hz")
metadata.close()
exportuvfits(vis="many.ms", fitsfile="many.uvfits", datacolumn="data")
refused("astrofitssrc location=many.uvfits ! fakesink async=false", "many.uvfits")
finish()
