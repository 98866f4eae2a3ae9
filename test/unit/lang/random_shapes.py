"""Random chains of what moves, orders and gathers up the elements of a tile, and numpy's of them.

A step takes the tile of the one before, and gives a line of the kernel and what numpy makes of it.
Each step's elements are stored, so that the first that is wrong is found.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

LARGEST = 512
"""Elements of a tile at most: a row of what a kernel gives."""
TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "float16", "float32")
Array = np.ndarray[Any, Any]


class Step(NamedTuple):
    """A step.

    Attributes:
        text: the tile that it makes of `x`.
        value: the same by numpy.
    """

    text: str
    value: Array


def inputs(seed: int) -> Array:
    """The elements that a chain begins with: some of one value, some at the type's limits."""
    chance = np.random.default_rng(seed)
    dtype = np.dtype(TYPES[seed % len(TYPES)])
    shape = [(16,), (8, 16), (2, 4, 8), (32, 4), (1, 64), (4, 1, 8), (128,)][seed % 7]
    if dtype.kind == "f":
        found = np.round(chance.standard_normal(shape) * 4, 1).astype(dtype)
        found[chance.random(shape) < 0.05] = np.inf
        return found
    limits = np.iinfo(dtype)
    found = chance.integers(0, 9, shape).astype(dtype)
    found[chance.random(shape) < 0.1] = limits.max
    found[chance.random(shape) < 0.1] = limits.min
    return found


class Chain:
    """A chain of steps.

    Attributes:
        start: the elements that it begins with.
        steps: what is done to them, one after the other.
    """

    def __init__(self, seed: int, length: int) -> None:
        self.start = inputs(seed)
        self._chance = random.Random(seed)
        self.steps: list[Step] = []
        held = self.start
        while len(self.steps) < length:
            made = self._chance.choice(_STEPS)(held, self._chance)
            if made is not None and 1 <= made.value.size <= LARGEST and made.value.ndim:
                self.steps.append(made)
                held = made.value

    @property
    def text(self) -> str:
        """The kernel: it stores the bits of each step's elements in a row."""
        shape, dtype = self.start.shape, self.start.dtype
        lines = [
            "@tilec.kernel(warps=2)",
            f"def kernel(start: tl.Array[tl.{dtype}, {', '.join(['int'] * len(shape))}],",
            "           out: tl.Array[tl.int64, int, int]):",
            f"    x = tl.load(start, {(0,) * len(shape)}, {shape})",
        ]
        for number, step in enumerate(self.steps):
            lines.append(f"    x = {step.text}")
            lines.append(f"    assert x.shape == {step.value.shape}")
            lines.append(f"    assert repr(x.dtype) == {_name(step.value)!r}")
            bits = step.value.dtype
            seen = f"x.view(tl.int{8 * bits.itemsize})" if bits.kind == "f" else "x"
            lines.append(f"    tl.store(out, ({number}, 0), tl.ravel({seen}).astype(tl.int64))")
        return "\n".join(lines)

    def expected(self) -> Iterator[Array]:
        """What each row of the result holds."""
        for step in self.steps:
            flat = step.value.ravel()
            if flat.dtype.kind == "f":
                flat = flat.view(f"int{8 * flat.dtype.itemsize}")
            yield flat.astype(np.int64)


def _name(value: Array) -> str:
    return "bool" if value.dtype == bool else str(value.dtype)


Maker = Callable[[Array, random.Random], Step | None]
_STEPS: list[Maker] = []


def _step(maker: Maker) -> Maker:
    _STEPS.append(maker)
    return maker


def _axis(x: Array, chance: random.Random) -> int:
    return chance.randrange(-x.ndim, x.ndim)


def _sums(x: Array) -> Any:
    """The type that sums of the elements have; None of floats, whose order would count."""
    if x.dtype.kind == "f":
        return None
    unsigned = x.dtype.kind == "u"
    return x.dtype if x.dtype.itemsize >= 4 else np.dtype("uint32" if unsigned else "int32")


def _ordered(x: Array, axis: int) -> Array:
    """The elements in order, -0.0 before 0.0, which numpy leaves in either order."""
    if x.dtype.kind != "f":
        return np.sort(x, axis)
    return np.take_along_axis(x, np.lexsort((~np.signbit(x), x), axis), axis)


def _chosen(name: str, a: Array, b: Array) -> Array:
    """`maximum` or `minimum`, for which -0.0 is less than 0.0, which numpy leaves open."""
    found = getattr(np, name)(a, b)
    if a.dtype.kind != "f":
        return found
    first = np.signbit(a) == (name == "minimum")
    return np.where((a == 0) & (b == 0), np.where(first, a, b), found)


def _accumulated(name: str, x: Array, axis: int) -> Array:
    moved = np.moveaxis(x, axis, 0)
    held = list(accumulate(moved, lambda a, b: _chosen(name, a, b)))
    return np.moveaxis(np.stack(held), 0, axis)


@_step
def _reshape(x: Array, chance: random.Random) -> Step:
    left, shape = x.size, []
    while left > 1 and len(shape) < 3:
        extent = 1 << chance.randrange(left.bit_length())
        shape.append(extent)
        left //= extent
    shape.append(left)
    chance.shuffle(shape)
    return Step(f"tl.reshape(x, {tuple(shape)})", x.reshape(shape))


@_step
def _transpose(x: Array, chance: random.Random) -> Step:
    axes = list(range(x.ndim))
    chance.shuffle(axes)
    return Step(f"tl.transpose(x, {axes})", x.transpose(axes))


@_step
def _flip(x: Array, chance: random.Random) -> Step:
    axis = _axis(x, chance)
    return Step(f"tl.flip(x, {axis})", np.flip(x, axis))


@_step
def _part(x: Array, chance: random.Random) -> Step | None:
    axis = chance.randrange(x.ndim)
    extent = x.shape[axis]
    if extent < 2:
        return None
    count = 1 << chance.randrange(extent.bit_length() - 1)
    first = count * chance.randrange(extent // count)
    index = [slice(None)] * axis + [slice(first, first + count)]
    said = ", ".join([":"] * axis + [f"{first}:{first + count}"])
    return Step(f"x[{said}]", x[tuple(index)])


@_step
def _every_other(x: Array, chance: random.Random) -> Step | None:
    if x.shape[0] < 4:
        return None
    first, step = chance.randrange(2), chance.choice((2, -1))
    said = "::-1" if step < 0 else f"{first}::2"
    return Step(f"x[{said}]", x[::-1] if step < 0 else x[first::2])


@_step
def _pick(x: Array, chance: random.Random) -> Step | None:
    if x.ndim < 2:
        return None
    at = chance.randrange(x.shape[0])
    return Step(f"x[{at}]", x[at])


@_step
def _expand(x: Array, chance: random.Random) -> Step | None:
    if x.ndim > 2:
        return None
    count = chance.choice((1, 2, 4))
    shape = (count, *x.shape)
    return Step(f"tl.broadcast_to(tl.expand_dims(x, 0), {shape})", np.broadcast_to(x, shape))


@_step
def _two(x: Array, chance: random.Random) -> Step:
    axis = _axis(x, chance)
    name = chance.choice(("stack", "concatenate"))
    value = getattr(np, name)([x, np.flip(x, axis)], axis)
    return Step(f"tl.{name}((x, tl.flip(x, {axis})), {axis})", value)


@_step
def _interleave(x: Array, chance: random.Random) -> Step:
    both = np.stack((x, np.flip(x, 0)), -1)
    return Step("tl.interleave(x, tl.flip(x, 0))", both.reshape(*x.shape[:-1], -1))


@_step
def _split(x: Array, chance: random.Random) -> Step | None:
    if x.shape[-1] != 2 or x.ndim < 2:
        return None
    at = chance.randrange(2)
    return Step(f"tl.split(x)[{at}]", x[..., at])


@_step
def _sum_up(x: Array, chance: random.Random) -> Step | None:
    dtype, axis = _sums(x), _axis(x, chance)
    if dtype is None:
        return None
    name, reverse = chance.choice(("cumsum", "cumprod")), chance.random() < 0.5
    with np.errstate(all="ignore"):
        turned = np.flip(x, axis) if reverse else x
        value = getattr(np, name)(turned, axis, dtype=dtype)
    text = f"tl.{name}(x, {axis}, reverse={reverse})"
    return Step(text, np.flip(value, axis) if reverse else value)


@_step
def _scan(x: Array, chance: random.Random) -> Step:
    """Functions of which the first does not commute."""
    axis = _axis(x, chance)
    which = chance.choice(("first", "maximum", "minimum"))
    if which == "first":
        text = "lambda a, b: a"
        value = np.broadcast_to(np.take(x, [0], axis), x.shape)
    else:
        text = f"lambda a, b: tl.{which}(a, b)"
        value = _accumulated(which, x, axis)
    return Step(f"tl.associative_scan(x, {axis}, {text})", value)


@_step
def _recurrence(x: Array, chance: random.Random) -> Step | None:
    """h[t] = x[t] * h[t-1] + x[t], which wraps."""
    if x.dtype not in (np.dtype("int32"), np.dtype("uint32"), np.dtype("int64")):
        return None
    axis = _axis(x, chance)
    moved = np.moveaxis(x, axis, 0)
    value, held = np.empty_like(moved), np.zeros_like(moved[0])
    with np.errstate(all="ignore"):
        for number, one in enumerate(moved):
            held = one * held + one
            value[number] = held
    combine = "lambda a, b, c, d: (a * c, b * c + d)"
    return Step(f"tl.associative_scan((x, x), {axis}, {combine})[1]", np.moveaxis(value, 0, axis))


@_step
def _reduce(x: Array, chance: random.Random) -> Step:
    axis = _axis(x, chance)
    name = chance.choice(("max", "min", "sum", "prod", "argmax", "argmin", "any", "last"))
    if name == "last":
        text = f"tl.reduce(x, {axis}, lambda a, b: b, keepdims=True)"
        return Step(text, np.take(x, [-1], axis))
    if name in ("sum", "prod"):
        dtype = _sums(x)
        if dtype is None:
            name = "max"
        else:
            with np.errstate(all="ignore"):
                value = getattr(np, name)(x, axis, dtype=dtype, keepdims=True)
            return Step(f"tl.{name}(x, {axis}, keepdims=True)", value)
    if name == "any":
        text = f"tl.any(x != 0, {axis}, keepdims=True).astype(tl.int32)"
        return Step(text, (x != 0).any(axis, keepdims=True).astype(np.int32))
    if name.startswith("arg"):
        value = getattr(np, name)(x, axis, keepdims=True).astype(np.int32)
    else:
        value = np.take(_accumulated(f"{name}imum", x, axis), [-1], axis)
    return Step(f"tl.{name}(x, {axis}, keepdims=True)", value)


@_step
def _sort(x: Array, chance: random.Random) -> Step:
    axis, descending = _axis(x, chance), chance.random() < 0.3
    value = _ordered(x, axis)
    text = f"tl.sort(x, {axis}, descending={descending})"
    return Step(text, np.flip(value, axis) if descending else value)


@_step
def _argsort(x: Array, chance: random.Random) -> Step:
    axis = _axis(x, chance)
    value = np.argsort(x, axis, kind="stable").astype(np.int32)
    return Step(f"tl.argsort(x, {axis})", value)


@_step
def _sort_by(x: Array, chance: random.Random) -> Step:
    axis = _axis(x, chance)
    order = np.argsort(x, axis, kind="stable")
    value = np.take_along_axis(np.flip(x, axis), order, axis)
    return Step(f"tl.sort_by(x, tl.flip(x, {axis}), {axis})[-1]", value)


@_step
def _topk(x: Array, chance: random.Random) -> Step | None:
    axis = _axis(x, chance)
    extent = x.shape[axis]
    k = 1 << chance.randrange(extent.bit_length())
    value = np.take(np.flip(_ordered(x, axis), axis), range(k), axis)
    return Step(f"tl.topk(x, {k}, {axis})", value)


@_step
def _histogram(x: Array, chance: random.Random) -> Step | None:
    if x.dtype.kind == "f" or x.size < 16:
        return None
    low = (x & 15).astype(np.int32).ravel()
    text = "tl.histogram(tl.ravel(x & 15).astype(tl.int32), 16)"
    return Step(text, np.bincount(low, minlength=16).astype(np.int32))


@_step
def _convert(x: Array, chance: random.Random) -> Step:
    """To integers, of which numpy and the language keep the same bits."""
    name = chance.choice(("int8", "uint8", "int16", "int32", "uint32", "int64"))
    if x.dtype.kind == "f":
        name = f"int{8 * x.dtype.itemsize}"
        return Step(f"x.view(tl.{name})", x.copy().view(name))
    return Step(f"x.astype(tl.{name})", x.astype(name))


@_step
def _assembly(x: Array, chance: random.Random) -> Step | None:
    """The bits turned over, by PTX, of one element or of as many as a word holds."""
    bits = 8 * x.dtype.itemsize
    if x.dtype.kind == "f":
        return None
    pack = max(32 // bits, 1) * chance.choice((1, 1, 2))
    words = max(pack * bits // 32, 1) if bits < 64 else pack
    letter, width = ("l", 64) if bits == 64 else ("r", 32)
    body = " ".join(f"not.b{width} ${n}, ${n + words};" for n in range(words))
    signs = ",".join([f"={letter}"] * words + [letter] * words)
    text = f'tl.inline_asm_elementwise("{body}", "{signs}", [x], tl.{x.dtype}, pack={pack})'
    return Step(text, ~x)
