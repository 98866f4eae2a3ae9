"""Launches as plain data, and what they give by each engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from case import WrongError
from guards import guarded

ENGINES = ("numpy", "native")


def described(value: Any, seed: int) -> dict[str, Any]:
    """An argument as plain data; of arrays the shape, with numbers by a seed.

    Raises:
        ValueError: for what is not described.
    """
    match value:
        case None:
            return {"kind": "null"}
        case np.ndarray():
            return {"kind": "array", "type": value.dtype.name, "shape": list(value.shape),
                    "seed": seed}  # fmt: skip
        case bytes():
            return {"kind": "bytes", "hex": value.hex()}
        case tuple():
            members = [described(one, seed + n) for n, one in enumerate(value)]
            return {"kind": "tuple", "members": members}
        case np.generic():
            return {"kind": "number", "type": value.dtype.name, "value": value.item()}
        case int() | float():
            return {"kind": "number", "type": "", "value": value}
    raise ValueError(type(value).__name__)


def built(given: dict[str, Any], arrays: list[np.ndarray]) -> Any:
    """The argument that is described; `arrays` are those before it, to which it is added."""
    match given["kind"]:
        case "null":
            return None
        case "bytes":
            return bytes.fromhex(given["hex"])
        case "tuple":
            return tuple(built(one, arrays) for one in given["members"])
        case "number" if given["type"]:
            return np.array(given["value"]).astype(given["type"])[()]
        case "number":
            return given["value"]
        case "part":  # of an array before
            whole = arrays[given["of"] % len(arrays)] if arrays else np.zeros(0, np.uint8)
            if not whole.flags.c_contiguous:
                return whole
            first = given["first"] % (whole.size + 1)
            return whole.reshape(-1)[first : first + given["count"]]
        case _:
            arrays.append(_array(given))
            return arrays[-1]


def _array(given: dict[str, Any]) -> np.ndarray:
    kind, shape = np.dtype(given["type"]), given["shape"]
    rng = np.random.default_rng(given["seed"])
    count = int(np.prod(shape))
    if kind.kind in "iu":
        top = 64 if kind.itemsize > 1 else 128
        values = rng.integers(0, top, count).astype(kind)
    elif kind.kind == "b":
        values = rng.integers(0, 2, count).astype(kind)
    else:
        values = rng.standard_normal(count).astype(np.float32).astype(kind)
    how = given.get("how", "")
    # At a multiple of 256, so that overlapping arrays lie alike in all launches; or just behind.
    raw = np.zeros(2 * values.nbytes + 257, np.uint8)
    raw = raw[-raw.ctypes.data % 256 + (how == "odd") :]
    if how == "apart":
        both = raw[: 2 * values.nbytes].view(kind).reshape(*shape, 2)
        both[..., 0] = values.reshape(shape)
        return both[..., 0]
    placed = raw[: values.nbytes].view(kind)
    placed[:] = values
    placed.flags.writeable = how != "read-only"
    return placed.reshape(shape)


@contextmanager
def _set(engine: str, options: dict[str, Any]) -> Iterator[None]:
    """An engine, how soon machine code executes what it may, and how many threads a wave has."""
    from tilec.sim import residency
    from tilec.sim.native import choice, fused

    before = choice.AFTER, choice.WORK, fused.ASKED, fused.HOT, residency.WAVE_THREADS
    names = (choice.VARIABLE, choice.THREADS)
    kept = {name: os.environ.get(name) for name in names}
    choice.AFTER, choice.WORK = options["after"], 0
    residency.WAVE_THREADS = options["wave"]
    if options["fused"]:
        fused.ASKED, fused.HOT = 1, 1
    os.environ |= dict(zip(names, (engine, str(options["threads"])), strict=True))
    try:
        yield
    finally:
        choice.AFTER, choice.WORK, fused.ASKED, fused.HOT, residency.WAVE_THREADS = before
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def outcomes(text: str, options: dict[str, Any], engine: str) -> Iterator[dict[str, Any]]:
    """What launches give, one after the other: arrays, report and error.

    By machine code they are of one module, which may keep something of each for the next.

    Raises:
        Overrun: if something was written outside the simulator's arrays.
    """
    from tilec import sim
    from tilec.isa import TilecError
    from tilec.sim.ptx import read_text

    module: sim.Module | None = None
    for given in options["launches"]:
        arrays: list[np.ndarray] = []
        args = [built(one, arrays) for one in given["args"]]
        found: dict[str, Any] = {}
        with _set(engine, options), guarded() as guards, np.errstate(all="ignore"):
            try:
                if module is None or engine == "numpy":
                    module = read_text(text)
                report = sim.launch(
                    module, options["kernel"], given["grid"], options["block"], args,
                    max_steps=given["max_steps"], **options["launch"],
                )  # fmt: skip
                found["report"] = asdict(report)
            except TilecError as error:
                found["error"] = type(error).__name__, str(error)
                if isinstance(error, sim.SimulationError) and error.report is not None:
                    found["report"] = asdict(error.report)
            guards.check()
        found["arrays"] = [array.tobytes() for array in arrays]
        yield found


def compare(text: str, options: dict[str, Any]) -> bool:
    """Whether all launches run by machine code, which must give what numpy gives.

    Raises:
        WrongError: naming what differs.
        Overrun: as `outcomes`.
    """
    ran = True
    both = (outcomes(text, options, engine) for engine in ENGINES)
    for number, (expected, found) in enumerate(zip(*both, strict=True)):
        for name in ("error", "arrays", "report"):
            one, other = expected.get(name), found.get(name)
            if repr(one) != repr(other):
                which = " of a later launch" if number else ""
                raise WrongError(f"{name}{which} by machine code differs{_where(one, other)}")
        ran &= "report" in found
    return ran


def _where(expected: Any, found: Any) -> str:
    """The fields of reports that differ."""
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return ""
    names = [name for name, value in expected.items() if repr(value) != repr(found[name])]
    return f" in {', '.join(names)}"
