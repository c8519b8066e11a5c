"""Samples for other libraries through DLPack, which on a GPU needs no copy."""
import ctypes

import numpy as np

from gstastro import library

_CPU, _CUDA = 1, 2  # DLPack's numbers of devices
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5}  # and of kinds of numbers


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("owner", ctypes.c_void_p), ("deleter", _DELETER)]

_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR]
_is_capsule = ctypes.pythonapi.PyCapsule_IsValid
_is_capsule.restype, _is_capsule.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]

# Each tensor that a consumer still uses, by its address, with what keeps its memory.
_in_use = {}


@_DELETER
def _delete(managed):
    _in_use.pop(ctypes.addressof(managed.contents), None)


@_DESTRUCTOR
def _forget(capsule):
    # A consumer renames the capsule that it takes, and calls the deleter itself.
    if _is_capsule(capsule, b"dltensor"):
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        _in_use.pop(address(capsule, b"dltensor"), None)


class _Samples:
    """An object for cupy.from_dlpack, torch.from_dlpack, jax.dlpack.from_dlpack and numpy.from_dlpack."""

    def __init__(self, block):
        self._block = block
        self._device, self._address = _CPU, None
        memory = library.peek_memory(library.pointer_of(block.buffer), 0) if block.buffer.n_memory() == 1 else None
        if memory and library.is_our_memory(memory):
            index, face = ctypes.c_int(), ctypes.c_void_p()
            library.checked(library.look_at_memory, memory, ctypes.byref(index), ctypes.byref(face))
            if face.value:
                self._device, self._index, self._address = _CUDA, index.value, face.value
        if self._address is None:
            self._index, self._address = 0, block.samples.__array_interface__["data"][0]

    def __dlpack_device__(self):
        return self._device, self._index

    def __dlpack__(self, stream=None, **kwargs):
        dtype, shape = self._block.stream.dtype, self._block.extents
        if dtype.names:  # DLPack has no complex integers: both parts become an axis
            dtype, shape = dtype["re"], (*shape, 2)
        dtype = np.dtype(dtype)
        managed = _Managed()
        extents = (ctypes.c_int64 * len(shape))(*shape)
        managed.tensor = _Tensor(self._address, _Device(self._device, self._index), len(shape), _CODES[dtype.kind],
                                 8 * dtype.itemsize, 1, extents, None, 0)
        managed.deleter = _delete
        address = ctypes.addressof(managed)
        _in_use[address] = managed, extents, self._block
        return _new_capsule(address, b"dltensor", _forget)


def to_dlpack(block):
    """A block's samples for libraries that take DLPack: cupy.from_dlpack(gstastro.to_dlpack(block)).

    They are on the GPU if the block's newest bytes are there, else on the host, and must only be read. The block lives
    until the other library has dropped them."""
    return _Samples(block)
