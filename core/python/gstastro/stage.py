"""Stages written in Python."""
import traceback

import numpy as np

from gstastro import library
from gstastro.blocks import Block, Stream
from gstastro.library import GObject, Gst, GstAstro

_ANY = "ANY"


def _is_type(name):
    try:
        return bool(GObject.type_from_name(name))
    except RuntimeError:
        return False


class Stage(Gst.Element):
    """A stage with one input and one output.

        class Square(gstastro.Stage):
            '''Power of spectra.'''
            takes = "application/x-astro-spectra,format=CF32LE"
            gives = "application/x-astro-power,format=F32LE"

            def configure(self, stream):
                return stream.with_fields(...)

            def process(self, block):
                return abs(block.samples) ** 2

        __gstelementfactory__ = Square.factory("pysquare")

    A file with such a class and last line, in the folder python/ of a folder in GST_PLUGIN_PATH, is an element of every
    pipeline, if GStreamer's plugin loader for Python is installed. In the same program, Square.register("pysquare")
    does.

    takes, gives: caps, by default any. process() returns samples, which keep the block's counts if these fit, or a
    Block, or None for no output. Exceptions end the pipeline with their traceback."""

    takes = gives = _ANY

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__gtype_name__" not in cls.__dict__ and not _is_type(cls.__name__):
            cls.__gtype_name__ = cls.__name__  # elements are named by it
        text = (cls.__doc__ or cls.__name__).strip().split("\n")[0]
        cls.__gstmetadata__ = (cls.__name__, "Filter/Python", text, "its author")
        pads = ("sink", Gst.PadDirection.SINK, cls.takes), ("src", Gst.PadDirection.SRC, cls.gives)
        cls.__gsttemplates__ = tuple(
            Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS,
                                Gst.Caps.new_any() if caps == _ANY else Gst.Caps.from_string(caps))
            for name, direction, caps in pads)

    @classmethod
    def factory(cls, name):
        return (name, Gst.Rank.NONE, cls)

    @classmethod
    def register(cls, name):
        """Makes the stage known to pipelines of this program."""
        if not Gst.Element.register(None, name, Gst.Rank.NONE, cls.__gtype__):
            raise ValueError(f"{name} could not be registered")

    def __init__(self):
        super().__init__()
        self.stream = self.out = self.observation = None
        self._has_failed = False
        # Not get_pad_template(): GStreamer does not know the subclass yet.
        self.sink, self.src = (Gst.Pad.new_from_template(template, template.name_template)
                               for template in self.__gsttemplates__)
        # GStreamer hands the element to these functions. A bound method would keep it alive for ever.
        self.sink.set_chain_function_full(_chain)
        self.sink.set_event_function_full(_event)
        self.add_pad(self.sink)
        self.add_pad(self.src)
        # GStreamer expects a new element with a floating reference, which PyGObject took away when it made this object.
        if not self.is_floating():
            library.float_again(library.pointer_of(self))

    def configure(self, stream):
        """The stream of the output, for that of the input: by default the same."""
        return stream

    def observe(self, observation):
        """The observation of the output, for that of the input: by default the same. Change a copy()."""
        return observation

    def process(self, block):
        """Samples or a block for the output, or None for no output."""
        raise NotImplementedError(f"{type(self).__name__} has no process()")

    def finish(self):
        """Gives what is left at the end of the stream: a Block, or None."""
        return None

    def _output(self, block, made):
        if isinstance(made, Block):
            return made
        made = block.like(np.asarray(made, dtype=self.out.dtype), stream=self.out)
        counts = block.validity
        if block.is_gap:
            counts, axes = np.zeros(made.extents, np.uint32), made.axes
        elif counts is not None:
            axes = block.validity_axes
            kept = [(axis, extent) for axis, extent in zip(made.axes, made.extents) if axis in axes]
            if kept != list(zip(axes, counts.shape)):
                raise ValueError(
                    f"the block has counts over {':'.join(axes)}, which do not fit samples over "
                    f"{':'.join(made.axes)}: return block.like(samples, validity=...)")
        if counts is not None:
            made.set_validity(counts, axes, block.full)
        elif self.out.has_counts:
            raise ValueError("the caps of the output promise counts, but the block has none")
        return made

    def _push(self, made):
        if made.stream != self.out:
            raise ValueError(f"process() made a block of {made.stream}, but configure() promised {self.out}")
        made._samples = None  # the memory is not mapped any more, unless the stage keeps the array
        return self.src.push(made.buffer)

    def _fail(self):
        if self._has_failed:  # GStreamer may send the same caps again
            return Gst.FlowReturn.ERROR
        self._has_failed = True
        text = traceback.format_exc()
        self.message_full(Gst.MessageType.ERROR, Gst.StreamError.quark(), int(Gst.StreamError.FAILED),
                          text.strip().split("\n")[-1], text, "", "", 0)
        return Gst.FlowReturn.ERROR

    def _take(self, buffer):
        try:
            if self.stream is None:
                raise ValueError("the input has no caps")
            block = Block(self.stream, buffer, self.observation)
            made = self.process(block)
            return Gst.FlowReturn.OK if made is None else self._push(self._output(block, made))
        except Exception:
            return self._fail()

    def _see(self, event):
        """Handles an event; whether it was taken. None: it is for GStreamer's own handler."""
        if event.type == Gst.EventType.CAPS:
            self.stream = Stream(event.parse_caps())
            self.out = self.configure(self.stream)
            return self.src.push_event(Gst.Event.new_caps(self.out.caps))
        if event.type == Gst.EventType.CUSTOM_DOWNSTREAM_STICKY and event.has_name("astro-observation"):
            self.observation = GstAstro.Observation.from_event(event)
            return self.src.push_event(self.observe(self.observation).to_event())
        if event.type == Gst.EventType.EOS and self.stream is not None:
            made = self.finish()
            if made is not None:
                self._push(made)
        return None


def _chain(pad, stage, buffer):
    return stage._take(buffer)


def _event(pad, stage, event):
    if stage._has_failed and event.type == Gst.EventType.CAPS:
        return False
    try:
        taken = stage._see(event)
    except Exception:
        stage._fail()
        return False
    return pad.event_default(stage, event) if taken is None else taken
