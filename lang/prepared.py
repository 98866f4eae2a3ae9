"""Launches on a GPU that were made before, with the same arguments at the same places.

What a launch checks and packs follows from its arguments and from what the kernel reads. While both
are as they were, nothing is left to do but to ask the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .dtypes import DType
from .streams import Queue

if TYPE_CHECKING:
    from tilec.runtime.cuda.bound import Launch

    from .snapshot import Snapshot

_MOST = 256
"""Launches that are held of a kernel; beyond, the oldest goes."""


class LaunchKey(NamedTuple):
    """What tells a launch of a kernel from others.

    Attributes:
        arguments: as `key_of` gives it.
        names: of those that are given by name.
        grid: its CTAs.
        queue: where it goes.
    """

    arguments: Hashable
    names: tuple[str, ...]
    grid: Hashable
    queue: Queue


class Prepared(NamedTuple):
    """A launch with everything settled.

    Attributes:
        launch: makes it.
        state: what the kernel read when it was compiled.
    """

    launch: Launch
    state: Snapshot


class PreparedLaunches:
    """Those of one kernel with one group of settings."""

    def __init__(self) -> None:
        self._found: dict[LaunchKey, Prepared] = {}

    def get(self, key: LaunchKey) -> Launch | None:
        """A launch that can be made as before."""
        found = self._found.get(key)
        if found is None:
            return None
        if found.launch.is_lost or not found.state.holds():
            self._found.pop(key, None)  # another thread may have been first
            return None
        return found.launch

    def put(self, key: LaunchKey, launch: Launch, state: Snapshot) -> None:
        """Hold a launch; it keeps no array alive."""
        while len(self._found) >= _MOST:
            del self._found[next(iter(self._found))]
        self._found[key] = Prepared(launch.without_arrays(), state)


def key_of(values: Iterable[Any]) -> Hashable | None:
    """What tells arguments from others, by types, bits, and where arrays lie.

    None where there are some of which that is not known at once.
    """
    found: list[Hashable] = []
    for value in values:
        type_: type = type(value)
        read = _readers.get(type_)
        if read is None:
            read = _readers[type_] = _reader(value)
        part = read(value)
        if part is _UNKNOWN:
            return None
        found.append(type_)
        found.append(part)
    return tuple(found)


Reader = Callable[[Any], Hashable]
_UNKNOWN = object()


def _itself(value: Any) -> Hashable:
    return value  # type: ignore[no-any-return] # of a type that can be hashed


def _unknown(_: Any) -> Hashable:
    return _UNKNOWN


def _array(value: Any) -> Hashable:
    return value.pointer, value.shape, value.dtype, value.device.ordinal


def _tensor(value: Any) -> Hashable:
    if not value.is_cuda:  # in the host's memory it is copied, or simulated on
        return _UNKNOWN
    return value.data_ptr(), value.shape, value.stride(), value.dtype, value.device


_readers: dict[type, Reader] = {
    int: _itself,
    bool: _itself,
    str: _itself,
    type(None): _itself,
    float: float.hex,  # 0.0 is not -0.0, and NaN is itself
}
"""How a value of each type is told from others of it."""


def _reader(value: Any) -> Reader:
    """The same for a type that has not been met."""
    type_ = type(value)
    if type_.__module__ == "tilec.runtime.cuda.memory":
        return _array
    if hasattr(type_, "data_ptr") and hasattr(type_, "stride"):  # torch's
        return _tensor
    if isinstance(value, np.generic):
        return np.generic.tobytes
    return _itself if isinstance(value, type(DType)) else _unknown
