"""The graphs of gst-astro."""
import os
import shlex
import shutil
import subprocess

from gstastro import library


def _program():
    """The program gst-astro beside the library, else on PATH."""
    for folder in library.folders:
        for way in ("../bin", "../../bin", "../../../graphs"):
            program = os.path.realpath(f"{folder}/{way}/gst-astro")
            if os.path.exists(program):
                return program
    found = shutil.which("gst-astro")
    if not found:
        raise FileNotFoundError("there is no program gst-astro beside the library or on PATH")
    return found


def graph(name, **parameters):
    """The line of a ready graph, for Pipeline: graph("image", input="observation.ms", size=512).

    `gst-astro list` says which there are, and `gst-astro show NAME` which parameters they have."""
    told = [f"{key.replace('_', '-')}={value}" for key, value in parameters.items()]
    done = subprocess.run([_program(), "print", name, *told], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    words = shlex.split(done.stdout)
    words = words[words.index("gst-launch-1.0") + 1:]  # in front of it the shell may be told of plugins
    return " ".join(word.replace(" ", "\\ ") for word in words)
