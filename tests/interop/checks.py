"""Prints results of checks, and runs programs, for the other scripts."""
import subprocess
import sys

failures = 0


def check(what, good, found=None):
    global failures
    failures += not good
    print(f"{'ok' if good else 'not ok'} - {what}" + (f": {found}" if found is not None else ""))


def finish():
    print(f"{failures} failures")
    sys.exit(failures > 0)


def launch(line):
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)


def verified(path):
    """Whether fitsverify finds neither an error nor a warning."""
    return subprocess.run(["fitsverify", "-q", path], stdout=subprocess.DEVNULL).returncode == 0
