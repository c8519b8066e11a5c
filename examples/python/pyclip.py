"""pyclip: an element written in Python. It limits power to a multiple of its median over time.

    GST_PLUGIN_PATH=examples PYTHONPATH=core/python gst-launch-1.0 astroskysrc num-buffers=8 \\
      ! astrochannelizer channels=64 ! astropower integration=16 ! pyclip limit=3 ! astrofitssink location=clipped.fits

GStreamer finds it in the folder python/ of a folder in GST_PLUGIN_PATH, if its plugin loader for Python is installed
(gstreamer1.0-python3-plugin-loader). Below a prefix these are PREFIX/share/gst-astro/examples and
PREFIX/lib/python3.X/dist-packages."""
import numpy as np
from gi.repository import GObject

import gstastro


class Clip(gstastro.Stage):
    """Limits power to a multiple of its median over time"""

    takes = gives = "application/x-astro-power,format=F32LE"

    @GObject.Property(type=float, default=5, minimum=1, maximum=1e9, nick="limit", blurb="Greatest power, in medians")
    def limit(self):
        return getattr(self, "_limit", 5.0)

    @limit.setter
    def limit(self, value):
        self._limit = value

    def process(self, block):
        median = np.median(block.samples, axis=block.axis("time"), keepdims=True)
        return np.minimum(block.samples, self.limit * median)


__gstelementfactory__ = Clip.factory("pyclip")
