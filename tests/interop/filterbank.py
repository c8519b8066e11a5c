"""blimpy reads the filterbanks that astrorecordsink writes, and we read blimpy's; run by "make check-interop"."""
import numpy as np
from blimpy import Waterfall

from checks import check, finish, launch

SPECTRA = ("astroskysrc stations=1 pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.2 "
           "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CF32LE ! "
           "astrochannelizer channels=15 ! astropower integration=20 products=I ! "
           "astrotranspose layout=time:station:pol:channel")


def theirs_of_ours():
    launch(f"{SPECTRA} ! tee name=t t. ! queue ! filesink location=raw.f32 t. ! queue ! "
           "astrorecordsink format=sigproc location=ours.fil")
    ours = np.fromfile("raw.f32", "<f4").reshape(-1, 1, 15)
    found = Waterfall("ours.fil")
    frequencies, data = found.container.populate_freqs(), found.data
    if frequencies[0] > frequencies[-1]:
        data = data[..., ::-1]
    check("blimpy finds our filterbank as it was", data.shape == ours.shape and np.array_equal(data, ours), data.shape)
    check("its times", abs(found.header["tstart"] - 61364.5) < 1e-3 and
          abs(found.header["tsamp"] - 20 * 15e-6) < 1e-12, (found.header["tstart"], found.header["tsamp"]))
    # an odd number of channels leaves the centre of the band where it was
    check("its frequencies", abs(np.mean(frequencies) - 150) < 1e-9 and abs(np.ptp(frequencies) - 14 / 15) < 1e-9,
          (min(frequencies), max(frequencies)))
    return found, ours


def ours_of_theirs(found, ours):
    found.write_to_fil("theirs.fil")
    launch("astrorecordsrc location=theirs.fil ! astrotranspose layout=time:pol:channel ! filesink location=back.f32")
    back = np.fromfile("back.f32", "<f4")
    check("we find blimpy's filterbank as it was", back.size == ours.size and np.array_equal(back, ours.ravel()),
          back.size)


if __name__ == "__main__":
    ours_of_theirs(*theirs_of_ours())
    finish()
