#!/usr/bin/python3
"""Shows the contents of a UVFITS file, or a table of gains, as text (needs python3-astropy):
  look.py spectrum FILE [STATION]    mean power of a station in every channel, in dB below the strongest
  look.py fringe FILE [I-J]          phase and amplitude of a baseline against time, as means over the band
  look.py gains FILE [STATION]       phase, amplitude and S/N of a station's gains against time (of astrocalibrate)
"""
import sys

try:
    import numpy as np
    from astropy.io import fits
except ImportError as error:
    sys.exit(f"look.py: {error}: apt install python3-astropy, or pip install astropy")

WIDTH = 60  # width of the drawing in characters
FLOOR = -120  # dB


def read(path, first, second):
    """Visibilities time:channel of a baseline in the first product, with weights, seconds and Hz."""
    with fits.open(path) as hdus:
        header, data = hdus[0].header, hdus[0].data
        if not hasattr(data, "parnames"):
            sys.exit(f"{path}: not a UVFITS file: it has no visibilities in random groups")
        names = data.parnames
        if "BASELINE" in names:
            chosen = data.par("BASELINE") == 256 * first + second
        else:
            chosen = (data.par("ANTENNA1") == first) & (data.par("ANTENNA2") == second)
        if not chosen.any():
            sys.exit(f"{path}: no baseline of stations {first} and {second}")
        # A second DATE has the same name: astropy adds them up.
        days = data.par("DATE")[chosen].astype(float)
        values = data.data[chosen].astype(float)
        values = values.reshape(len(values), header["NAXIS4"], header["NAXIS3"], 3)[:, :, 0]
        channels = np.arange(header["NAXIS4"]) + 1 - header["CRPIX4"]
        frequencies = header["CRVAL4"] + channels * header["CDELT4"]
    return values[..., 0] + 1j * values[..., 1], values[..., 2], (days - days[0]) * 86400, frequencies


def mean(values, weights, axis):
    return (values * weights).sum(axis) / np.maximum(weights.sum(axis), 1)


def spectrum(path, station="1"):
    values, weights, _, frequencies = read(path, int(station), int(station))
    power = mean(values.real, weights, 0)
    decibels = 10 * np.log10(np.maximum(power / power.max(), 10 ** (FLOOR / 10)))
    for frequency, level in zip(frequencies, decibels):
        print(f"{frequency / 1e6:14.6f} MHz {level:8.2f} dB {'#' * round(WIDTH * (1 - level / FLOOR))}")


def fringe(path, baseline="1-2"):
    values, weights, seconds, _ = read(path, *sorted(int(word) for word in baseline.split("-")))
    for time, value in zip(seconds, mean(values, weights, 1)):
        place = round(WIDTH * (np.angle(value) / (2 * np.pi) + 0.5))
        print(f"{time:10.3f} s {np.degrees(np.angle(value)):8.2f} deg {abs(value):10.4g} {' ' * place}*")


def gains(path, station=""):
    with fits.open(path) as hdus:
        if "GAINS" not in hdus:
            sys.exit(f"{path}: there is no table GAINS, as astrocalibrate writes it")
        header, rows = hdus["GAINS"].header, hdus["GAINS"].data
        names = [str(name).strip() for name in rows["STATION"]]
        station = station or names[0]
        if station not in names:
            sys.exit(f"{path}: no station {station}: there are {names[0]} to {names[header['NSTATION'] - 1]}")
        middle = header["NGROUP"] // 2
        for name, row in zip(names, rows):
            pairs = row["GAIN"].reshape(header["NGROUP"], -1, 2)[middle]
            snr = np.reshape(row["SNR"], (header["NGROUP"], -1))[middle]
            for value, (re, im) in enumerate(pairs if name == station else []):
                gain, place = complex(re, im), round(WIDTH * (np.arctan2(im, re) / (2 * np.pi) + 0.5))
                told = f"{np.degrees(np.angle(gain)):8.2f} deg {abs(gain):10.4g} S/N {snr[value]:8.1f} {' ' * place}*"
                print(f"{np.mean(row['TIME']):10.3f} s {value} {told if snr[value] > 0 else 'flagged'}")


if __name__ == "__main__":
    commands = {"spectrum": spectrum, "fringe": fringe, "gains": gains}
    if not 3 <= len(sys.argv) <= 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    try:
        commands[sys.argv[1]](*sys.argv[2:])
    except (OSError, ValueError) as error:  # a missing file, not a FITS file, or not a number
        sys.exit(f"{sys.argv[2]}: {error}")
