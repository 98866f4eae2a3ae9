"""A progress bar on standard error."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

_DELAY = 2.0
_PERIOD = 0.25
_WIDTH = 30


class ProgressBar:
    """Shows how many CTAs have ended, from two seconds on, if standard error is a terminal."""

    def __init__(self) -> None:
        self._ended = self._ctas = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def update(self, ended: int, ctas: int) -> None:
        """Take note of the CTAs that have ended, and how many there are."""
        self._ended, self._ctas = ended, ctas

    def __enter__(self) -> ProgressBar:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self) -> None:
        start = time.monotonic()
        if self._stop.wait(_DELAY):
            return
        while not self._stop.wait(_PERIOD):
            done = self._ended / self._ctas if self._ctas else 0.0
            bar = ("#" * round(done * _WIDTH)).ljust(_WIDTH, ".")
            seconds = time.monotonic() - start
            count = f"{self._ended}/{self._ctas} CTAs, " if self._ctas else ""
            sys.stderr.write(f"\r[{bar}] {done:4.0%} {count}{seconds:.0f} s ")
            sys.stderr.flush()
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
