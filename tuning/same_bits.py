"""Whether a candidate's results are bit for bit the default's, by a run on the exact simulator.

The order of sums decides it, which tiles, instructions and splits change. The problem is a small
one: a whole launch of it is simulated, with the bits of the hardware.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from .declared import Tunable
from .problems import Problem

_SEED = 20
_EXPONENTS = 8
"""Floats are of magnitudes up to so many powers of two apart, so that sums round."""


def has_bits_of_default(
    tunable: Tunable, candidate: Mapping[str, int], problem: Problem, target: str
) -> bool:
    """Whether a candidate leaves in all arrays what the default does.

    Args:
        tunable: the kernel.
        candidate: the value of each parameter.
        problem: the sizes of the launch that is simulated.
        target: what it is compiled for, whose bits the simulator gives.

    Raises:
        TilecError: for what does not compile, and what the simulator finds wrong.
    """
    return results(tunable, candidate, problem, target) == _of_default(tunable, problem, target)


_known: dict[tuple[str, str, str], bytes] = {}


def _of_default(tunable: Tunable, problem: Problem, target: str) -> bytes:
    key = tunable.digest, str(problem), target
    if key not in _known:
        _known[key] = results(tunable, tunable.space.default, problem, target)
    return _known[key]


def results(tunable: Tunable, candidate: Mapping[str, int], problem: Problem, target: str) -> bytes:
    """What a candidate leaves in all arrays, as a digest."""
    args = tunable.values(candidate, problem)
    for number, one in enumerate(args):
        if isinstance(one, np.ndarray):
            one[...] = data(one.shape, one.dtype, number)
    compiled = tunable.compile(candidate, args, target)
    compiled.launch(*args, grid=tunable.ctas(candidate, problem), kernel=tunable.name, device="sim")
    made = blake2b(digest_size=16)
    for one in args:
        if isinstance(one, np.ndarray):
            made.update(one.tobytes())
    return made.digest()


@lru_cache(maxsize=8)
def data(shape: tuple[int, ...], dtype: np.dtype[Any], number: int) -> Any:
    """Numbers of both signs and many magnitudes, the same ones every time."""
    random = np.random.default_rng((_SEED, number))
    if np.issubdtype(dtype, np.integer):
        return random.integers(-8 if np.issubdtype(dtype, np.signedinteger) else 0, 8, shape)
    scale = np.exp2(random.integers(-_EXPONENTS // 2, _EXPONENTS // 2, shape))
    return (random.standard_normal(shape) * scale).astype(np.float32)
