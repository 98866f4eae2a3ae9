"""Launches by both engines; numpy, which is the reference, where a test does not choose."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from tilec.sim import Report, launch
from tilec.sim.native import choice, stretches
from tilec.sim.native.accesses import NativeAccess
from tilec.sim.native.control_parts import Ready


@pytest.fixture(autouse=True)
def _reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is what numpy computes; the tests of both hold machine code to that."""
    monkeypatch.setenv(choice.VARIABLE, "numpy")


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch):
    """Runs a launch by both engines, machine code from the second time that anything is run.

    Gives the arrays, the report, and how many stretches machine code executed.
    """
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    calls: list[stretches.Stretch] = []
    call = stretches.Stretch.__call__

    def counted(self: stretches.Stretch) -> None:
        calls.append(self)
        call(self)

    monkeypatch.setattr(stretches.Stretch, "__call__", counted)

    def run(*args: Any, given: list[Any], **options: Any) -> tuple[list[Any], Report, int]:
        found = []
        for name in choice.ENGINES:
            monkeypatch.setenv(choice.VARIABLE, name)
            calls.clear()
            arrays = [np.copy(a) if isinstance(a, np.ndarray) else a for a in given]
            report = launch(*args, arrays, **options)
            found.append((arrays, report))
        (numpys, expected), (natives, report) = found
        for one, other in zip(numpys, natives, strict=True):
            if isinstance(one, np.ndarray):
                assert one.tobytes() == other.tobytes()
        assert asdict(report) == asdict(expected)
        return natives, report, len(calls)

    return run


@pytest.fixture
def accesses(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of every load and store that machine code was asked for, whether it executed it.

    Those that it was not asked for one by one are in it, too.
    """
    found: list[bool] = []
    access = NativeAccess._access

    def noted(self: NativeAccess, *args: Any) -> bool:
        done = access(self, *args)
        found.append(done)
        return done

    monkeypatch.setattr(NativeAccess, "_access", noted)
    note = Ready.note

    def counted(self: Ready, *args: Any) -> None:
        found.extend([True] * self.done)
        note(self, *args)

    monkeypatch.setattr(Ready, "note", counted)
    return found
