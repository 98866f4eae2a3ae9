"""A real browser, driven over DevTools' pipe: no driver program, no port, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """One tab of headless Chromium, and what it complained of or asked the network for."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM
        ours, theirs = os.pipe(), os.pipe()  # what it reads, what it writes

        # Chromium reads file descriptor 3 and writes 4.
        launch = (
            f"import os, sys; os.dup2({ours[0]}, 3); os.dup2({theirs[1]}, 4); "
            "os.execv(sys.argv[1], sys.argv[1:])"
        )
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-c", launch),
                *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu"),
                *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(3, 4, ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self.write, self.read = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self.number = 0
        self.pending = b""
        self.session = ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command; events on the way are looked at."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.write.write(json.dumps(message).encode() + b"\0")
        self.write.flush()
        while True:
            got = self._next()
            if got.get("id") == self.number:
                assert "error" not in got, got
                return got["result"]
            self._event(got)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.pending:
            more = os.read(self.read.fileno(), 1 << 20)
            assert more, "Chromium has gone"
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def _event(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.complaints.append(json.dumps(event["params"]))
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])

    def open(self, url: str, width: int = 1280, height: int = 800, *, dark: bool = False) -> None:
        """Load a page in a window of that size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints.clear()
        self.requests.clear()
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=url)
        self.run(
            "new Promise(done => document.readyState === 'complete' ? done()"
            " : addEventListener('load', () => done()))"
        )

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def point(self, element: str, *, press: bool = False) -> None:
        """Move the pointer to the element that an expression gives, and perhaps press."""
        x, y = self.run(
            f"(element => {{ element.scrollIntoView({{ block: 'center' }});"
            f" const box = element.getBoundingClientRect();"
            f" return [box.left + Math.min(box.width / 2, 90), box.top + box.height / 2]; }})"
            f"({element})"
        )
        kinds = ("mouseMoved", *(("mousePressed", "mouseReleased") if press else ()))
        for kind in kinds:
            pressed = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def key(self, *names: str) -> None:
        """Press keys."""
        for name in names:
            text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
            codes = {
                "Tab": 9,
                "Enter": 13,
                "Escape": 27,
                "ArrowUp": 38,
                "ArrowRight": 39,
                "ArrowDown": 40,
            }
            code = codes.get(name, ord(name[0].upper()))
            down = {"type": "keyDown", "key": name, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path) -> None:
        """Write a PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        self.write.close()
        self.read.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def emulated() -> str:
    """A program whose product sm_90 only emulates, on which tilec remarks."""
    return """\
!A = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
!B = !tile.frag<tensor<32x8xf8E4M3FN>, #tile.layout<"m16n8k32 b e4m3">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k32 c f32">>
gpu.module @emulated [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%x: memref<32x32xi8>, %y: memref<16x8xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = "tile.load"(%x, %z, %z) : (memref<32x32xi8>, index, index) -> !A
    %b = "tile.load"(%x, %z, %z) : (memref<32x32xi8>, index, index) -> !B
    %c = "tile.load"(%y, %z, %z) : (memref<16x8xf32>, index, index) -> !C
    %d = "tile.mma"(%a, %b, %c) {form = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"}
        : (!A, !B, !C) -> !C
    "tile.store"(%d, %y, %z, %z) : (!C, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }
}
"""
