"""Pipelines whose blocks Python takes and makes."""
import threading
import warnings

from gstastro import library
from gstastro.blocks import Block, Stream
from gstastro.library import GLib, Gst, GstAstro

_WAIT = Gst.SECOND // 5  # how long an error may go unnoticed while no block comes


class Error(RuntimeError):
    """An error of a pipeline: its element, and what it said."""

    def __init__(self, message):
        error, debug = message.parse_error()
        self.element = message.src.get_name() if message.src else "pipeline"
        self.debug = debug
        text = f"{self.element}: {error.message}"
        super().__init__(f"{text}\n{debug}" if debug and "Traceback" in debug else text)


def _sticky(pad, name):
    """The event of that name that a pad has seen, or None."""
    i = 0
    while event := pad.get_sticky_event(Gst.EventType.CUSTOM_DOWNSTREAM_STICKY, i):
        if event.get_structure().get_name() == name:
            return event
        i += 1
    return None


def _observation_of(pad):
    event = _sticky(pad, "astro-observation")
    return GstAstro.Observation.from_event(event) if event else None


class _Source(threading.Thread):
    """Sends blocks into an appsrc, which holds it up while its queue is full."""

    def __init__(self, appsrc, blocks):
        super().__init__(daemon=True, name="gstastro-source")
        self.appsrc, self.blocks, self.error = appsrc, blocks, None

    def run(self):
        try:
            self._send()
        except Exception as error:  # whatever the user's generator raises is the pipeline's error
            self.error = error
            text = f"the blocks for this input ended with {type(error).__name__}: {error}"
            self.appsrc.message_full(Gst.MessageType.ERROR, Gst.StreamError.quark(), int(Gst.StreamError.FAILED), text,
                                     None, "", "", 0)

    def _send(self):
        stream = observation = None
        for block in self.blocks:
            if not isinstance(block, Block):
                raise TypeError(f"found a {type(block).__name__}, but an input takes blocks: see gstastro.Block.make")
            if stream is None or block.stream != stream:
                stream = block.stream
                self.appsrc.set_property("caps", stream.caps)
            if block.observation is not None and block.observation is not observation:
                observation = block.observation
                self.appsrc.send_event(observation.to_event())
            if self.appsrc.emit("push-buffer", block.buffer) != Gst.FlowReturn.OK:
                return  # the pipeline stops, and says why
        self.appsrc.emit("end-of-stream")


class Pipeline:
    """Runs the text of a gst-launch line.

        with gstastro.Pipeline("astroskysrc stations=2 num-buffers=5 ! astrochannelizer channels=64") as pipeline:
            for block in pipeline:
                ...

    If the line leaves an output open, its blocks come from the loop; outputs that end in `appsink name=x` come from
    pipeline["x"]. A line without either is run to its end by pipeline.run().

    source is an iterable of blocks that are sent into the line's first element, or a dict of iterables for each
    `appsrc name=x` in the line. An exception in it ends the pipeline, and is raised again in the loop.

    An error of the pipeline raises gstastro.Error; warnings become Python's."""

    def __init__(self, description, source=None):
        sources = source if isinstance(source, dict) else {} if source is None else {"gstastro-in": source}
        if source is not None and not isinstance(source, dict):
            description = f"appsrc name=gstastro-in ! {description}"
        self.pipeline = self._parse(description)
        self._threads = [self._feed(name, blocks) for name, blocks in sources.items()]
        self._outputs = {}
        self._bus = self.pipeline.get_bus()
        self._is_over = self._is_running = False

    @staticmethod
    def _launch(description):
        library.find_plugins()
        try:
            made = Gst.parse_launch(description)
        except GLib.GError as error:
            raise ValueError(error.message) from None
        if isinstance(made, Gst.Pipeline):
            return made
        pipeline = Gst.Pipeline.new(None)
        pipeline.add(made)
        return pipeline

    def _parse(self, description):
        open_end = f"{description} ! appsink name=gstastro-out"
        try:
            pipeline = self._launch(description)
        except ValueError:
            try:
                return self._launch(open_end)  # a line that ends in caps needs an element behind them
            except ValueError:
                pass
            raise
        pad = pipeline.find_unlinked_pad(Gst.PadDirection.SRC)
        sinks = pipeline.iterate_sinks()
        has_sink = any(sink.get_factory() is not None for sink in _each(sinks))
        if pad is None and has_sink:
            return pipeline
        if pad is None:  # its outputs come while it runs, and are linked then
            return self._launch(open_end)
        appsink = Gst.ElementFactory.make("appsink", "gstastro-out")
        pipeline.add(appsink)
        if pad.link(appsink.get_static_pad("sink")) != Gst.PadLinkReturn.OK:
            raise ValueError(f"{pad.get_parent_element().get_name()} has no output that can be read")
        return pipeline

    def _feed(self, name, blocks):
        appsrc = self.pipeline.get_by_name(name)
        if appsrc is None or appsrc.find_property("max-bytes") is None:
            raise ValueError(f"there are blocks for the input {name}, but the line has no appsrc name={name}")
        for option, value in (("format", Gst.Format.TIME), ("block", True), ("max-buffers", 4), ("max-bytes", 0)):
            if appsrc.find_property(option):
                appsrc.set_property(option, value)
        return _Source(appsrc, blocks)

    def _output(self, name):
        if name not in self._outputs:
            appsink = self.pipeline.get_by_name(name)
            if appsink is None or appsink.find_property("max-buffers") is None:
                raise ValueError("the line has no open output" if name == "gstastro-out" else
                                 f"the line has no appsink name={name}")
            appsink.set_property("sync", False)
            self._outputs[name] = appsink
        return self._outputs[name]

    def __enter__(self):
        for appsink in [e for e in _each(self.pipeline.iterate_sinks()) if e.find_property("max-buffers")]:
            appsink.set_property("sync", False)
            appsink.set_property("max-buffers", 4)
            self._outputs[appsink.get_name()] = appsink
        self._is_running = True
        if self.pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE:
            for thread in self._threads:  # else the appsrc was never started, is never flushed, and holds its thread up
                thread.start()
        return self

    def __exit__(self, kind, value, traceback):
        self.close()

    def close(self):
        """Stops the pipeline. Blocks that were taken stay valid."""
        self._is_running = False
        self.pipeline.set_state(Gst.State.NULL)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _check(self, timeout=0):
        """Raises the error that the pipeline has posted; whether it has posted its end."""
        wanted = Gst.MessageType.ERROR | Gst.MessageType.WARNING | Gst.MessageType.EOS
        while message := self._bus.timed_pop_filtered(timeout, wanted):
            if message.type == Gst.MessageType.WARNING:
                warning, _ = message.parse_warning()
                warnings.warn(f"{message.src.get_name()}: {warning.message}", RuntimeWarning, stacklevel=4)
            elif message.type == Gst.MessageType.ERROR:
                error = Error(message)
                self.close()
                raise error from next((t.error for t in self._threads if t.error), None)
            else:
                self._is_over = True
        return self._is_over

    def _blocks(self, name):
        appsink = self._output(name)
        pad = appsink.get_static_pad("sink")
        caps = stream = None
        while True:
            if not self._is_running:
                raise ValueError("the pipeline does not run: use it in a with statement")
            sample = appsink.emit("try-pull-sample", _WAIT)
            self._check()
            if sample is None:
                if appsink.get_property("eos"):
                    self._check()
                    return
                continue
            if stream is None or not sample.get_caps().is_equal(caps):
                caps = sample.get_caps()
                stream = Stream(caps)
            yield Block(stream, sample.get_buffer(), _observation_of(pad))

    def __iter__(self):
        return self._blocks("gstastro-out")

    def __getitem__(self, name):
        """The blocks of the output `appsink name=...`."""
        return self._blocks(name)

    def sticky(self, name, output="gstastro-out"):
        """The structure of the sticky event of that name that an output has seen last, or None."""
        event = _sticky(self._output(output).get_static_pad("sink"), name)
        return event.get_structure() if event else None

    def run(self):
        """Runs to the end a line that keeps its results itself."""
        with self:
            while not self._check(_WAIT):
                pass


def _each(iterator):
    while True:
        result, item = iterator.next()
        if result == Gst.IteratorResult.OK:
            yield item
        elif result == Gst.IteratorResult.RESYNC:
            iterator.resync()
        else:
            return
