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


class Observation(GstAstro.Observation):
    """Telescope, stations, time and direction of a stream.

    names, positions: of the stations, the latter geocentric x, y, z in metres
    dms: the dispersion measures that were taken out

    In C these are arrays, whose lengths the typelib cannot say; they are lists of their own here. get_beam(i) has each
    of the n_beams beams."""

    def _stations(self):
        return [self.get_station(i)[1:] for i in range(self.n_stations)]

    names = property(lambda self: [name for name, *_ in self._stations()])
    positions = property(lambda self: [tuple(place) for _, *place in self._stations()])
    dms = property(lambda self: list(self.get_dms() or []))

    @property
    def beams(self):
        raise AttributeError("beams: expected get_beam(i), for i below n_beams")


Observation = override(Observation)
__all__.append("Observation")
