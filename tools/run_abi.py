"""Arguments of the kernels that tilec compiles, as the launch passes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tilec.abi import Abi, Argument, Kernel, MemRef
from tilec.isa import TilecError, element_type
from tilec.isa.dtypes import numpy_type

from .run_arguments import Array, Value


def described(path: Path) -> dict[str, Kernel]:
    """The kernels of a JSON file; none if it is another's."""
    try:
        abi = Abi.parse(path.read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError, TilecError):
        return {}
    return {kernel.name: kernel for kernel in abi.kernels}


def passed(kernel: Kernel, values: Sequence[Value]) -> list[Value]:
    """The values of a kernel's parameters: of an array itself, then what extents it takes.

    Raises:
        TilecError: naming the argument that does not fit.
    """
    if len(values) != len(kernel.arguments):
        listed = ", ".join(f"{a.name}: {_written(a)}" for a in kernel.arguments)
        raise TilecError(
            f"kernel '{kernel.name}' takes {len(kernel.arguments)} arguments ({listed}), "
            f"not {len(values)}"
        )
    return [
        parameter
        for number, (argument, value) in enumerate(zip(kernel.arguments, values, strict=True))
        for parameter in _passed(argument, value, number)
    ]


def _written(argument: Argument) -> str:
    if not isinstance(argument, MemRef):
        return argument.type
    extents = "x".join("?" if n is None else str(n) for n in argument.shape)
    return f"{extents}x{argument.type}"


def _passed(argument: Argument, value: Value, number: int) -> list[Value]:
    is_array = isinstance(value, np.ndarray)
    if not isinstance(argument, MemRef):
        if is_array and argument.type != "ptr":
            raise TilecError(f"argument {number} is an array; the kernel takes {argument.type}")
        return [value]
    if not isinstance(value, np.ndarray):
        raise TilecError(f"argument {number} is no array; the kernel takes {_written(argument)}")
    _check(argument, value, number)
    strides = [step // value.itemsize for step in value.strides]
    given = (*value.shape, *strides, 0)
    known = (*argument.shape, *argument.strides, argument.offset)
    dynamic = [n for n, fixed in zip(given, known, strict=True) if fixed is None]
    return [value, *dynamic]


def _check(argument: MemRef, value: Array, number: int) -> None:
    strides = tuple(step // value.itemsize for step in value.strides)
    fits = (
        value.ndim == len(argument.shape)
        and all(k in (None, n) for n, k in zip(value.shape, argument.shape, strict=True))
        and all(k in (None, n) for n, k in zip(strides, argument.strides, strict=True))
        and argument.offset in (None, 0)
    )
    if not fits:
        given = "x".join(map(str, value.shape))
        raise TilecError(
            f"argument {number} is {given}, row after row; the kernel takes {_written(argument)} "
            f"with strides {['?' if n is None else n for n in argument.strides]}"
        )
    if not _holds(argument.type, value.dtype):
        raise TilecError(
            f"argument {number} has elements of {value.dtype}; the kernel takes {argument.type}"
        )


def _holds(type_: str, given: np.dtype[Any]) -> bool:
    """Whether an array has elements of an MLIR type; integers hold what their bits are."""
    if type_ in ("f16", "bf16", "f32", "f64"):
        return given == numpy_type(element_type(type_))
    bits = re.search(r"\d+", type_)
    return bits is None or int(bits[0]) == 8 * given.itemsize
