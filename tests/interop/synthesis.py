"""synthesis.py CLEANED DIRTY WSCLEAN SKY CENTRE [FRAME]: checks that the image of the graph synthesis has its sources
in the right places, in astropy's coordinates, and that the dirty image of its visibilities equals WSClean's. FRAME is
that of WSClean's coordinates: icrs (the default), or fk5 where the visibilities said ICRS and WSClean converted it."""
import sys

import numpy as np
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.wcs import WCS

from checks import check, finish
from peaks import peak

POSITION_TOLERANCE = 0.05  # pixels
FLUX_TOLERANCE = 0.02
DIFFERENCE = 1e-4  # rms, relative to the peak


def read(path):
    with fits.open(path) as hdus:
        return hdus[0].header, hdus[0].data[0, 0].astype(float)


def direction(l, m, centre):
    """The unit vector for l, m, from the vectors toward the centre, east and north."""
    ra, dec = np.deg2rad(centre)
    toward = np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])
    east = np.array([-np.sin(ra), np.cos(ra), 0])
    return l * east + m * np.cross(toward, east) + np.sqrt(1 - l * l - m * m) * toward


cleaned, dirty, theirs, sky, centre, *frame = sys.argv[1:]
centre = [float(number) for number in centre.split(",")]
header, image = read(cleaned)
world = WCS(header).celestial
for number, source in enumerate(sky.split(";"), 1):
    l, m, flux = [float(word) for word in source.split(",")]
    place = SkyCoord(*direction(l, m, centre), representation_type="cartesian", frame="icrs")
    place.representation_type = "unitspherical"
    x, y = [float(pixel) for pixel in world.world_to_pixel(place)]
    found_x, found_y, found = peak(image, x, y, 5)
    distance = np.hypot(found_x - x, found_y - y)
    check(f"source {number}, position", distance < POSITION_TOLERANCE, f"{distance:.3f} pixels away")
    check(f"source {number}, flux", abs(found / flux - 1) < FLUX_TOLERANCE, f"{found:.4f} Jy, wanted {flux:g}")

header, ours = read(dirty)
their_header, theirs = read(theirs)
corners = [[0, 0], [ours.shape[1] - 1, 0], [0, ours.shape[0] - 1], [ours.shape[1] - 1, ours.shape[0] - 1]]
both = [WCS(h).celestial.all_pix2world(corners, 0).T for h in (header, their_header)]
turned = SkyCoord(*both[1], unit="deg", frame=frame[0] if frame else "icrs").icrs
both[1] = [turned.ra.deg, turned.dec.deg]
ra, dec = [np.array(place) for place in zip(*both)]
pixels = max(np.abs((ra[0] - ra[1] + 180) % 360 - 180).max(), np.abs(dec[0] - dec[1]).max()) / abs(header["CDELT1"])
# casacore's J2000 is that of the dynamical equator, some 20 milliarcseconds from FK5.
check("the same positions as WSClean", pixels < (0.02 if frame else 0.01), f"within {pixels:.1e} pixels")
difference = np.sqrt(np.mean((ours - theirs) ** 2)) / theirs.max()
check("the dirty image equals WSClean's", difference < DIFFERENCE,
      f"rms of the difference over the peak {difference:.2e}")
finish()
