"""uvh5 files of ours read by pyuvdata, and pyuvdata's by us: values, weights, flags, times, (u,v,w) and positions."""
import glob
import os
import warnings

import numpy as np
import pyuvdata
from astropy.utils.iers import conf
from pyuvdata import UVData

from checks import check, finish, launch

conf.auto_max_age = None  # the tables of astropy may be old
warnings.simplefilter("ignore")
SKY = "astrovissrc stations=9 num-buffers=7 loss=0.2"
ARRAYS = ("data_array", "flag_array", "nsample_array", "time_array", "freq_array", "integration_time")


def read(path):
    data = UVData()
    data.read(path)
    return data


def places(data):
    return data.telescope.antenna_positions + np.array(data.telescope._location.xyz())


def same(what, one, two, metres):
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(two, name)
        check(f"{what}: {name} is the same", a.shape == b.shape and np.array_equal(a, b))
    check(f"{what}: (u,v,w) within {metres} m", abs(one.uvw_array - two.uvw_array).max() < metres)
    check(f"{what}: positions within a micrometre", abs(places(one) - places(two)).max() < 1e-6)


# ---- ours, beside UVFITS of the same stream, which casacore and others have judged ----
launch(f"{SKY} ! tee name=t ! queue ! astrouvh5sink location=ours.uvh5 t. ! queue ! astrofitssink location=ours.uvfits")
ours, judged = read("ours.uvh5"), read("ours.uvfits")
same("our uvh5 and UVFITS", ours, judged, 1e-3)
own = ours.copy()
own.set_uvws_from_antenna_positions()
check("pyuvdata computes our (u,v,w) to a millimetre", abs(own.uvw_array - ours.uvw_array).max() < 1e-3)

# ---- pyuvdata's, in other orders, by us ----
for order, conjugated in (("time", False), ("baseline", False), ("time", True)):
    data = ours.copy()
    if conjugated:
        data.conjugate_bls("ant2<ant1")
    data.reorder_blts(order=order)
    data.write_uvh5("theirs.uvh5", clobber=True)
    launch("astrouvh5src location=theirs.uvh5 ! astrofitssink location=theirs.uvfits")
    same(f"pyuvdata's uvh5 by {order}{', conjugated' if conjugated else ''}", read("theirs.uvfits"), judged, 1e-3)

# ---- an array that drifts, beside pyuvdata's phasing ----
drift = ours.copy()
drift.unproject_phase()
drift.write_uvh5("drift.uvh5", clobber=True)
launch("astrouvh5src location=drift.uvh5 ! astrofitssink location=drift.uvfits")
phased = read("drift.uvfits")
centre = list(phased.phase_center_catalog.values())[0]
drift.phase(lon=centre["cat_lon"], lat=centre["cat_lat"], phase_frame="icrs", cat_name="zenith")
good = ~phased.flag_array
worst = abs(phased.data_array - drift.data_array)[good].max() / abs(drift.data_array).max()
# pyuvdata takes UT1 of the IERS, the simulation UT1 = UTC: an arcsecond or so, hundredths of a turn here.
check("drifting visibilities are phased as by pyuvdata", worst < 2e-2, f"{worst:.1e} of the peak")

# ---- files in pyuvdata's wheel ----
folder = os.path.join(os.path.dirname(pyuvdata.__file__), "data")
for name in ("zen.2458661.23480.HH.uvh5", "zen.2458432.34569.uvh5", "mwa_integration_time.uvh5",
             "zen.2458661.23480.HH_oldproj_icrs.uvh5"):
    for path in glob.glob(os.path.join(folder, name)):
        launch(f"astrouvh5src location={path} ! astrofitssink location=wheel.uvfits")
        check(f"{name} is read", read("wheel.uvfits").Ntimes == read(path).Ntimes)

finish()
