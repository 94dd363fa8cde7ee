"""Headless Chromium over its DevTools protocol: what a reader's browser would do with a page."""

import itertools
import json
import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest
import requests
import websocket

PATIENCE = 60.0


class Browser:
    """One tab. `requests` and `complaints` hold what the last page asked for and complained of."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE)
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = False
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params):
        """One command and its answer; events that come before it are noted."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := self._receive()).get("id") != number:
            pass
        assert "error" not in message, message
        return message["result"]

    def _receive(self):
        message = json.loads(self._socket.recv())
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.complaints.append(str(params["args"]))
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Page.loadEventFired":
                self._loaded = True
        return message

    def open(self, path, width: int = 1280, *, dark: bool = False) -> None:
        """Load a file at a width, and wait for it and its pictures."""
        self.requests.clear()
        self.complaints.clear()
        self._loaded = False
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._receive()

    def value(self, expression: str):
        """What a JavaScript expression is on the page; a promise is waited for."""
        done = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")


@contextmanager
def chromium(folder):
    """A browser with a profile of its own; skips the test where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs chromium (Debian: apt-get install chromium)")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
    with subprocess.Popen(
        [
            *(program, *options, *quiet, "--remote-debugging-port=0", "--remote-allow-origins=*"),
            *(f"--user-data-dir={folder}", "about:blank"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            end, told = time.monotonic() + PATIENCE, folder / "DevToolsActivePort"
            while not (told.is_file() and "\n" in told.read_text()):
                assert process.poll() is None, "chromium ended at once"
                assert time.monotonic() < end, "chromium did not start"
                time.sleep(0.1)
            port = told.read_text().split()[0]
            tabs = requests.get(f"http://127.0.0.1:{port}/json", timeout=PATIENCE).json()
            tab = next(tab for tab in tabs if tab["type"] == "page")
            yield Browser(tab["webSocketDebuggerUrl"])
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
