"""uvfits.py TRUTH UVFITS [IMAGE-PREFIX [STOKES]]: checks what astropy reads from a file, and WSClean's image of it."""
import sys

import numpy as np
from astropy import units
from astropy.io import fits
from astropy.time import Time

from checks import check, finish
from peaks import peak

LIGHT_SPEED = 299792458.0
POSITION_TOLERANCE = 1 / 3  # of a beam
FLUX_TOLERANCE = 0.03  # of Stokes I


def read_truth(path):
    truth = {"frequency": [], "station": [], "source": [], "uvw": [], "weight": [1, 1]}
    for line in open(path):
        key, *words = line.split()
        if key in truth:
            truth[key].append(words)
        elif key == "start":
            truth["start"] = Time(words[0].rstrip("Z"), scale="utc")
            truth["lengths"] = np.full(int(words[4]), float(words[2]))
            if words[5:6] == ["last"]:
                truth["lengths"][-1] = float(words[6])
        elif key == "weights":
            truth["weight"] = [float(word) for word in words]
        elif key == "phase":
            truth["phase"] = [float(word) for word in words]
    return truth


def check_file(truth, path):
    with fits.open(path) as hdus:
        header, data, table = hdus[0].header, hdus[0].data, hdus["AIPS AN"]
        names = [word[0] for word in truth["station"]]
        found = [name.strip() for name in table.data["ANNAME"]]
        check("station names", found == names, found[:3])
        middle = [table.header[f"ARRAY{axis}"] for axis in "XYZ"]
        wanted = np.array([[float(x) for x in words[1:]] for words in truth["station"]])
        error = np.abs(table.data["STABXYZ"] + middle - wanted).max()
        check("station positions", error < 1e-6, f"within {error:.1e} m")
        check("clock", table.header["TIMSYS"] == "UTC", table.header["TIMSYS"])

        channels = np.arange(header["NAXIS4"]) + 1 - header["CRPIX4"]
        frequencies = header["CRVAL4"] + channels * header["CDELT4"]
        wanted = np.array([float(words[0]) for words in truth["frequency"]])
        error = np.abs(frequencies - wanted).max()
        check("frequencies", error < 1e-3, f"within {error:.1e} Hz")

        # The second DATE has the same name; by name, astropy would add them up.
        zero = header["PZERO4"]
        days = np.float64(data.par(3)) - zero + np.float64(data.par(4))
        days, integration = np.unique(days, return_inverse=True)
        times = Time(zero, days, format="jd", scale="utc")
        lengths = truth["lengths"]
        middles = truth["start"] + (np.cumsum(lengths) - lengths / 2) * units.s
        error = np.abs((times - middles).sec).max() if len(times) == len(middles) else np.inf
        check("times, mid-integration", error < 1e-6, f"{len(times)} within {error:.1e} s")
        found = data.par("INTTIM")
        error = np.abs(found - lengths[integration]).max() if len(times) == len(lengths) else np.inf
        check("integration times", error < 1e-6, f"{found[0]} to {found[-1]}, within {error:.1e} s")
        place = [header["CRVAL6"], header["CRVAL7"]]
        error = np.abs(np.array(place) - truth["phase"]).max()
        check("phase centre", error < 1e-9, place)
        low, high = data.data[..., 2].min(), data.data[..., 2].max()
        check("weights", truth["weight"][0] <= low <= high == truth["weight"][1], f"{low} to {high}")
    if truth["uvw"]:
        error = float(truth["uvw"][0][0])
        check("(u,v,w) as casacore works them out", error < 1e-4, f"within {error:.1e} of a baseline")


def check_images(truth, prefix, parameters="IQUV"):
    for index, stokes in enumerate(parameters):
        # If there is only one, its name is not part of the file's.
        name = f"{prefix}-{stokes}-image.fits" if len(parameters) > 1 else f"{prefix}-image.fits"
        with fits.open(name) as hdus:
            header, image = hdus[0].header, hdus[0].data[0, 0].astype(float)
        beam = header["BMIN"] / abs(header["CDELT2"])
        for number, words in enumerate(truth["source"]):
            l, m, *flux = [float(word) for word in words]
            # SIN projection: pixels are proportional to direction cosines.
            x = header["CRPIX1"] - 1 + np.degrees(l) / header["CDELT1"]
            y = header["CRPIX2"] - 1 + np.degrees(m) / header["CDELT2"]
            found_x, found_y, found = peak(image, x, y, int(np.ceil(beam)))
            distance = np.hypot(found_x - x, found_y - y) / beam
            check(f"source {number + 1}, Stokes {stokes}, position", distance < POSITION_TOLERANCE,
                  f"{distance:.3f} of a beam away")
            error = abs(found - flux[index]) / flux[0]
            check(f"source {number + 1}, Stokes {stokes}, flux", error < FLUX_TOLERANCE,
                  f"{found:.4f} Jy, wanted {flux[index]:g}")


truth = read_truth(sys.argv[1])
check_file(truth, sys.argv[2])
if len(sys.argv) > 3:
    check_images(truth, *sys.argv[3:])
finish()
