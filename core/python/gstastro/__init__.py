"""Streams of radio telescopes and of sky catalogues as numpy arrays, in and out of GStreamer pipelines.

    import gstastro

    with gstastro.Pipeline("astrovissrc stations=4 num-buffers=3") as pipeline:
        for block in pipeline:
            print(block.axes, block.samples.shape, block.time)

Block         a buffer: its samples without a copy, their axes, validity and observation
Pipeline      runs a gst-launch line; gives its blocks, and takes blocks
graph         the line of a ready graph
Stage         a stage written in Python: numpy in, numpy out, in any pipeline
pairs         counts pairs of points on the sky
image         makes an image of visibilities in arrays
to_dlpack     samples on a GPU for CuPy, torch and JAX, without a copy

The library itself, with caps, observations and validity, is gi.repository.GstAstro."""
from gstastro.library import Gst, GstAstro
from gstastro.blocks import Block, Stream, complex_of

from gstastro.dlpack import to_dlpack
from gstastro.graph import graph
from gstastro.image import image
from gstastro.pairs import pairs
from gstastro.pipeline import Error, Pipeline
from gstastro.stage import Stage

__all__ = ["Block", "Error", "Gst", "GstAstro", "Pipeline", "Stage", "Stream", "complex_of", "graph", "image",
           "pairs", "to_dlpack"]
