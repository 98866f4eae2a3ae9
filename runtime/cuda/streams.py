"""Streams and events."""

from __future__ import annotations

from typing import Any

from tilec.isa import LaunchError

from .device import Resource

_NON_BLOCKING = 1


def handle(stream: Any) -> int:
    """The driver's handle of a stream: tilec's, any with `__cuda_stream__`, a number.

    None is the default stream.

    Raises:
        LaunchError: for anything else.
    """
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    if isinstance(getattr(stream, "cuda_stream", None), int):  # torch before the protocol
        return int(stream.cuda_stream)
    raise LaunchError(f"stream is {stream!r}; legal: a CUDA stream, its handle, or None")


class Stream(Resource):
    """A queue of work on a GPU, which waits for no other, nor for the default stream."""

    def __init__(self, device: int = 0) -> None:
        super().__init__(device)
        self._handle = self._call("cuStreamCreate", _NON_BLOCKING)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries share streams: its version, and the handle."""
        if self.lost:
            raise LaunchError(f"the stream was lost when the context of {self.device} was reset")
        return 0, int(self._handle)

    def wait(self, event: Event) -> None:
        """Let what is launched from now on wait for an event."""
        self._call("cuStreamWaitEvent", self._handle, event._handle, 0)

    def synchronize(self) -> None:
        """Wait for all that was launched on it.

        Raises:
            FaultError: if a kernel has faulted.
        """
        self._call("cuStreamSynchronize", self._handle)

    def close(self) -> None:
        """Give the stream back."""
        if not self.lost:
            self._call("cuStreamDestroy", self._handle)


class Event(Resource):
    """A point in a stream, with the time at which the GPU gets there."""

    def __init__(self, device: int = 0) -> None:
        super().__init__(device)
        self._handle = self._call("cuEventCreate", 0)

    def record(self, stream: Any = None) -> None:
        """Put the event at the present end of a stream, by default of the default stream."""
        self._call("cuEventRecord", self._handle, handle(stream))

    def synchronize(self) -> None:
        """Wait until the GPU gets there.

        Raises:
            FaultError: if a kernel has faulted.
        """
        self._call("cuEventSynchronize", self._handle)

    def since(self, start: Event) -> float:
        """Milliseconds from an earlier event to this one, which it waits for."""
        self.synchronize()
        milliseconds: float = self._call("cuEventElapsedTime", start._handle, self._handle)
        return milliseconds

    def close(self) -> None:
        """Give the event back."""
        if not self.lost:
            self._call("cuEventDestroy", self._handle)
