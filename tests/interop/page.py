"""page.py GST_ASTRO FOLDER: Chromium opens the page of a running graph, as wide as a screen and as narrow as a
telephone. The rates have to be those at which the graph runs, the picture has to be there and to change, and
nothing may be wider than the window. Pictures of both windows are left in the folder."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

PATIENCE = 60
RATE = 200  # buffers a second
GRAPH = """# A sky that is looked at.
astrovissrc name=source stations=8 array=vla-like duration=70000 integration=1 channels=16 phase-centre=131,80
start-time=2026-11-20T12:00:00 ! identity name=paced sleep-time=%d ! fakesink name=sink
""" % (1000000 // RATE)
SHOWN = """(() => {
  const at = id => document.getElementById(id), picture = at('picture');
  return {
    state: at('state').textContent, word: at('word').textContent, why: at('why').textContent,
    rows: [...at('rows').children].map(row => [...row.children].map(cell => cell.textContent)),
    picture: picture.hidden ? '' : picture.src, loaded: picture.complete && picture.naturalWidth,
    width: document.documentElement.scrollWidth, window: innerWidth,
  };
})()"""


def fail(text):
    sys.exit("page: " + text)


class Chromium:
    """Its DevTools protocol, by a pipe each way: messages in JSON that end with a zero byte."""

    def __init__(self, program, folder):
        to_it, self.to = os.pipe()
        self.answers, from_it = os.pipe()
        # It reads from 3 and writes to 4.
        shell = 'exec "$0" "$@" 3<&%d 4>&%d' % (to_it, from_it)
        self.process = subprocess.Popen(
            ["bash", "-c", shell, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--user-data-dir=" + folder, "about:blank"],
            pass_fds=(to_it, from_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.n, self.session, self.rest = 0, None, b""
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]

    def read(self):
        while b"\0" not in self.rest:
            some = os.read(self.answers, 1 << 20)
            if not some:
                fail("chromium ended")
            self.rest += some
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.n += 1
        said = {"id": self.n, "method": method, "params": params}
        if self.session:
            said["sessionId"] = self.session
        os.write(self.to, json.dumps(said).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.n:
                if "error" in answer:
                    fail("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def shown(self):
        """None as long as the page is not there."""
        return self.call("Runtime.evaluate", expression=SHOWN, returnByValue=True)["result"].get("value")

    def end(self):
        self.process.kill()
        self.process.wait()


def await_shown(browser, what, is_there):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        shown = browser.shown()
        if shown and is_there(shown):
            return shown
        time.sleep(0.2)
    fail("%s does not come in %d s: %s" % (what, PATIENCE, shown))


def rate(shown):
    """Buffers a second of the paced element."""
    return {row[0]: float(row[1]) for row in shown["rows"]}.get("paced", 0)


def look(browser, url, name, width, height, folder):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=width < 500)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
    first = await_shown(browser, "a picture with rates", lambda s: s["loaded"] and s["picture"] and rate(s) > 0)
    second = await_shown(browser, "another picture", lambda s: s["loaded"] and s["picture"] != first["picture"])
    picture = browser.call("Page.captureScreenshot", format="png")["data"]
    (folder / ("page-%s.png" % name)).write_bytes(base64.b64decode(picture))
    # identity sleeps at least as long as it is told to.
    if not RATE / 10 < rate(second) <= RATE * 1.05:
        fail("%s: %g buffers a second, expected up to %g: %s" % (name, rate(second), RATE, second))
    if second["width"] > second["window"]:
        fail("%s: the page is %d wide in a window of %d" % (name, second["width"], second["window"]))
    if second["word"] or second["why"] or not second["state"].startswith("playing"):
        fail("%s: %s" % (name, second))
    print("page: %s: %.1f buffers a second, %d wide" % (name, rate(second), second["width"]))


def start(program, folder):
    """The program, and its address, which it tells."""
    (folder / "looked.graph").write_text(GRAPH, encoding="utf-8")
    run = subprocess.Popen([program, "run", str(folder / "looked.graph"), "--control", "127.0.0.1:0"],
                           stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        for word in line.split():
            if word.startswith("http://127.0.0.1:"):
                return run, word.rstrip(".,/") + "/"
    fail("gst-astro does not say where its page is")


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        print("page: skipped: chromium is missing")
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        run, address = start(str(program), Path(scratch))
        browser = Chromium(chromium, scratch + "/profile")
        try:
            url = address + "#" + urllib.parse.quote("paced/src")
            look(browser, url, "wide", 1100, 900, folder)
            look(browser, url, "narrow", 360, 800, folder)
        finally:
            browser.end()
            run.kill()
            run.wait()


main()
