"""Buffers of a stream as numpy arrays."""
import ctypes
import weakref

import numpy as np

from gstastro import library
from gstastro.library import GLib, Gst, GstAstro


def _integers(kind):
    return np.dtype([("re", kind), ("im", kind)])


# numpy has no complex integers and no complex half precision: their samples have fields re and im. A byte of CI4 has
# the real part in its high half; complex_of() takes it apart.
DTYPES = {
    "CI4": np.dtype("u1"),
    "CI8": _integers("i1"),
    "CI16LE": _integers("<i2"),
    "CI32LE": _integers("<i4"),
    "CF16LE": _integers("<f2"),
    "CF32LE": np.dtype("<c8"),
    "CF64LE": np.dtype("<c16"),
    "F32LE": np.dtype("<f4"),
    "F64LE": np.dtype("<f8"),
    "U64LE": np.dtype("<u8"),
    "I8": np.dtype("i1"),
    "I16LE": np.dtype("<i2"),
}


def complex_of(samples, format=None):
    """A copy of samples as complex numbers, which numpy calculates with. Bytes need format="CI4"."""
    if samples.dtype.names:
        wide = np.complex128 if samples.dtype["re"].itemsize > 2 else np.complex64
        return samples["re"].astype(wide) + 1j * samples["im"]
    if format == "CI4":
        signed = samples.view(np.int8)
        return (signed >> 4).astype(np.complex64) + 1j * ((signed << 4).astype(np.int8) >> 4)
    return samples.astype(np.complex128 if samples.dtype.itemsize > 8 else np.complex64)


class Stream:
    """A stream as its caps describe it: quantity, format, axes, and the caps themselves."""

    def __init__(self, caps):
        """caps: a Gst.Caps or its text."""
        self.caps = Gst.Caps.from_string(caps) if isinstance(caps, str) else caps
        if self.caps is None:
            raise ValueError(f"these are no caps: {caps}")
        self.described = GstAstro.Stream()
        try:
            self.described.from_caps(self.caps)
        except GLib.GError as error:
            raise ValueError(error.message) from None
        layout = self.described.get_layout()
        self.quantity = GstAstro.quantity_name(self.described.quantity)
        self.format = GstAstro.format_name(self.described.format)
        self.dtype = DTYPES[self.format]
        self.axes = tuple(layout.get_axis(i) for i in range(layout.n_axes))
        self.extents = tuple(layout.get_extent(i) for i in range(layout.n_axes))
        self.has_counts = bool(self.described.has_counts)
        self.frequency, self.bandwidth = self.described.frequency, self.described.bandwidth
        self.rate = self.described.rate_n / self.described.rate_d if self.described.rate_n else None

    def shape(self, n_bytes):
        """The axes and extents of a buffer of that many bytes."""
        steps = self.described.steps(n_bytes)[1]
        shape = self.described.get_shape(steps)
        return (tuple(shape.get_axis(i) for i in range(shape.n_axes)),
                tuple(shape.get_extent(i) for i in range(shape.n_axes)))

    def frequencies(self):
        """The middle of each channel in Hz."""
        n = self.extents[self.axes.index("channel")] if "channel" in self.axes else 1
        return self.frequency + self.bandwidth * ((np.arange(n) + 0.5) / n - 0.5)

    def with_fields(self, **fields):
        """The same with other fields of its caps, such as format="F32LE" or stations=3; None removes a field."""
        structure = self.caps.get_structure(0).copy()
        for name, value in fields.items():
            name = name.replace("_", "-")
            structure.remove_field(name) if value is None else structure.set_value(name, value)
        caps = Gst.Caps.new_empty()
        caps.append_structure(structure)
        return Stream(caps)

    def __eq__(self, other):
        return isinstance(other, Stream) and self.caps.is_equal(other.caps)

    def __repr__(self):
        return f"Stream({self.caps.to_string()!r})"


class _Mapped:
    """Holds a buffer mapped as long as an array uses its memory."""

    def __init__(self, buffer, flags):
        self.info = library.MapInfo()
        if not library.map_buffer(library.pointer_of(buffer), ctypes.byref(self.info), int(flags)):
            raise MemoryError(f"a buffer of {buffer.get_size()} bytes could not be mapped")
        weakref.finalize(self, _Mapped._unmap, buffer, self.info)

    @staticmethod
    def _unmap(buffer, info):
        library.unmap_buffer(library.pointer_of(buffer), ctypes.byref(info))

    def array(self, dtype, shape, writable):
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "descr": dtype.descr,
            "data": (self.info.data or 0, not writable)}
        array = np.asarray(self)
        del self.__array_interface__
        return array


def _copied(address, n, dtype):
    """A copy of n values at an address that GLib allocated, which is freed."""
    values = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_ubyte)), (n * dtype.itemsize,))
    values = values.view(dtype).copy()
    library.free(address)
    return values


class Block:
    """A buffer of a stream.

    stream           a Stream
    samples          a numpy array without a copy; it may be written in blocks that Python made
    axes             the names of its axes, as ("time", "station", "pol")
    validity         numbers of good samples behind the values, over validity_axes; None: nothing is lost
    full             the count of a value without losses
    uvw              metres, [step, baseline, 3], if the block has its own; else None
    observation      a GstAstro.Observation, or None
    time, duration   seconds since the observation's start, or None
    buffer           the Gst.Buffer"""

    def __init__(self, stream, buffer, observation=None):
        self.stream, self.buffer, self.observation = stream, buffer, observation
        self.axes, self.extents = stream.shape(buffer.get_size())
        self._samples, self._writable = None, False

    @classmethod
    def make(cls, stream, samples, validity=None, validity_axes=None, full=1, uvw=None, observation=None, time=None,
             duration=None):
        """A new block, with a copy of the samples, whose shape must be that of the stream's axes.

        validity is over validity_axes, by default all axes."""
        stream = stream if isinstance(stream, Stream) else Stream(stream)
        samples = np.ascontiguousarray(samples)
        if samples.dtype != stream.dtype:
            raise ValueError(f"the samples are {samples.dtype}, but {stream.format} is {stream.dtype}: use astype")
        buffer = GstAstro.buffer_new(samples.nbytes, None)
        if buffer is None:
            raise MemoryError(f"no memory for a block of {samples.nbytes} bytes")
        block = cls(stream, buffer, observation)
        if samples.shape != block.extents:
            axes = ", ".join(block.axes)
            raise ValueError(f"the samples have the shape {samples.shape}, but {axes} have {block.extents}")
        block._writable = True
        block.samples[...] = samples.reshape(block.extents)
        if validity is not None:
            block.set_validity(validity, validity_axes, full)
        if uvw is not None:
            block.uvw = uvw
        block.time, block.duration = time, duration
        return block

    def like(self, samples, stream=None, **changes):
        """A new block with the time and observation of this one; validity and uvw are not taken over."""
        changes.setdefault("observation", self.observation)
        changes.setdefault("time", self.time)
        changes.setdefault("duration", self.duration)
        return Block.make(stream or self.stream, samples, **changes)

    @property
    def samples(self):
        if self._samples is None:
            flags = Gst.MapFlags.READ | Gst.MapFlags.WRITE if self._writable else Gst.MapFlags.READ
            self._samples = _Mapped(self.buffer, flags).array(self.stream.dtype, self.extents, self._writable)
        return self._samples

    def __array__(self, dtype=None, copy=None):
        return self.samples if dtype is None else self.samples.astype(dtype)

    def axis(self, name):
        """The number of an axis."""
        if name not in self.axes:
            raise ValueError(f"there is no axis {name}: the axes are {', '.join(self.axes)}")
        return self.axes.index(name)

    def _own(self):
        """Makes the buffer writable: a shared one is replaced by its copy, which shares the samples
        unless they may be written."""
        if not library.is_writable(library.pointer_of(self.buffer)):
            parts = (Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.TIMESTAMPS | Gst.BufferCopyFlags.META |
                     Gst.BufferCopyFlags.MEMORY)
            self.buffer = self.buffer.copy_region(parts, 0, self.buffer.get_size())

    @property
    def is_gap(self):
        """A buffer of which nothing is good."""
        return self.buffer.has_flags(Gst.BufferFlags.GAP)

    @property
    def _meta(self):
        return GstAstro.buffer_get_validity(self.buffer)

    @property
    def full(self):
        return self._meta.full if self._meta else 1

    @property
    def validity_axes(self):
        """The axes that validity is counted over; an axis that occurs twice, as pol, is named twice."""
        axes = self._meta.get_axes() if self._meta else ""
        return tuple(axes.split(":")) if axes else ()

    @property
    def validity(self):
        n = ctypes.c_size_t()
        counts = library.get_counts(library.pointer_of(self.buffer), ctypes.byref(n))
        if not counts:
            return np.zeros((), np.uint32) if self.is_gap else None
        counts = _copied(counts, n.value, np.dtype(np.uint32))
        shape = self._meta.shape
        counts = counts.reshape(tuple(shape.get_extent(i) for i in range(shape.n_axes)))
        for i, axis in enumerate(self._counted()):
            if counts.shape[i] < self.extents[axis]:  # neighbours share a count
                counts = np.repeat(counts, self.extents[axis] // counts.shape[i], axis=i)
        return counts

    def _counted(self):
        """The numbers of the axes that validity is counted over."""
        left, found = list(self.validity_axes), []
        for i, axis in enumerate(self.axes):
            if left and left[0] == axis:
                found.append(i)
                left.pop(0)
        return found

    @validity.setter
    def validity(self, counts):
        self.set_validity(counts, self.validity_axes or None, self.full)

    def set_validity(self, counts, axes=None, full=1):
        """Sets the counts over axes (by default all) of a block that is not shared."""
        counts = np.asarray(counts)
        if counts.size and (counts.min() < 0 or counts.max() > full):
            raise ValueError(f"counts are from 0 to full, which is {full}: found {counts.min()} to {counts.max()}")
        axes = self.axes if axes is None else tuple(axes)
        if not axes:  # one count for the whole block
            axes, counts = self.axes[:1], np.broadcast_to(counts, self.extents[:1])
        counts = np.ascontiguousarray(counts, dtype=np.uint32)
        text = ":".join(axes)
        self._own()
        library.checked(library.set_counts, library.pointer_of(self.buffer), library.pointer_of(self.stream.described),
                        text.encode(), full, counts.ctypes.data, counts.size)

    def valid(self):
        """Whether each value has any good sample behind it, in the shape of the samples."""
        counts = self.validity
        if counts is None:
            return np.ones(self.extents, bool)
        shape = [1] * len(self.axes)
        for axis in self._counted():
            shape[axis] = self.extents[axis]
        counts = counts.reshape(shape)
        return np.broadcast_to(counts > 0, self.extents)

    @property
    def uvw(self):
        n = ctypes.c_size_t()
        values = library.get_uvw(library.pointer_of(self.buffer), ctypes.byref(n))
        if not values:
            return None
        baselines = self.extents[self.axis("baseline")]  # the meta is of visibilities
        return _copied(values, n.value, np.dtype(float)).reshape(-1, baselines, 3)

    @uvw.setter
    def uvw(self, metres):
        metres = np.ascontiguousarray(metres, dtype=float)
        baselines = self.extents[self.axis("baseline")]
        self._own()
        library.checked(library.set_uvw, library.pointer_of(self.buffer), baselines, metres.ctypes.data, metres.size)

    @property
    def time(self):
        return None if self.buffer.pts == Gst.CLOCK_TIME_NONE else self.buffer.pts / Gst.SECOND

    @time.setter
    def time(self, seconds):
        self._own()
        self.buffer.pts = Gst.CLOCK_TIME_NONE if seconds is None else round(seconds * Gst.SECOND)

    @property
    def duration(self):
        return None if self.buffer.duration == Gst.CLOCK_TIME_NONE else self.buffer.duration / Gst.SECOND

    @duration.setter
    def duration(self, seconds):
        self._own()
        self.buffer.duration = Gst.CLOCK_TIME_NONE if seconds is None else round(seconds * Gst.SECOND)

    def __repr__(self):
        axes = ", ".join(f"{axis} {extent}" for axis, extent in zip(self.axes, self.extents))
        return f"<Block of {self.stream.quantity}, {self.stream.format}: {axes}>"
