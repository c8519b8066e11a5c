"""numpy's einsum forms the same beams as astrobeamform, with directions from ERFA; run by "make check-interop". Weights
are random, by station and channel. The array is so small that the aberration of its own turning does not matter, and
that phases stay for as long as they ever do: 2^20 spectra, with those of their middle."""
import erfa
import numpy as np

from checks import check, finish, launch

STATIONS, POLS, CHANNELS, SPECTRA = 7, 2, 16, 200
FREQUENCY, BANDWIDTH = 150e6, 16e6
BEAMS = np.array([[0.004, 0.003], [0, 0], [-0.02, 0.011]])
EDGE = 24  # spectra at either end, some of whose samples are missing
LIGHT = 299792458.0
LATITUDE, LONGITUDE = np.radians([52.9, 6.9])
MIDDLE = (2026, 11, 20, 12, 0, 2**19 / (BANDWIDTH / CHANNELS))  # UTC


def earth():
    """ERFA's description of where the Earth is, and its angle; UT1 is UTC, as in our simulations."""
    utc = erfa.dtf2d("UTC", *MIDDLE)
    tt = erfa.taitt(*erfa.utctai(*utc))
    return erfa.apci13(*tt)[0], erfa.era00(*utc)


def towards(ra, dec):
    """The apparent direction in the frame of the Earth."""
    astrom, angle = earth()
    ra, dec = erfa.atciqz(ra, dec, astrom)
    return erfa.s2c(ra - angle, dec).T


def directions(ra, dec):
    """Those of the beams, whose l and m are east and north of the phase centre."""
    l, m = BEAMS.T
    n = np.sqrt(1 - l * l - m * m)
    return towards(ra + np.arctan2(l, n * np.cos(dec) - m * np.sin(dec)), np.arcsin(n * np.sin(dec) + m * np.cos(dec)))


def write_stations(rng):
    """A file of stations, east and north of a place, and where they are in the frame of the Earth."""
    places = rng.uniform(-60, 60, (STATIONS, 2)).round(3)
    with open("stations.txt", "w") as file:
        file.write(f"site {np.degrees(LATITUDE)} {np.degrees(LONGITUDE)}\n")
        for s, (east, north) in enumerate(places):
            file.write(f"{east} {north} 0 S{s}\n")
    east = np.array([-np.sin(LONGITUDE), np.cos(LONGITUDE), 0])
    north = np.array([-np.sin(LATITUDE) * np.cos(LONGITUDE), -np.sin(LATITUDE) * np.sin(LONGITUDE), np.cos(LATITUDE)])
    return places @ np.array([east, north])


def write_weights(rng):
    """A file of weights, and the weights: [channel][station]."""
    amplitudes = rng.uniform(0.2, 3, (CHANNELS, STATIONS))
    degrees = rng.uniform(-180, 180, (CHANNELS, STATIONS))
    with open("weights.txt", "w") as file:
        for c in range(CHANNELS):
            for s in range(STATIONS):
                file.write(f"S{s} {c} {amplitudes[c, s]:.9g} {degrees[c, s]:.9g}\n")
    return amplitudes * np.exp(1j * np.radians(degrees))


def form(spectra, seconds, weights):
    channels = FREQUENCY + BANDWIDTH * (np.arange(CHANNELS) / CHANNELS - 0.5)  # the lowest lies on the band's edge
    phases = np.exp(-2j * np.pi * np.einsum("c,sb->csb", channels, seconds))
    return np.einsum("cs,csb,tspc->tbpc", weights, phases, spectra) / np.abs(weights).sum(axis=1)


def compare(seconds, weights, sent, formed):
    wanted = form(sent, seconds, weights)[EDGE:-EDGE]
    return np.abs(formed - wanted).max() / np.abs(wanted).max()


def main():
    rng = np.random.default_rng(39)
    places, weights = write_stations(rng), write_weights(rng)
    places -= places.mean(axis=0)
    ra, dec = (earth()[1] + LONGITUDE) % (2 * np.pi), LATITUDE - 0.1  # near the zenith
    seconds = places @ (directions(ra, dec) - towards(ra, dec)[:, None]) / LIGHT
    beams = ";".join(f"{l},{m}" for l, m in BEAMS)
    launch(f"astroskysrc stations={STATIONS} pols={POLS} array=stations.txt sky=0.004,0.003,20 noise=10 seed=4 "
           f"frequency={FREQUENCY} bandwidth={BANDWIDTH} duration={SPECTRA * CHANNELS / BANDWIDTH} "
           f"phase-centre={np.degrees(ra)},{np.degrees(dec)} start-time=2026-11-20T12:00:00 ! "
           "application/x-astro-voltages,format=CF32LE ! astrodelay ! "
           f"astrochannelizer channels={CHANNELS} ! application/x-astro-spectra,format=CF32LE ! tee name=t "
           "t. ! queue ! astrotranspose layout=time:station:pol:channel ! filesink location=spectra.bin "
           f"t. ! queue ! astrobeamform beams={beams} weights=weights.txt ! "
           "astrotranspose layout=time:beam:pol:channel ! filesink location=beams.bin")
    sent = np.fromfile("spectra.bin", "<c8").reshape(-1, STATIONS, POLS, CHANNELS)
    formed = np.fromfile("beams.bin", "<c8").reshape(-1, len(BEAMS), POLS, CHANNELS)[EDGE:-EDGE]
    check("as many spectra of beams as of stations", len(formed) == len(sent) - 2 * EDGE > 100, len(formed))
    apart = compare(seconds, weights, sent, formed)
    check("beams as by einsum, of the largest", apart < 1e-5, f"{apart:.1e}")
    wrong = compare(-seconds, weights, sent, formed)
    check("which delays of the other sign are not", wrong > 0.1, f"{wrong:.2g}")


if __name__ == "__main__":
    main()
    finish()
