"""Cases by number: the same number gives the same case, wherever and whenever it is tried."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib import import_module

from case import Case, Entry

ENTRIES = {
    "sidecars": 330, "mlir": 220, "pipelines": 220, "ptx": 60, "commands": 50, "arithmetic": 35,
    "kernels": 30, "launches": 10, "tiles": 5, "operations": 5, "bytecode": 5, "processes": 0.05,
    "faults": 0.03,
}  # fmt: skip
"""The entries, and how often each has its turn: what takes a second less than what takes none."""


def entry(name: str) -> Entry:
    """The module of an entry."""
    found: Entry = import_module(f"entries.{name}")  # type: ignore[assignment]
    return found


def entry_of(number: int, chosen: Sequence[str]) -> str:
    """The entry whose turn a number is."""
    weights = [ENTRIES[name] for name in chosen]
    return random.Random(f"entry {number}").choices(chosen, weights)[0]


def drawn(number: int, chosen: Sequence[str]) -> Case:
    """The case of a number."""
    return entry(entry_of(number, chosen)).make(random.Random(f"case {number}"))
