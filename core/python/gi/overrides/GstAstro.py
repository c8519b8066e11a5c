"""Adds to gi.repository.GstAstro, besides the library's own functions. PyGObject finds this file by its place."""
from gi.module import get_introspection_module
from gi.overrides import override

GstAstro = get_introspection_module("GstAstro")
__all__ = []


class Stream(GstAstro.Stream):
    """The description of a stream.

    array(buffer): the buffer's samples as a numpy array, shaped by the layout, without a copy
    axes(buffer): the names of its axes"""

    def array(self, buffer):
        return self._block(buffer).samples

    def axes(self, buffer):
        return self._block(buffer).axes

    def _block(self, buffer):
        import gstastro  # which itself imports this file

        return gstastro.Block(gstastro.Stream(self.to_caps()), buffer)


Stream = override(Stream)
__all__.append("Stream")
