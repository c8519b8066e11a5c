"""deep.py GST_ASTRO [STATIONS [SOURCES]]: deep images beside WSClean's, of one set, at equal settings.

Several channels of a sky of points with spectral indexes, and of a few extended sources, are imaged in major cycles by
the graph image and by WSClean: all channels as one with components of several sizes, each channel cleaned by itself,
and all together with a slope. WSClean does not pad, since its uniform weights are those of the padded grid. Compared
are the fluxes of bright sources in every channel, the noise of the residuals, and the slopes of the spectra; and the
residual is made anew from the visibilities, to see that it is true. 48 stations and 200 sources take minutes. To be
run where GStreamer finds the plugin. Pictures of both stay in the folder, for people to look at.
"""
import os
import subprocess
import sys
import warnings

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

from checks import check, finish, launch

warnings.filterwarnings("ignore")  # astropy's, of dates
ASTRO = sys.argv[1]
STATIONS, SOURCES = (int(v) for v in (sys.argv[2:] + ["24", "60"][len(sys.argv) - 2:])[:2])
SIZE, CELL, CHANNELS, FREQUENCY, BANDWIDTH = 512, 4, 3, 1.4e9, 0.3e9
RA, DEC, NOISE, THRESHOLD = 130.0, 34.0, 1000, 0.0015


def make_sky():
    """Lines "ra dec flux index". An extended source is a disk of many points."""
    random = np.random.default_rng(44)
    reach = 0.4 * SIZE * CELL / 3600
    lines = []

    def add(east, north, flux, index):
        lines.append((RA + east / np.cos(np.radians(DEC + north)), DEC + north, flux, index))

    for flux in np.concatenate([[1, 0.7, 0.5], 0.01 * random.uniform(size=SOURCES - 3) ** -0.8]):
        add(*random.uniform(-reach, reach, 2), min(flux, 1), random.normal(-0.7, 0.4))
    bright = sorted(lines, key=lambda line: -line[2])[:12]
    for _ in range(2):
        east, north = random.uniform(-reach, reach, 2)
        for radius, angle in zip(np.sqrt(random.uniform(size=150)), random.uniform(0, 2 * np.pi, 150)):
            add(east + radius * np.sin(angle) * 20 / 3600, north + radius * np.cos(angle) * 20 / 3600, 0.002, -0.5)
    with open("deep.txt", "w") as file:
        file.writelines(f"{ra:.8f} {dec:.8f} {flux:.6f} {index:.4f}\n" for ra, dec, flux, index in lines)
    return bright


def plane(path, hdu=0, channel=0):
    return fits.open(path)[hdu].data[0, channel].astype(float)


def peak(image, header, source):
    """The highest pixel within a pixel of a source."""
    x, y = (int(np.rint(v)) for v in WCS(header).celestial.wcs_world2pix(source[0], source[1], 0))
    return image[y - 1:y + 2, x - 1:x + 2].max()


def ours(name, settings):
    subprocess.run([ASTRO, "run", "image", "input=deep.ms", f"size={SIZE}", f"cell={CELL}", "iterations=20000",
                    "cycles=6", f"threshold={THRESHOLD}", "weighting=uniform", "images=all", "accuracy=1e-5",
                    f"output={name}.fits", f"picture={name}.png", "--quiet", *settings], check=True,
                   stdout=subprocess.DEVNULL)


def theirs(name, beam, settings):
    subprocess.run(["wsclean", "-quiet", "-j", "2", "-use-wgridder", "-wgridder-accuracy", "1e-5", "-name", name,
                    "-size", str(SIZE), str(SIZE), "-scale", f"{CELL}asec", "-weight", "uniform", "-no-mf-weighting",
                    "-padding", "1", "-niter", "20000", "-gain", "0.1", "-mgain", "0.8", "-threshold", str(THRESHOLD),
                    "-beam-shape", f"{beam['BMAJ'] * 3600}asec", f"{beam['BMIN'] * 3600}asec",
                    f"{beam['BPA']}deg", "-no-update-model-required", *settings, "deep.ms"], check=True,
                   env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)


def rms(image):
    return np.sqrt(np.mean(image[8:-8, 8:-8] ** 2))


def slope(fluxes):
    return np.polyfit(np.log(frequencies), np.log(fluxes), 1)[0]


bright = make_sky()
launch(f"astrovissrc sky=deep.txt array=vla-like stations={STATIONS} noise={NOISE} channels={CHANNELS} "
       f"frequency={FREQUENCY} bandwidth={BANDWIDTH} phase-centre={RA},{DEC} start-time=2026-11-20T05:00:00 "
       "integration=30 duration=1800 ! astromssink location=deep.ms")
frequencies = FREQUENCY + ((np.arange(CHANNELS) + 0.5) / CHANNELS - 0.5) * BANDWIDTH

each, split = ["per-channel=true"], ["-channels-out", str(CHANNELS)]
for name, channels, our_settings, their_settings in [
        ("scales", 1, ["scales=0,8,16,32"],
         ["-multiscale", "-multiscale-scales", "0,8,16,32", "-multiscale-shape", "gaussian"]),
        ("alone", CHANNELS, each, split),
        ("joined", CHANNELS, each + ["join=true", "spectral-terms=2", "spectra=spectra.fits"],
         split + ["-join-channels", "-fit-spectral-pol", "2"])]:
    ours(name, our_settings)
    header = fits.getheader(f"{name}.fits")
    theirs(name, header, their_settings)
    parts = [f"{name}-000{c}" for c in range(channels)] if channels > 1 else [name]
    fluxes = np.array([[[peak(plane(f"{name}.fits", 0, c), header, source),
                         peak(plane(f"{part}-image.fits"), fits.getheader(f"{part}-image.fits"), source)]
                        for c, part in enumerate(parts)] for source in bright])
    ratios, apart = fluxes[:, :, 0] / fluxes[:, :, 1], np.abs(fluxes[:, :, 0] - fluxes[:, :, 1])
    strong = fluxes[:, :, 1] > 50 * THRESHOLD  # what is below the threshold is cleaned by neither
    check(f"{name}: fluxes of {strong.sum() // channels} strong sources are WSClean's within 1 %",
          np.abs(ratios - 1)[strong].max() < 0.01, f"{ratios[strong].min():.4f} to {ratios[strong].max():.4f}")
    check(f"{name}: fluxes of {len(bright)} sources differ by no more than 1 % or 1.25 thresholds",
          (apart < np.maximum(0.01 * fluxes[:, :, 1], 1.25 * THRESHOLD)).all(), f"{apart.max():.5f} Jy/beam at most")
    noise = [rms(plane(f"{name}.fits", "RESIDUAL", c)) / rms(plane(f"{part}-residual.fits"))
             for c, part in enumerate(parts)]
    # WSClean's is often higher: it goes fewer times over the visibilities, and after its last cycle what it left is
    # found to be above the threshold (doc/imaging.md).
    check(f"{name}: the residual's rms is at most 5 % above WSClean's", max(noise) < 1.05,
          " ".join(f"{n:.4f}" for n in noise))
    launch(f"astromssrc location=deep.ms ! astrodegridder model={name}.fits subtract=true accuracy=1e-6 ! astrogridder "
           f"size={SIZE} cell={CELL} weighting=uniform per-channel={channels > 1} accuracy=1e-6 ! astrofft ! "
           f"astroimage ! astrofitssink location={name}-left.fits")
    left = [rms(plane(f"{name}-left.fits", 0, c) - plane(f"{name}.fits", "RESIDUAL", c)) /
            rms(plane(f"{name}.fits", "RESIDUAL", c)) for c in range(channels)]
    check(f"{name}: the residual is that of the visibilities without the model", max(left) < 1e-3, f"{max(left):.1e}")

slopes = np.array([[slope(f[:, 0]), slope(f[:, 1])] for f in fluxes[strong.all(axis=1)]])
check("spectral indexes of strong sources are WSClean's within 0.05", np.abs(slopes[:, 0] - slopes[:, 1]).max() < 0.05,
      f"{np.abs(slopes[:, 0] - slopes[:, 1]).max():.4f} at most")
indexes = fits.getdata("spectra.fits", "INDEX")[0, 0].astype(float)
true = np.array([source[3] for source in bright[:3]])
found = []
for source in bright[:3]:
    x, y = (int(np.rint(v)) for v in WCS(header).celestial.wcs_world2pix(source[0], source[1], 0))
    found.append(indexes[y, x])
check("spectral indexes of the brightest are those of the sky within 0.05", np.abs(found - true).max() < 0.05,
      " ".join(f"{f:.3f}/{t:.3f}" for f, t in zip(found, true)))
finish()
