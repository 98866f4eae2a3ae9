"""What ops mean: functions by the op's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""A scalar: an array of one element, or of one a thread. A tile: an array of its shape. A fragment:
one of its shape for each warp, or group of warps, that holds one. A memref: a `View`."""
Meaning: TypeAlias = Callable[..., Any]
"""Called with a `Call` and the operands; gives the result, a tuple of several, or None, or what
`Registered.control` says."""


class Registered(NamedTuple):
    """A meaning.

    Attributes:
        act: the function.
        control: whether it runs regions or waits, and so is a generator that yields while it cannot
            go on, and returns the results.
        meets: whether some warps meet by it, without all others of their CTA.
    """

    act: Meaning
    control: bool
    meets: bool


_MEANINGS: dict[str, Registered] = {}
_FILES = (
    *("arith", "scf", "gpu", "memref", "memory", "copies", "views", "products", "atomics"),
    *("barriers", "boxes", "warpgroups", "wmma", "threads", "clusters", "linalg", "vector"),
    *("tensor_memory", "tcgen05", "tcgen05_cp", "accumulators", "affine", "launch_control"),
)


def meaning(*ops: str, control: bool = False, meets: bool = False) -> Callable[[Meaning], Meaning]:
    """Declare what ops mean, those of another package's dialect, too.

    Args:
        ops: names, such as `tile.load`.
        control: as of `Registered`.
        meets: as of `Registered`.
    """

    def declare(act: Meaning) -> Meaning:
        for op in ops:
            _MEANINGS[op] = Registered(act, control, meets)
        return act

    return declare


@cache
def _load() -> None:
    for name in _FILES:
        import_module(f"tilec.interpret.meanings.{name}")


def meanings() -> Mapping[str, Registered]:
    """All that are known, by the op's name."""
    _load()
    return MappingProxyType(_MEANINGS)
