"""Measurement Sets of ours beside uvh5 of the same stream, both read by pyuvdata; pyuvdata's sets read by us; and two
files of pyuvdata's as one set of ours."""
import warnings

import numpy as np
from astropy.coordinates import EarthLocation
from astropy.coordinates.sites import SiteRegistry
from astropy.utils.iers import conf
from pyuvdata import UVData

from checks import check, finish, launch

conf.auto_max_age = None  # the tables of astropy may be old
warnings.simplefilter("ignore")
# pyuvdata looks telescopes up in a list of places that astropy would download. With another, an unknown telescope is
# where its antennas are.
EarthLocation._site_registry = SiteRegistry.from_json({"nowhere": {
    "name": "nowhere", "aliases": [], "longitude": 0, "longitude_unit": "degree",
    "latitude": 0, "latitude_unit": "degree", "elevation": 0, "elevation_unit": "meter"}})
SKY = "astrovissrc stations=9 num-buffers=8 loss=0.2 sky=0.002,0.0015,2;-0.003,0.001,1"


def read(path):
    data = UVData()
    data.read(path)
    return data


def places(data):
    return data.telescope.antenna_positions + np.array(data.telescope._location.xyz())


def same(what, one, two):
    for data in (one, two):
        data.reorder_blts(order="time", minor_order="baseline")
    for name in ("data_array", "flag_array", "nsample_array", "freq_array"):
        a, b = getattr(one, name), getattr(two, name)
        check(f"{what}: {name} is the same", a.shape == b.shape and np.array_equal(a, b))
    check(f"{what}: times within a microsecond", abs(one.time_array - two.time_array).max() * 86400 < 5e-5)
    check(f"{what}: (u,v,w) within a millimetre", abs(one.uvw_array - two.uvw_array).max() < 1e-3)
    check(f"{what}: positions within a micrometre", abs(places(one) - places(two)).max() < 1e-6)
    check(f"{what}: units are the same", one.vis_units == two.vis_units, one.vis_units)


launch(f"{SKY} ! tee name=t ! queue ! astrouvh5sink location=ours.uvh5 t. ! queue ! astromssink location=ours.ms")
judged, ours = read("ours.uvh5"), read("ours.ms")
same("our set and uvh5", ours, judged)

ours.write_ms("theirs.ms", clobber=True)
launch("astromssrc location=theirs.ms ! astrouvh5sink location=theirs.uvh5")
same("pyuvdata's set, read by us", read("theirs.uvh5"), judged)

# Half the baselines of the first times are not in the file: they are not in what we write of it either.
judged = read("ours.uvh5")
middle = np.unique(judged.time_array)[4]
every_second = np.arange(judged.Nblts) % 2 == 0
few = judged.select(blt_inds=np.flatnonzero((judged.time_array < middle) & every_second), inplace=False)
rest = judged.select(blt_inds=np.flatnonzero(judged.time_array >= middle), inplace=False)
few.write_uvh5("few.uvh5", clobber=True)
rest.write_uvh5("rest.uvh5", clobber=True)
launch("astrouvh5src location=few.uvh5,rest.uvh5 ! astromssink location=parts.ms")
parts = read("parts.ms")
check("rows that are in no file are not in ours", parts.Nblts == few.Nblts + rest.Nblts, parts.Nblts)
same("two files of pyuvdata's as one set of ours", parts, few + rest)
finish()
