"""A kernel's arguments as the interpreter takes them, and what it leaves of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.interpret import Buffer, View
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import number
from tilec.ir.mlir import ir
from tilec.passes.functions import functions, gpu_modules


def kernel_of(module: ir.Module) -> Any:
    """The only kernel of a module."""
    (found,) = [f for one in gpu_modules(module) for f in functions(one)]
    return found


def views(function: Any, arguments: Sequence[Any], arithmetic: Any) -> list[Any]:
    """numpy's arrays as views of memory; those that overlap share it."""
    found: list[Any] = []
    buffers: dict[int, tuple[Buffer, Any]] = {}
    for given, value in zip(arguments, function.regions[0].blocks[0].arguments, strict=True):
        if not isinstance(given, np.ndarray):
            found.append(np.asarray(given))
            continue
        of, root = number(value.type), given
        while root.base is not None:
            root = root.base
        if id(root) not in buffers:
            flat = np.ascontiguousarray(root).reshape(-1)
            data = arithmetic.constant(flat.astype(np.float64), of) if of.is_float else flat
            buffers[id(root)] = Buffer(data.astype(dtype_of(of, arithmetic)), of), root
        buffer, root = buffers[id(root)]
        begin = (at.__array_interface__["data"][0] for at in (given, root))
        offset = (next(begin) - next(begin)) // given.itemsize
        strides = tuple(step // given.itemsize for step in given.strides)
        found.append(View(buffer, offset, given.shape, strides))
    return found


def contents(view: View, memory: Any) -> Any:
    """What a view sees of its memory afterwards, in float64 or int64."""
    steps = [step * memory.itemsize for step in view.strides]
    seen = np.lib.stride_tricks.as_strided(memory[view.offset :], view.sizes, steps)
    return seen.astype(np.float64 if view.buffer.number.is_float else np.int64)
