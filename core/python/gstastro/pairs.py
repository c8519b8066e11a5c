"""Counts of pairs of points on the sky."""
from typing import NamedTuple

import numpy as np

from gstastro.blocks import Block
from gstastro.library import Gst
from gstastro.pipeline import Pipeline

_ARCMIN = {"arcmin": 1.0, "deg": 60.0, "arcsec": 1 / 60, "rad": 60 * 180 / np.pi}


class Pairs(NamedTuple):
    """counts: pairs in each bin, or [region, region, bin]; weights: sums of products of weights, or None."""
    counts: np.ndarray
    weights: np.ndarray
    edges: np.ndarray


def _catalogue(ra, dec, weights, regions):
    columns = {"ra": np.asarray(ra, float), "dec": np.asarray(dec, float)}
    if weights is not None:
        columns["weight"] = np.asarray(weights, float)
    if regions is not None:
        columns["region"] = np.asarray(regions, float)
    n = {name: values.shape for name, values in columns.items()}
    if len(set(n.values())) != 1 or columns["ra"].ndim != 1:
        raise ValueError(f"all columns must be of one length, found {n}")
    return Block.make("application/x-astro-catalogue,format=F64LE,layout=column:point,columns=" + ":".join(columns),
                      np.stack(list(columns.values())))


def pairs(ra, dec, edges, weights=None, regions=None, ra2=None, dec2=None, weights2=None, regions2=None, unit="arcmin",
          **properties):
    """Counts pairs of points by their angle.

    ra, dec        degrees
    edges          of the bins, rising; unit says of which unit: arcmin, deg, arcsec or rad
    weights        of the points: also gives sums of products of weights
    regions        whole numbers from 0 on: counts are then over pairs of regions
    ra2 ...        of a second set of points, each of whose pairs with the first is counted
    properties     of astrohistogram, such as backend="cuda", threads=4

    Each pair of one set is counted once; Corrfunc counts it twice, in autocorr=1. Bin k has the pairs with
    edges[k] <= angle < edges[k + 1]."""
    if unit not in _ARCMIN:
        raise ValueError(f"unit is one of {', '.join(_ARCMIN)}: found {unit}")
    edges = np.asarray(edges, float)
    sides = {"data": _catalogue(ra, dec, weights, regions)}
    if ra2 is not None:
        sides["data2"] = _catalogue(ra2, dec2, weights2, regions2)
    told = {"edges": ",".join(repr(float(edge)) for edge in edges * _ARCMIN[unit])}
    if regions is not None:
        told["regions"] = int(max(np.max(regions), np.max(regions2) if regions2 is not None else 0)) + 1
    told.update((name.replace("_", "-"), value) for name, value in properties.items())
    text = " ".join(f'{name}="{value}"' for name, value in told.items())
    line = f"astrohistogram name=pairs {text}" + "".join(f" appsrc name={side} ! pairs.{side}" for side in sides)
    with Pipeline(line, {side: [block] for side, block in sides.items()}) as pipeline:
        block = list(pipeline)[-1]
        event = pipeline.sticky("astro-histogram")
    found = np.array(block.samples)[0]
    if block.stream.format == "U64LE":
        return Pairs(found, None, edges)
    counts = np.frombuffer(event.get_value("counts").get_data(), np.uint64).reshape(block.extents)[0]
    return Pairs(counts.copy(), found, edges)
