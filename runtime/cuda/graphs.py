"""CUDA graphs: launches that are recorded once, and made again together."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .device import Resource
from .driver import bindings
from .errors import CudaError
from .streams import Stream, handle


class Graph(Resource):
    """What went to a stream while it was recorded, by `record`; call it to do all of that again.

    It keeps the kernels, not the arrays: those must be there, at the same addresses, whenever it is
    launched.
    """

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream.device.ordinal)
        self._stream = handle(stream)
        self._kept: list[object] = []
        self._launched: Any = None

    def _begin(self) -> None:
        modes = bindings().CUstreamCaptureMode
        mode = modes.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call("cuStreamBeginCapture", self._stream, mode)
        self.device.recorders.append(self._kept)

    def _end(self, *, usable: bool) -> None:
        self.device.recorders.remove(self._kept)
        try:
            recorded = self._call("cuStreamEndCapture", self._stream)
        except CudaError:
            if usable:
                raise
            return
        try:
            if usable:
                self._launched = self._call("cuGraphInstantiate", recorded, 0)
        finally:
            self._call("cuGraphDestroy", recorded)

    def __call__(self, stream: Any = None) -> None:
        """Make all launches again, without waiting for their end.

        Args:
            stream: where; by default the stream that was recorded.

        Raises:
            CudaError: if nothing has been recorded, or it was closed.
            FaultError: if a kernel launched before has faulted.
        """
        if self._launched is None:
            raise CudaError("the graph holds nothing: it is closed, or its recording failed")
        self._call(
            "cuGraphLaunch", self._launched, self._stream if stream is None else handle(stream)
        )

    def close(self) -> None:
        """Give the graph back."""
        launched, self._launched = self._launched, None
        self._kept.clear()
        if launched is not None and not self.lost:
            self._call("cuGraphExecDestroy", launched)


@contextmanager
def record(stream: Stream) -> Iterator[Graph]:
    """A graph of what goes to a stream inside of `with`; none of it runs there.

    Everything that is launched has been launched before: what loads code, takes memory, copies
    arrays of the host or waits is refused by the driver while a stream is recorded. So is what
    gives memory back: Python's garbage collector, which may do that at any time, rests meanwhile.

    Args:
        stream: to which the launches go, `kernel.using(stream=stream)`.

    Raises:
        CaptureError: for what cannot be recorded.
    """
    graph = Graph(stream)
    collects = gc.isenabled()
    gc.disable()
    try:
        graph._begin()
        try:
            yield graph
        except BaseException:
            graph._end(usable=False)
            raise
        graph._end(usable=True)
    finally:
        if collects:
            gc.enable()
