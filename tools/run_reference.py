"""Checks of `tile-run --check`: arrays after a run against what numpy makes of those before."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
from tilec.isa import TilecError

from .run_arguments import Array, Value


@dataclass(frozen=True, slots=True)
class Expected:
    """What an array should hold.

    Attributes:
        values: the numbers.
        allowed: how far each may be off.
        rule: `allowed` in words.
    """

    values: Array
    allowed: Array
    rule: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one array compares.

    Attributes:
        argument: its number.
        wrong: elements off by more than allowed.
        largest: largest difference.
        rule: what is allowed.
        message: what is wrong, in words; empty if nothing is.
    """

    argument: int
    wrong: int
    largest: float
    rule: str
    message: str

    def __str__(self) -> str:
        verdict = self.message or f"largest difference {self.largest:.3g}"
        return f"argument {self.argument}: {verdict}; allowed: {self.rule}"


def expected(check: str, before: Sequence[Value]) -> dict[int, Expected]:
    """What arrays should hold after the run, by number of the argument.

    Args:
        check: `gemm`, or the path of a Python file (see `docs/simulator.md`).
        before: the arguments before the run.

    Raises:
        TilecError: if the reference does not apply, or fails.
        OSError: if the file cannot be read.
    """
    return _gemm(before) if check == "gemm" else _of_file(Path(check), before)


def compare(number: int, found: Array, wanted: Expected) -> Outcome:
    """Compare an array with what it should hold. NaN equals NaN."""
    exact = found.dtype.kind in "biu" and wanted.values.dtype.kind in "biu"
    ours, theirs = (x if exact else x.astype(np.float64) for x in (found, wanted.values))
    same = ours == theirs
    if not exact:
        same |= np.isnan(ours) & np.isnan(theirs)
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    apart = np.where(same, 0.0, apart)
    wrong = ~same & ~(apart <= wanted.allowed)
    count = int(np.count_nonzero(wrong))
    largest = float(apart.max()) if apart.size else 0.0
    message = ""
    if count:
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        limit = float(np.broadcast_to(wanted.allowed, apart.shape)[at])
        message = (
            f"{count} of {apart.size} elements are wrong; at {list(at)} {ours[at]} for "
            f"{theirs[at]}, off by {apart[at]:.3g} where {limit:.3g} is allowed"
        )
    return Outcome(number, count, largest, wanted.rule, message)


# C = A·B


def _gemm(before: Sequence[Value]) -> dict[int, Expected]:
    matrices = [(i, v) for i, v in enumerate(before) if isinstance(v, np.ndarray)]
    if len(matrices) not in (3, 4) or any(m.ndim != 2 for _, m in matrices):
        shapes = ", ".join("x".join(map(str, m.shape)) for _, m in matrices)
        raise TilecError(
            "--check gemm takes three matrices, A, B and the result, or four, with an addend "
            f"before the result; the arrays are {shapes or 'none'}"
        )
    (_, a), (_, b), *addends, (number, result) = matrices
    b = _fitting(a, b, result, [m for _, m in addends])
    wide = np.int64 if result.dtype.kind in "iu" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    values = a @ b
    size = np.abs(a) @ np.abs(b)
    for _, addend in addends:
        values = values + addend.astype(wide)
        size = size + np.abs(addend.astype(wide))
    if wide is np.int64:
        return {number: Expected(values.astype(result.dtype), np.zeros(()), "none")}
    factor, rule = _accuracy(matrices[0][1].dtype, result.dtype, a.shape[1])
    return {number: Expected(values, size * factor, rule)}


def _fitting(a: Array, b: Array, result: Array, addends: Sequence[Array]) -> Array:
    """B as K×N: as it is where that fits, else transposed."""
    for candidate in (b, b.T):
        fits = a.shape[1] == candidate.shape[0]
        if fits and (a.shape[0], candidate.shape[1]) == result.shape:
            break
    else:
        shapes = ", ".join("x".join(map(str, m.shape)) for m in (a, b, result))
        raise TilecError(f"--check gemm: no product fits the shapes {shapes}")
    if any(m.shape != result.shape for m in addends):
        raise TilecError("--check gemm: the addend has another shape than the result")
    return candidate


def _accuracy(operand: np.dtype[Any], result: np.dtype[Any], k: int) -> tuple[float, str]:
    """What an element may be off by for each of |A|·|B| + |addend|, and that in words."""
    single = 2.0**-23
    unit = float(ml_dtypes.finfo(result).eps)
    if result == np.float64:
        return (k + 1) * unit, f"(K + 1)·{unit:.3g}·(|A|·|B|), K = {k}"
    factor, rule = k * single + unit, f"(K·{single:.3g} + {unit:.3g})"
    if operand == np.float32:
        # The operands may have been rounded, or cut, to tf32.
        factor, rule = factor + 2.0**-9, f"(K·{single:.3g} + {unit:.3g} + {2.0**-9:.3g})"
    return factor, f"{rule}·(|A|·|B|), K = {k}"


# A file of the user's


def _of_file(path: Path, before: Sequence[Value]) -> dict[int, Expected]:
    module = _module(path)
    reference = getattr(module, "reference", None)
    if not callable(reference):
        raise TilecError(f"{path} defines no function 'reference'")
    answer = _guarded(path, lambda: reference(*before))
    arrays = [i for i, v in enumerate(before) if isinstance(v, np.ndarray)]
    if not isinstance(answer, Mapping):
        if not arrays:
            raise TilecError(f"{path} checks arrays, and no argument is one")
        answer = {arrays[-1]: answer}
    rtol, atol = (float(getattr(module, name, 0.0)) for name in ("RTOL", "ATOL"))
    found = {}
    for number, wanted in answer.items():
        values = np.asarray(wanted)
        given = before[number] if number in arrays else None
        if not isinstance(given, np.ndarray):
            raise TilecError(f"{path}: argument {number} is not an array; arrays are {arrays}")
        if values.shape != given.shape:
            raise TilecError(
                f"{path}: the reference of argument {number} has shape {values.shape}, "
                f"the argument {given.shape}"
            )
        allowed = atol + rtol * np.abs(values.astype(np.float64))
        rule = f"{atol:.3g} + {rtol:.3g}·|expected|" if atol or rtol else "none"
        found[int(number)] = Expected(values, allowed, rule)
    return found


def _module(path: Path) -> ModuleType:
    path.read_bytes()
    spec = importlib.util.spec_from_file_location("tile_run_reference", path)
    if spec is None or spec.loader is None:
        raise TilecError(f"--check takes 'gemm' or a Python file, not '{path}'")
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader
    _guarded(path, lambda: loader.exec_module(module))
    return module


def _guarded(path: Path, body: Any) -> Any:
    """Run code of the user's; its exceptions become errors at its line."""
    try:
        return body()
    except Exception as error:
        if isinstance(error, SyntaxError):
            raise TilecError(f"{path}:{error.lineno}: {error.msg}") from None
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), 0)
        raise TilecError(f"{path}:{line}: {type(error).__name__}: {error}") from None
