"""Images of visibilities."""
import numpy as np

from gstastro.blocks import Block
from gstastro.library import GstAstro
from gstastro.pipeline import Pipeline

# Rows are dealt to the baselines of this many stations, of which each step has all: 2016 rows and 64 of a station with
# itself, which have no values.
_STATIONS = 64
_MOST = 2**31 - 1  # the count of the greatest weight


def _band(frequencies):
    """The middle and the width of a band of channels."""
    n = len(frequencies)
    if n == 1:
        return frequencies[0], frequencies[0] * 1e-6
    step = (frequencies[-1] - frequencies[0]) / (n - 1)
    if not step > 0 or np.abs(frequencies - frequencies[0] - step * np.arange(n)).max() > 1e-6 * step:
        raise ValueError("the frequencies must rise evenly: make an image of each evenly spaced part, and add them")
    return (frequencies[0] + frequencies[-1]) / 2, n * step


def _counts(weights):
    """Weights as counts of good samples, the greatest being full."""
    if not np.all(np.isfinite(weights)) or weights.min() < 0:
        raise ValueError("weights must be numbers from 0 on")
    greatest = weights.max()
    if not greatest > 0:
        raise ValueError("all weights are 0")
    counts = np.rint(weights * (_MOST / greatest)).astype(np.uint32)
    if np.any((counts == 0) & (weights > 0)):
        raise ValueError(f"the weights reach from {weights[weights > 0].min():g} to {greatest:g}, "
                         f"and all but 0 must be at least {greatest / _MOST:g}")
    return counts


def image(uvw, visibilities, frequencies, size, cell, weights=None, **properties):
    """The dirty image of visibilities of Stokes I, as numpy array [y, x], whose source of 1 Jy has a peak of 1.

    uvw           metres, [row, 3]
    visibilities  complex, [row, channel]; NaN: missing
    frequencies   of the channels in Hz, evenly spaced
    size          in pixels, along both axes
    cell          of a pixel, arcsec
    weights       like visibilities; 0: missing
    properties    of astrogridder, such as accuracy=1e-5, weighting="uniform", backend="cuda"

    A source at the direction cosines l (to the east), m (to the north) has the visibility exp(+2 pi i (u l + v m +
    w (n - 1)) / wavelength), as in blocks and in Measurement Sets of gst-astro. The centre is at the pixel [size //
    2, size // 2]; l falls with x, as right ascension rises to the left, and m rises with y. ducc0's
    vis2dirty(divide_by_n=False) takes -u, -v and w for that, has the axes [l, m] with l rising, and does not divide
    by the sum of the weights."""
    uvw = np.asarray(uvw, float)
    visibilities = np.asarray(visibilities)
    frequencies = np.atleast_1d(np.asarray(frequencies, float))
    if uvw.ndim != 2 or uvw.shape[1] != 3 or visibilities.shape != (len(uvw), len(frequencies)) or not len(uvw):
        raise ValueError(f"uvw is [row, 3] and visibilities [row, channel]: found {uvw.shape} and "
                         f"{visibilities.shape} for {len(frequencies)} frequencies")
    weights = np.ones(visibilities.shape) if weights is None else np.asarray(weights, float)
    if weights.shape != visibilities.shape:
        raise ValueError(f"weights have the shape {weights.shape}, and visibilities {visibilities.shape}")
    missing = ~np.isfinite(visibilities)
    counts = _counts(np.where(missing, 0, weights))
    double = visibilities.dtype == np.complex128
    format, dtype = ("CF64LE", "<c16") if double else ("CF32LE", "<c8")

    first, second = np.tril_indices(_STATIONS)
    places = np.flatnonzero(first != second)
    steps = max(2, -(-len(uvw) // len(places)))  # a single step has no axis of time
    rows = np.zeros((steps, len(first)), int) - 1
    padded = np.full(steps * len(places), -1)
    padded[:len(uvw)] = np.arange(len(uvw))
    rows[:, places] = padded.reshape(steps, -1)
    is_row = (rows >= 0)[..., None]

    observation = GstAstro.Observation.new(_STATIONS)
    observation.has_phase_centre, observation.phase_ra, observation.phase_dec = True, 0.0, 0.0
    observation.set_start("2000-01-01T00:00:00")
    observation.basis = "stokes"
    for i in range(_STATIONS):
        observation.set_station(i, f"row{i}", 6.4e6, float(i), 0.0)
    observation.uvw_metres = float(np.sqrt((uvw**2).sum(axis=1)).max()) or 1.0
    frequency, bandwidth = (float(hertz) for hertz in _band(frequencies))
    caps = (f"application/x-astro-visibilities,format={format},layout=channel:baseline:pol:pol,"
            f"channels={len(frequencies)},baselines={len(first)},pols=1,rate=(fraction)1/1,"
            f"frequency=(double){frequency!r},bandwidth=(double){bandwidth!r},counts=true")

    def channels_first(values):
        """[row, channel] as [step, channel, baseline], with zeros for the baselines that have no row."""
        return np.where(is_row, values[rows], 0).transpose(0, 2, 1)

    samples = channels_first(np.where(missing, 0, visibilities)).astype(dtype)
    block = Block.make(caps, samples[..., None, None], validity=channels_first(counts),
                       validity_axes=("time", "channel", "baseline"), full=_MOST, uvw=np.where(is_row, uvw[rows], 0.0),
                       observation=observation, time=0, duration=steps)
    told = {"size": size, "cell": cell, **properties}
    text = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in told.items())
    with Pipeline(f"astrogridder {text} ! astrofft ! astroimage", source=[block]) as pipeline:
        made = list(pipeline)[-1]
    return np.array(made.samples).reshape(made.extents[-2:])
