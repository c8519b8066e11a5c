"""astropy and `your` read the PSRFITS that astrofitssink writes, and we read what astropy writes by the standard's
formula; run by "make check-interop"."""
import importlib.metadata
import importlib.util

import numpy as np
from astropy.io import fits

from checks import check, finish, launch, verified

SPECTRA = ("astroskysrc stations=1 pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.2 "
           "start-time=2026-11-20T12:00:00 phase-centre=203.75,-30.25 ! application/x-astro-voltages,format=CF32LE ! "
           "astrochannelizer channels=15 ! astropower integration=20 {} ! "
           "astrotranspose layout=time:station:pol:channel")
STEP = 20 * 15e-6  # seconds of an integration


def write(name, products, more=""):
    launch(f"{SPECTRA.format('products=' + products)} ! tee name=t t. ! queue ! filesink location=raw.f32 t. ! queue ! "
           f"astrofitssink location={name} {more}")
    return np.fromfile("raw.f32", "<f4").reshape(-1, len(products.split(":")), 15)


def theirs_of_ours():
    ours = write("ours.sf", "I:Q:U:V")
    check("fitsverify finds nothing wrong", verified("ours.sf"))
    with fits.open("ours.sf") as found:
        table, header, first = found["SUBINT"].data, found["SUBINT"].header, found[0].header
        data = table["DATA"][..., 0].astype("f8")
        values = data * table["DAT_SCL"].reshape(-1, 1, 4, 15) + table["DAT_OFFS"].reshape(-1, 1, 4, 15)
        values = values.reshape(-1, 4, 15)[:header["NSTOT"]]
        values[:, 3] *= -1  # the pulsar astronomers' V
        check("astropy finds our Stokes parameters", values.shape == ours.shape and np.array_equal(values, ours),
              values.shape)
        check("their kind", (first["FITSTYPE"], first["OBS_MODE"], header["POL_TYPE"]) == ("PSRFITS", "SEARCH", "IQUV"))
        check("the start", (first["STT_IMJD"], first["STT_SMJD"]) == (61364, 43200))
        check("the direction", (first["RA"], first["DEC"]) == ("13:35:00.000000", "-30:15:00.00000"),
              (first["RA"], first["DEC"]))
        check("times of rows", np.allclose(table["OFFS_SUB"], header["NSBLK"] * STEP * (np.arange(len(table)) + 0.5)))
        check("frequencies", np.allclose(table["DAT_FREQ"][0], 150 + (np.arange(15) - 7) / 15, atol=1e-9))
        check("weights", np.all(table["DAT_WTS"] == 1))


def psrfits_of_your():
    """The module alone: the package imports much that reading does not need."""
    path = importlib.metadata.distribution("your").locate_file("your/formats/psrfits.py")
    spec = importlib.util.spec_from_file_location("your_psrfits", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def your_of_ours():
    module = psrfits_of_your()
    for bits in 32, 8:
        ours = write("total.sf", "I", f"bits={bits}")[:, 0]
        found = module.PsrfitsFile(["total.sf"])
        data = found.get_data(0, len(ours))[:, 0]
        bound = 0 if bits == 32 else np.ptp(ours, axis=0) / 255 * 0.501
        check(f"your finds our power in {bits} bits", data.shape == ours.shape and np.all(abs(data - ours) <= bound),
              data.shape)
        check("its times", abs(found.tstart - 61364.5) < 1e-9 and abs(found.native_tsamp() - STEP) < 1e-15)
        check("its band", abs(found.fch1 - (150 - 7 / 15)) < 1e-9 and abs(found.native_foff() - 1 / 15) < 1e-9)
        check("its direction", abs(found.ra_deg - 203.75) < 1e-6 and abs(found.dec_deg + 30.25) < 1e-6)


def column(name, form, values):
    return fits.Column(name, form, array=np.asarray(values))


def ours_of_theirs():
    """Four bits of AABBCRCI with falling channels, a zero offset and a channel that is lost in one row."""
    rows, block, pols, channels, any_number = 3, 32, 4, 6, np.random.default_rng(5)
    numbers = any_number.integers(0, 16, (rows, block, pols, channels))
    scales, offsets = any_number.random((2, rows, pols, channels)).astype("f4")
    weights = np.ones((rows, channels), "f4")
    weights[1, 2] = 0
    flat = numbers.reshape(rows, -1)
    first = fits.PrimaryHDU()
    for key, value in {"FITSTYPE": "PSRFITS", "OBS_MODE": "SEARCH", "TELESCOP": "GBT", "FD_POLN": "LIN", "FD_HAND": 1,
                       "BE_PHASE": 1, "STT_IMJD": 60000, "STT_SMJD": 1, "STT_OFFS": 0.5}.items():
        first.header[key] = value
    table = fits.BinTableHDU.from_columns([
        column("OFFS_SUB", "1D", (np.arange(rows) + 0.5) * block * 1e-3),
        column("DAT_FREQ", f"{channels}D", np.tile(1500.0 - np.arange(channels), (rows, 1))),
        column("DAT_WTS", f"{channels}E", weights),
        column("DAT_OFFS", f"{channels * pols}E", offsets.reshape(rows, -1)),
        column("DAT_SCL", f"{channels * pols}E", scales.reshape(rows, -1)),
        column("DATA", f"{flat.shape[1] // 2}B", (flat[:, ::2] << 4 | flat[:, 1::2]).astype("u1"))], name="SUBINT")
    for key, value in {"NCHAN": channels, "NPOL": pols, "NSBLK": block, "NBITS": 4, "TBIN": 1e-3, "CHAN_BW": -1.0,
                       "POL_TYPE": "AABBCRCI", "ZERO_OFF": 7.5}.items():
        table.header[key] = value
    fits.HDUList([first, table]).writeto("theirs.sf", overwrite=True)
    expected = (numbers - 7.5) * scales[:, None] + offsets[:, None]
    expected[:, :, 3] *= -1  # CI is of conj(X) Y
    expected[1, :, :, 2] = 0
    launch("astrofitssrc location=theirs.sf ! filesink location=back.f32")
    back = np.fromfile("back.f32", "<f4").reshape(-1, pols, channels)
    wanted = expected[..., ::-1].reshape(back.shape)
    check("we find astropy's power by the formula", np.allclose(back, wanted, atol=1e-5), np.abs(back - wanted).max())


if __name__ == "__main__":
    theirs_of_ours()
    your_of_ours()
    ours_of_theirs()
    finish()
