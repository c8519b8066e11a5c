"""baseband reads the recordings that astrorecordsink writes; run by "make check-interop"."""
import glob
import warnings

import numpy as np
from astropy import units as u
from astropy.time import Time
from baseband import dada, guppi, vdif
from checks import check, finish, launch

START = "2026-11-20T12:00:00"
STEPS = 200000  # 0.2 s at 1 MHz
SKY = ("astroskysrc stations={stations} pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.2 "
       f"start-time={START} block-steps=7777")
VOLTAGES = SKY + " ! application/x-astro-voltages,format={format}"
GAINS = {1: (1, 0), 2: (1, 0), 4: (2.95, .5), 8: (35.5, .5)}


def record(line, sink):
    """Writes the stream as it is beside the recording; tee keeps the two the same."""
    launch(f"{line} ! tee name=t t. ! queue ! filesink location=raw.bin t. ! queue ! astrorecordsink {sink}")


def complex_of(values):
    return values[..., 0] + 1j * values[..., 1]


def same(name, theirs, ours, start, late=0):
    check(f"baseband finds {name} as we wrote it", theirs.shape == ours.shape and np.array_equal(theirs, ours),
          (theirs.shape, ours.shape))
    apart = abs((start - Time(START)).to_value(u.ns) - late)
    check("and when it began", apart < 1, apart)


def written_dada():
    record(VOLTAGES.format(stations=1, format="CI8"), "format=dada location=v.dada")
    with dada.open("v.dada", "rs") as file:
        same("DADA", file.read(), complex_of(np.fromfile("raw.bin", np.int8).reshape(-1, 2, 2).astype(np.float32)),
             file.start_time)
        check("and its rate", file.sample_rate == 1 * u.MHz, file.sample_rate)
        check("and its band", file.header0["FREQ"] == 150 and file.header0["BW"] == 1)
    launch(VOLTAGES.format(stations=1, format="CI8") +
           " ! astrorecordsink format=dada location=many-%i.dada max-file-duration=60000000")
    with dada.open([f"many-{i:05d}.dada" for i in range(4)], "rs", verify="fix") as file:
        theirs = file.read()
    check("and the same in four files", np.array_equal(
        theirs, complex_of(np.fromfile("raw.bin", np.int8).reshape(-1, 2, 2)[:len(theirs)].astype(np.float32)))
        and len(theirs) >= 180000, theirs.shape)


def written_guppi():
    # baseband takes no block that is shorter than the first one: so whole blocks, of 1 MiB
    record(VOLTAGES.format(stations=1, format="CI8").replace("duration=0.2", "duration=1.1") +
           " ! astrochannelizer channels=16 taps=4 backend=cpu ! application/x-astro-spectra,format=CI8 ! "
           "astrotranspose layout=time:channel:station:pol backend=cpu", "format=guppi location=s.raw")
    ours = complex_of(np.fromfile("raw.bin", np.int8).reshape(-1, 16, 2, 2).astype(np.float32)).transpose(0, 2, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a shorter block at the end
        with guppi.open("s.raw", "rs") as file:
            theirs = file.read()
            # the filter bank swallows the first two spectra
            same("GUPPI", theirs, ours[:len(theirs)], file.start_time, late=32000)
            check("and nearly all of it", len(ours) >= len(theirs) >= len(ours) - 16384 and len(theirs) > 0,
                  (len(theirs), len(ours)))
            check("and its rate", abs(file.sample_rate.to_value(u.Hz) - 62500) < 1e-6, file.sample_rate)


def vdif_threads(name):
    """The samples of each thread and whether they are valid, frame by frame."""
    data, valid = {}, {}
    with vdif.open(name, "rb") as file:
        while True:
            try:
                frame = file.read_frame()
            except EOFError:
                break
            key = (frame["station_id"], frame["thread_id"])
            data.setdefault(key, []).append(np.asarray(frame.data)[:, 0])
            valid.setdefault(key, []).append(np.full(len(frame), bool(frame.valid)))
    keys = sorted(data)
    return np.stack([np.concatenate(data[k]) for k in keys], 1), np.stack([np.concatenate(valid[k]) for k in keys], 1)


def vdif_value(levels, bits):
    """baseband's values of levels that are signed integers."""
    if bits == 1:
        return 2 * levels + 1
    if bits == 2:
        return np.array([-3.316505, -1, 1, 3.316505])[levels + 2]
    if bits == 4:
        return levels / 2.95
    return levels + .5  # 8 bits: up to its scale


def written_vdif(bits):
    format, dtype = ("CI8", np.int8) if bits == 8 else ("CF32LE", np.float32)
    record(VOLTAGES.format(stations=2, format=format), f"format=vdif bits={bits} location=v.vdif")
    raw = np.fromfile("raw.bin", dtype).reshape(-1, 4, 2).astype(np.float64)
    if bits == 8:
        levels = raw.astype(int)
    else:
        rms = np.sqrt((raw[:16384] ** 2).mean((0, 2)))[None, :, None]
        gain, shift = GAINS[bits]
        levels = np.clip(np.floor(raw / rms * gain + shift), -2 ** (bits - 1), 2 ** (bits - 1) - 1).astype(int)
    theirs, valid = vdif_threads("v.vdif")
    ours = complex_of(vdif_value(levels, bits))
    if bits == 8:
        theirs = theirs * (abs(ours).max() / abs(theirs).max())
    apart = abs(theirs[:len(ours)] - ours)
    # in single precision a few samples lie on the other side of an edge
    check(f"baseband finds VDIF of {bits} bits as we wrote it", len(theirs) >= STEPS and (apart > .01).mean() < 1e-4,
          (theirs.shape, (apart > .01).mean()))
    check("all valid", valid[:STEPS].all())
    with vdif.open("v.vdif", "rb") as file:
        header = file.read_header()
    start = header.get_time(frame_rate=1e6 * u.Hz)
    check("at its time", abs((start - Time(START)).to_value(u.ns)) < 1, start)


def written_loss():
    """Frames with lost samples are invalid, and no others are."""
    launch(VOLTAGES.format(stations=1, format="CI8") + " ! astropay packet=vdif packet-steps=2500 loss=0.1 seed=3 ! "
           "astrodepay packet=vdif pols=2 rate=1000000 ! astrorecordsink format=vdif location=lost.vdif "
           "max-file-duration=100000000000")
    _, valid = vdif_threads(glob.glob("lost-*.vdif")[0])
    check("baseband sees which frames were lost", 0.05 < 1 - valid.mean() < 0.2, valid.mean())


def recorders_written():
    written_dada()
    written_guppi()
    for bits in (1, 2, 4, 8):
        written_vdif(bits)
    written_loss()


if __name__ == "__main__":
    recorders_written()
    finish()
