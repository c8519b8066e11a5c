"""images.py, to be run where GStreamer finds the plugin: astropy reads our images, and we read astropy's."""
import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

from checks import check, finish, launch, verified

SIZE = 64
PIXEL = 2.5e-4


def read(path, shape, kind="<f4"):
    launch(f"astrofitssrc location={path} ! filesink location=pixels.raw")
    return np.fromfile("pixels.raw", kind).reshape(shape)


def theirs(shape, axes, dtype, projection="SIN"):
    """An image file by astropy, with noise for pixels."""
    pixels = np.random.default_rng(1).normal(size=shape).astype(dtype)
    header = fits.Header()
    for i, (name, value, pixel, delta) in enumerate(axes, 1):
        header[f"CTYPE{i}"], header[f"CRVAL{i}"] = name, value
        header[f"CRPIX{i}"], header[f"CDELT{i}"] = pixel, delta
    header["BMAJ"], header["BMIN"], header["BPA"] = 0.02, 0.01, 40.0
    header["DATE-OBS"] = "2026-11-20T12:34:56.7"
    header["EQUINOX"] = 2000.0
    return pixels, fits.PrimaryHDU(pixels, header)


degrees = np.rad2deg(PIXEL)
# The phase centre 20.25 pixels right of the middle and 7.5 above it.
sky = [("RA---SIN", 123.25, SIZE / 2 + 1 + 20.25, -degrees), ("DEC--SIN", -33.5, SIZE / 2 + 1 + 7.5, degrees)]
band = ("FREQ", 149e6, 1, 1e6)
stokes = ("STOKES", 1, 1, 1)

for name, shape, axes, dtype in [("two", (SIZE, SIZE), sky, ">f4"), ("three", (3, SIZE, SIZE), sky + [band], ">f4"),
                                 ("four", (2, 3, SIZE, SIZE), sky + [band, stokes], ">f8")]:
    pixels, hdu = theirs(shape, axes, dtype)
    hdu.writeto(f"{name}.fits")
    expected = pixels if len(shape) < 4 else pixels.transpose(1, 0, 2, 3)
    check(f"reading {len(shape)} axes", np.array_equal(read(f"{name}.fits", expected.shape, "<" + dtype[1:]), expected))
    launch(f"astrofitssrc location={name}.fits ! astrofitssink location={name}-ours.fits")
    with fits.open(f"{name}-ours.fits") as ours:
        header, written = ours[0].header, ours[0].data
        check(f"writing {len(shape)} axes", np.array_equal(written.reshape(shape), pixels))
        check(f"fitsverify of {len(shape)} axes", verified(f"{name}-ours.fits"))
        beam = [header[key] for key in ("BMAJ", "BMIN", "BPA")]
        check("the beam", np.allclose(beam, [0.02, 0.01, 40], rtol=1e-14), beam)
        check("the date", header["DATE-OBS"].startswith("2026-11-20T12:34:56.7"), header["DATE-OBS"])
        corners = np.array([[0, 0], [SIZE - 1, 0], [0, SIZE - 1], [SIZE - 1, SIZE - 1], [5, 50]])
        places = [WCS(h).celestial.all_pix2world(corners, 0) for h in (hdu.header, header)]
        check("coordinates", np.allclose(*places, rtol=0, atol=1e-11), f"{np.abs(np.subtract(*places)).max():g} deg")
        if len(shape) > 2:
            frequencies = [WCS(h).spectral.all_pix2world(np.arange(3), 0)[0] for h in (hdu.header, header)]
            check("frequencies", np.allclose(*frequencies, rtol=1e-14))

integers = np.arange(SIZE * SIZE, dtype="i2").reshape(SIZE, SIZE)
hdu = fits.PrimaryHDU(integers.astype("f8") * 0.25 - 100)
hdu.scale("int16", bscale=0.25, bzero=-100)
hdu.writeto("integers.fits")
check("reading scaled integers", np.array_equal(read("integers.fits", (SIZE, SIZE)), integers * np.float32(0.25) - 100))

# Pixel (y, x) stands for l = centre-l + (width/2 - x) pixel, m = centre-m + (y - height/2) pixel.
ra, dec = np.deg2rad([123.25, -33.5])
y, x = np.indices((SIZE, SIZE))
l = 20.25 * PIXEL + (SIZE // 2 - x) * PIXEL
m = -7.5 * PIXEL + (y - SIZE // 2) * PIXEL
n = np.sqrt(1 - l**2 - m**2)
expected_dec = np.rad2deg(np.arcsin(m * np.cos(dec) + n * np.sin(dec)))
expected_ra = np.rad2deg(ra + np.arctan2(l, n * np.cos(dec) - m * np.sin(dec)))
world = WCS(fits.getheader("two-ours.fits")).celestial.all_pix2world(x, y, 0)
error = max(np.abs(world[0] - expected_ra).max(), np.abs(world[1] - expected_dec).max())
check("coordinates as the stream means them", error < 1e-11, f"{error:g} deg")
finish()
