"""The kernels of `suite` on small arrays, whose bits a GPU is to give as well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from tilec.isa import Target

from .examples import Launch
from .suite import Case, Step, cases

_ROWS, _COLS, _DEEP = 144, 272, 256
_BLOCK = 128

TOLERANCE = 2e-2
"""Of kernels whose functions are approximate, over the largest element."""


def launches(target: Target) -> Iterator[Launch]:
    """A launch of every kernel of every case that a target has, of one result each."""
    for case in cases():
        if target.number < case.since:
            continue
        for number, step in enumerate(case.steps):
            arguments, grid, written = _small(case, step)
            program = step.kernel.using(warps=step.warps).compile(
                *step.arguments, target=target.name, **step.constants
            )
            (kernel,) = program.kernels
            name = f"{case.name}-{number}".replace(" ", "-")
            result = arguments[written]
            yield Launch(
                name, f"suite-{name}", program.ptx, kernel, grid, arguments, result, TOLERANCE
            )


def _normal(rng: np.random.Generator, like: Any, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(like.dtype)


def _small(case: Case, step: Step) -> tuple[list[Any], tuple[int, ...], int]:
    """Arguments, the grid, and which argument is the result."""
    rng = np.random.Generator(np.random.PCG64(len(case.name)))
    return _SMALL[case.workload](rng, case, step)


def _product(rng: Any, case: Case, step: Step) -> Any:
    a, b, d, _ = step.arguments
    parts, batches = (min(2, case.problems[0][name]) for name in ("parts", "batches"))
    rows, cols, _ = case.about["tile"]
    turned_a, turned_b = case.about["turned"]
    integer = a.dtype == np.int8
    given = [
        rng.integers(-128, 128, shape).astype(one.dtype) if integer else _normal(rng, one, *shape)
        for one, shape in (
            (a, (batches, _DEEP, _ROWS) if turned_a else (batches, _ROWS, _DEEP)),
            (b, (batches, _COLS, _DEEP) if turned_b else (batches, _DEEP, _COLS)),
        )
    ]
    result = np.zeros((batches, _ROWS, _COLS), d.dtype)
    grid = -(-_COLS // cols), -(-_ROWS // rows), batches * parts
    return [*given, result, np.int64(_DEEP // parts)], grid, 2


def _groups(rng: Any, case: Case, step: Step) -> Any:
    a, b, c = (lists[0] for lists in step.arguments)
    heights = [1, 130, 3, 2, 9, 5, 128, 7][: len(step.arguments[0])]
    left = [_normal(rng, a, m, 72) for m in heights]
    right = [_normal(rng, b, 72, 40) for _ in heights]
    results = [np.zeros((m, 40), c.dtype) for m in heights]
    del case
    return [*left, *right, *results], (3,), 2 * len(heights) + 1


def _stream_k(rng: Any, case: Case, step: Step) -> Any:
    a, b, c, parts, flags = step.arguments
    block, ctas = case.about["block"], 3
    arguments = [_normal(rng, a, _ROWS, _DEEP), _normal(rng, b, _DEEP, 72)]
    arguments += [np.zeros((_ROWS, 72), c.dtype), np.zeros((ctas, block, block), parts.dtype)]
    return [*arguments, np.zeros(-(-ctas // 4) * 4, flags.dtype)], (ctas,), 2


def _block_scales(rng: Any, case: Case, step: Step) -> Any:
    a, b, of_a, of_b, c = step.arguments
    rows, cols, _ = case.about["tile"]
    m, n, k = _ROWS, 2 * _BLOCK, 2 * _BLOCK
    arguments = [_normal(rng, a, m, k), _normal(rng, b, n, k)]
    arguments += [_normal(rng, of_a, m, k // _BLOCK), _normal(rng, of_b, n // _BLOCK, k // _BLOCK)]
    return [*arguments, np.zeros((m, n), c.dtype)], (-(-n // cols), -(-m // rows)), 4


def _weights(rng: Any, case: Case, step: Step) -> Any:
    a, w, scales, zeros, c = step.arguments
    rows, cols = case.about["tile"]
    m, n, k = 24, 144, 256
    groups = n, k // case.about["group"]
    arguments = [_normal(rng, a, m, k), rng.integers(0, 256, (n, k // 2)).astype(w.dtype)]
    arguments += [_normal(rng, scales, *groups), rng.integers(0, 16, groups).astype(zeros.dtype)]
    return [*arguments, np.zeros((m, n), c.dtype)], (-(-n // cols), -(-m // rows)), 4


def _sequences(rng: Any, case: Case, step: Step) -> Any:
    shared, deep = case.about["shared"], case.about["deep"]
    heads, starts = 2 * shared, np.array([0, 9, 139], np.int32)
    q, k, v = (
        _normal(rng, step.arguments[0], count, int(starts[-1]), deep) for count in (heads, 2, 2)
    )
    scale = np.float32(math.log2(math.e) / math.sqrt(deep))
    grid = -(-130 // case.about["tile"][0]), heads, len(starts) - 1
    return [q, k, v, np.zeros_like(q), starts, scale], grid, 3


def _gradients(rng: Any, case: Case, step: Step) -> Any:
    """The last array of the kernel is its result."""
    shape = 2, 72, case.about["deep"]
    arguments: list[Any] = []
    for one in step.arguments:
        if not isinstance(one, np.ndarray):
            arguments.append(np.float32(case.about["deep"] ** -0.5))
        else:
            arguments.append(_normal(rng, one, *shape[: one.ndim]))
    arrays = [number for number, one in enumerate(arguments) if one.ndim]
    if len(arrays) > 4:
        arguments[4] += np.float32(8)  # the logarithms of sums: powers are small
    return arguments, (-(-shape[1] // step.fields["rows"]), shape[0]), arrays[-1]


_SMALL: Any = {
    "products": _product,
    "groups": _groups,
    "stream-K": _stream_k,
    "block scales": _block_scales,
    "weights": _weights,
    "sequences": _sequences,
    "gradients": _gradients,
}
"""By workload."""
