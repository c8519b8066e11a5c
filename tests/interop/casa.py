"""CASA lists a Measurement Set of ours, and we read one of its simulator: rows, values, weights, flags, times, (u,v,w)
and positions are those that its own tables have. Run by check-casa, which sets CASASITECONFIG."""
import numpy as np
from casatasks import listobs
from casatools import measures, msmetadata, simulator, table

from checks import check, finish, launch

HZ = 1.4e9
COLUMNS = ("DATA", "WEIGHT", "FLAG", "TIME", "INTERVAL", "ANTENNA1", "ANTENNA2", "UVW")


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


# ---- ours, by CASA ----
launch("astrovissrc stations=9 num-buffers=8 loss=0.2 ! astroobserve telescope=VLA ! astromssink location=ours.ms")
about = listobs("ours.ms", listfile="listed")
check("listobs finds our rows", about["numrecords"] == 8 * 45, about["numrecords"])
check("listobs finds our field and times", about["nfields"] == 1 and about["timeref"] == "UTC" and
      abs(about["EndTime"] - about["BeginTime"] - 80 / 86400) < 1e-9)
metadata = msmetadata()
metadata.open("ours.ms")
check("CASA finds our stations, band and products", metadata.nantennas() == 9 and metadata.nspw() == 1 and
      list(metadata.corrtypesforpol(0)) == [9, 10, 11, 12])
metadata.close()

# ---- CASA's, by us ----
simulated, ruler = simulator(), measures()
simulated.open("casas.ms")
simulated.setconfig(telescopename="VLA", x=[0, 100, 350, -200], y=[0, 50, -120, 300], z=[0, 0, 0, 0],
                    dishdiameter=[25] * 4, mount=["alt-az"] * 4, antname=list("ABCD"), coordsystem="local",
                    referencelocation=ruler.observatory("VLA"))
simulated.setspwindow(spwname="L", freq=f"{HZ}Hz", deltafreq="1MHz", freqresolution="1MHz", nchannels=4,
                      stokes="RR RL LR LL")
simulated.setfeed("perfect R L", pol=[""])
simulated.setfield(sourcename="here", sourcedirection=ruler.direction("J2000", "6h0m0s", "34d0m0s"))
simulated.setlimits(shadowlimit=0.001, elevationlimit="8deg")
simulated.setauto(autocorrwt=0.0)
simulated.settimes(integrationtime="10s", usehourangle=True, referencetime=ruler.epoch("UTC", "2019/10/4/00:00:00"))
simulated.observe("here", "L", starttime="-60s", stoptime="60s")
simulated.close()
random = np.random.default_rng(1)
tool = table()
tool.open("casas.ms", nomodify=False)
shape = tool.getcol("DATA").shape
tool.putcol("DATA", random.normal(size=shape) + 1j * random.normal(size=shape))
tool.putcol("FLAG", random.random(size=shape) < 0.1)
tool.putcol("WEIGHT", random.integers(1, 9, size=(shape[0], shape[2])).astype(float))
tool.close()

launch("astromssrc location=casas.ms ! astromssink location=back.ms")
casas, back = columns("casas.ms"), columns("back.ms")
good = ~casas["FLAG"]
check("as many rows come back, without autocorrelations", casas["DATA"].shape == back["DATA"].shape, shape)
check("flags come back", np.array_equal(casas["FLAG"], back["FLAG"]), f"{casas['FLAG'].mean():.2g} flagged")
check("antennas come back", np.array_equal(casas["ANTENNA1"], back["ANTENNA1"]) and
      np.array_equal(casas["ANTENNA2"], back["ANTENNA2"]))
check("times come back", abs(casas["TIME"] - back["TIME"]).max() < 2e-6 and
      np.allclose(casas["INTERVAL"], back["INTERVAL"]))
# A set of ours has antenna 1 minus 2, and values for that; the simulator may have the opposite.
same = abs(casas["UVW"] - back["UVW"]).max() < abs(casas["UVW"] + back["UVW"]).max()
values, uvw = (casas["DATA"], casas["UVW"]) if same else (casas["DATA"].conj(), -casas["UVW"])
error = abs(uvw - back["UVW"]).max()
check("(u,v,w) come back, with UT1 as UTC", error < 2e-3, f"within {error:.2g} m")
check("values come back", np.array_equal(values[good].astype(np.complex64), back["DATA"][good].astype(np.complex64)))
weights = np.where(good, casas["WEIGHT"][:, None, :], 0)
mean = weights.sum(axis=1) / np.maximum(good.sum(axis=1), 1)
check("weights come back", np.allclose(mean, back["WEIGHT"]))
check("positions come back", abs(casas["POSITION"] - back["POSITION"]).max() < 1e-6)
finish()
