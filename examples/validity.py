#!/usr/bin/env python3
"""validity.py [LOST]: reads and writes the caps, observation and validity of a stream in Python.

Simulated voltages of two stations go through an appsink into Python, which prints their description and how many
samples are good, marks LOST steps of the second station (default 100) as lost, renames the station, and sends them
through an appsrc to astrochannelizer, which counts the good samples behind each spectrum.

Needs python3-gi, gir1.2-gstreamer-1.0 and gst-astro's typelib, found by GI_TYPELIB_PATH, pkg-config or beside this
file."""
import glob
import os
import subprocess
import sys

import gi

gi.require_version("GIRepository", "2.0")
gi.require_version("Gst", "1.0")
from gi.repository import GIRepository, Gst


def find_typelib():
    """Finds the typelib in an install or a build tree, and the library beside it."""
    ask = ["pkg-config", "--variable=typelibdir", "gst-astro-1.0"]
    told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    here = os.path.dirname(os.path.realpath(__file__))
    installed = [found for depth in ("", "/*") for found in glob.glob(f"{here}/../../../lib*{depth}/girepository-1.0")]
    places = [told, *installed, here + "/../build/core/api"]
    for place in places:
        if place and os.path.exists(place + "/GstAstro-1.0.typelib"):
            GIRepository.Repository.prepend_search_path(place)
            for libraries in (place + "/..", place + "/.libs"):
                GIRepository.Repository.prepend_library_path(os.path.realpath(libraries))
            return


find_typelib()
gi.require_version("GstAstro", "1.0")
from gi.repository import GstAstro

SOURCE = """astroskysrc name=source stations=2 pols=1 num-buffers=1 noise=1
    ! application/x-astro-voltages,format=CF32LE,layout=time:station:pol ! appsink name=out sync=false"""
SPECTRA = """appsrc name=in format=time ! astrochannelizer channels=8
    ! application/x-astro-spectra,format=CF32LE ! appsink name=out sync=false"""


def pull(pipeline):
    """Returns the next buffer of a pipeline's appsink, with its caps and observation."""
    out = pipeline.get_by_name("out")
    sample = out.emit("pull-sample")
    if sample is None:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        sys.exit(message.parse_error()[0].message if message else "the stream ended")
    event = out.get_static_pad("sink").get_sticky_event(Gst.EventType.CUSTOM_DOWNSTREAM_STICKY, 0)
    return sample.get_buffer(), sample.get_caps(), event


def main():
    lost = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    Gst.init(None)
    source = Gst.parse_launch(SOURCE)
    source.set_state(Gst.State.PLAYING)
    buffer, caps, event = pull(source)

    # The caps become a description of the stream, and caps again.
    stream = GstAstro.Stream()
    stream.from_caps(caps)
    shape = stream.get_shape(stream.steps(buffer.get_size())[1])
    print(GstAstro.quantity_name(stream.quantity), GstAstro.format_name(stream.format),
          ", ".join(f"{shape.get_axis(i)} {shape.get_extent(i)}" for i in range(shape.n_axes)))
    assert stream.to_caps().is_equal(caps)

    # The observation says which array the samples come from.
    observation = GstAstro.Observation.from_event(event)
    print("seen by", observation.telescope, "from", observation.get_start())
    _, name, x, y, z = observation.get_station(1)
    observation = observation.copy()
    observation.set_station(1, name + "-mended", x, y, z)

    # Validity counts over time and station say which samples are good; before, all were.
    steps = shape.get_extent(0)
    print("lost before:", GstAstro.buffer_get_validity(buffer))
    counts = [1] * (2 * steps)
    for step in range(lost):
        counts[2 * step + 1] = 0
    marked = buffer.copy_deep()  # ours alone, so that it may be written
    GstAstro.buffer_set_counts(marked, stream, "time:station", 1, counts)
    print("lost now:", GstAstro.buffer_get_counts(marked).count(0), "of", len(counts), "samples, counted over",
          GstAstro.buffer_get_validity(marked).get_axes())
    stream.has_counts = True
    source.set_state(Gst.State.NULL)

    # Send them on through an element that uses the counts.
    spectra = Gst.parse_launch(SPECTRA)
    appsrc = spectra.get_by_name("in")
    appsrc.set_property("caps", stream.to_caps())
    spectra.set_state(Gst.State.PLAYING)
    appsrc.send_event(observation.to_event())
    appsrc.emit("push-buffer", marked)
    appsrc.emit("end-of-stream")
    out, caps, event = pull(spectra)
    made = GstAstro.Stream()
    made.from_caps(caps)
    good, validity = GstAstro.buffer_get_counts(out), GstAstro.buffer_get_validity(out)
    print(made.steps(out.get_size())[1], "spectra a station,",
          sum(0 < n < validity.full for n in good), "of", validity.full,
          "samples less the lost ones and", good.count(0), "of none; counted over", validity.get_axes())
    print("station 1 is", GstAstro.Observation.from_event(event).get_station(1)[1])
    spectra.set_state(Gst.State.NULL)


main()
