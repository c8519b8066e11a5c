"""Finds gst-astro's typelib, library and plugins, which may be in any prefix or in a build tree."""
import ctypes
import glob
import os
import subprocess

import gi

gi.require_version("GIRepository", "2.0")
gi.require_version("Gst", "1.0")
from gi.repository import GIRepository, GLib, GObject, Gst


def _ask(variable):
    try:
        done = subprocess.run(["pkg-config", f"--variable={variable}", "gst-astro-1.0"], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def _above():
    """The folders above this file, nearest first: one of them is the prefix, or the source tree."""
    place = os.path.dirname(os.path.realpath(__file__))
    while place != os.path.dirname(place):
        place = os.path.dirname(place)
        yield place


def _typelib_folders():
    yield from filter(None, os.environ.get("GI_TYPELIB_PATH", "").split(":"))
    yield _ask("typelibdir")
    for place in _above():
        for pattern in ("girepository-1.0", "lib*/girepository-1.0", "lib/*/girepository-1.0", "build/core/api"):
            yield from sorted(glob.glob(f"{place}/{pattern}"))


def _find():
    for folder in _typelib_folders():
        if folder and os.path.exists(f"{folder}/GstAstro-1.0.typelib"):
            libraries = [os.path.realpath(f"{folder}/{way}") for way in ("..", ".libs")]
            GIRepository.Repository.prepend_search_path(folder)
            for library in libraries:
                GIRepository.Repository.prepend_library_path(library)
            return libraries
    return []  # where the loader and GObject look anyway


folders = _find()
gi.require_version("GstAstro", "1.0")
from gi.repository import GstAstro

if not Gst.is_initialized():
    Gst.init(None)


def _load(name):
    for folder in folders:
        if os.path.exists(f"{folder}/{name}"):
            return ctypes.CDLL(f"{folder}/{name}")
    return ctypes.CDLL(name)


def find_plugins():
    """Adds the plugins that belong to the typelib, if GStreamer does not find them by itself.

    Not to be called where this module is imported, which GStreamer's loader of Python does amid its own search."""
    if Gst.ElementFactory.find("astrogridder"):
        return
    for folder in [_ask("pluginsdir")] + [f"{library}/{way}" for library in folders for way in
                                          ("gstreamer-1.0", "../elements/.libs")]:
        if folder and glob.glob(f"{folder}/libgstastro.so"):
            Gst.Registry.get().scan_path(os.path.realpath(folder))
            return


# Functions that are called for every buffer are called by ctypes, because GObject's introspection copies arrays
# element by element.
_void, _size = ctypes.c_void_p, ctypes.c_size_t
_astro = _load("libgstastro-1.0.so.0")
_gst = ctypes.CDLL("libgstreamer-1.0.so.0")
_glib = ctypes.CDLL("libglib-2.0.so.0")
_gobject = ctypes.CDLL("libgobject-2.0.so.0")


class GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", ctypes.c_int), ("message", ctypes.c_char_p)]


class MapInfo(ctypes.Structure):
    """GstMapInfo; GStreamer may write into its last fields."""
    _fields_ = [("memory", _void), ("flags", ctypes.c_int), ("data", _void), ("size", _size), ("maxsize", _size),
                ("user_data", _void * 4), ("reserved", _void * 4)]


def _function(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


_error = ctypes.POINTER(ctypes.POINTER(GError))
map_buffer = _function(_gst, "gst_buffer_map", ctypes.c_int, _void, ctypes.POINTER(MapInfo), ctypes.c_int)
unmap_buffer = _function(_gst, "gst_buffer_unmap", None, _void, ctypes.POINTER(MapInfo))
is_writable = _function(_gst, "gst_mini_object_is_writable", ctypes.c_int, _void)
get_counts = _function(_astro, "astro_buffer_get_counts", _void, _void, ctypes.POINTER(_size))
set_counts = _function(_astro, "astro_buffer_set_counts", ctypes.c_int, _void, _void, ctypes.c_char_p, ctypes.c_uint32,
                       _void, _size, _error)
get_uvw = _function(_astro, "astro_buffer_get_uvw", _void, _void, ctypes.POINTER(_size))
set_uvw = _function(_astro, "astro_buffer_set_uvw", ctypes.c_int, _void, ctypes.c_uint64, _void, _size, _error)
look_at_memory = _function(_astro, "astro_memory_look", ctypes.c_int, _void, ctypes.POINTER(ctypes.c_int),
                           ctypes.POINTER(_void), _error)
is_our_memory = _function(_astro, "astro_memory_is", ctypes.c_int, _void)
peek_memory = _function(_gst, "gst_buffer_peek_memory", _void, _void, ctypes.c_uint)
_ref_object = _function(_gobject, "g_object_ref", _void, _void)
_force_floating = _function(_gobject, "g_object_force_floating", None, _void)
free = _function(_glib, "g_free", None, _void)
free_error = _function(_glib, "g_error_free", None, _void)


def pointer_of(boxed):
    """The address of what an object of GObject's introspection stands for, which is its hash."""
    return hash(boxed)


def float_again(address):
    """Adds a floating reference to an object."""
    _ref_object(address)
    _force_floating(address)


def checked(function, *arguments):
    """Calls a function whose last argument is a GError; an error becomes a ValueError."""
    error = ctypes.POINTER(GError)()
    if not function(*arguments, ctypes.byref(error)):
        message = error.contents.message.decode()
        free_error(error)
        raise ValueError(message)
