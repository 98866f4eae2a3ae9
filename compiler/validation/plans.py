"""Inputs of a kernel, drawn from what it is promised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from tilec.dialects.tile.attributes import GRID_EXTENTS
from tilec.interpret import Arithmetic, Buffer, View
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import BYTE, Array, Number, number, wrap
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.types import strides_and_offset
from tilec.passes.analysis.memory_facts import argument_attributes, memory_facts

Extents: TypeAlias = tuple[int, ...]

GRID_ARGUMENTS = 3
"""Arguments that `tile-make-persistent` adds: the extents of the grid."""
_LIMIT = 1 << 22
"""Elements of one argument at most."""
_SQUARE = (64, 16, 128, 256, 512)
_LONG = 456
"""An extent along which loops go round often enough for rings of stages to begin anew."""
_SMALL = 4
_CODES = (0x78, 0x7C)
"""Bytes that are finite and alike in size as floats of any type of 8 bits or less: 256 to 352 of
e4m3, 2⁻⁷ to 2⁻⁴ of ue8m0. Of any bytes some are NaN, and with them most sums of products."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Arguments and a grid, from which everything follows.

    Attributes:
        extents: of each memref argument; None of others.
        scalars: what each scalar argument is; 0 of others.
        grid: CTAs.
        seed: of the random elements.
        shared: which argument lies in the memory of an earlier one, and of which.
        kept: by argument, the elements that are not zero, in row-major order; all without it.
        codes: whether bytes are such that all are finite as floats, whatever type is read.
    """

    extents: tuple[Extents | None, ...]
    scalars: tuple[int, ...]
    grid: tuple[int, int, int]
    seed: int
    shared: tuple[int, int] | None = None
    kept: tuple[frozenset[int] | None, ...] = ()
    codes: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of an argument.

    Attributes:
        number: its type, or its element type.
        shape: the extents of a memref, None where they are dynamic; None of a scalar.
        multiples: what the extents are multiples of.
        alone: whether no other argument has memory in common with it.
    """

    number: Number
    shape: tuple[int | None, ...] | None
    multiples: tuple[int, ...] = ()
    alone: bool = True


def parameters(function: Op) -> tuple[Parameter, ...]:
    """What is known of a kernel's arguments, but for those that say its grid.

    Raises:
        TilecError: for types that are none of numbers.
    """
    found = list(function.regions[0].blocks[0].arguments)
    if any(name in function.attributes for name in GRID_EXTENTS):
        del found[-GRID_ARGUMENTS:]
    return tuple(map(_parameter, found))


def _parameter(argument: Value) -> Parameter:
    type_ = argument.type
    if not isinstance(type_, ir.MemRefType):
        return Parameter(number(type_), None)
    facts = memory_facts(argument)
    shape = tuple(
        None if type_.is_dynamic_dim(at) else type_.get_dim_size(at) for at in range(type_.rank)
    )
    multiples = list(facts.sizes)
    strides, _ = strides_and_offset(type_)
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    # Rows lie one behind the other here, so that strides are products of extents.
    for at in range(type_.rank - 1):
        if strides[at] == dynamic and facts.strides:
            multiples[-1] = max(multiples[-1], facts.strides[at])
    alone = "llvm.noalias" in argument_attributes(argument)
    capped = tuple(min(m, 1 << 12) for m in multiples)
    return Parameter(number(type_.element_type), shape, capped, alone)


def plans(known: Sequence[Parameter], axes: frozenset[int], seed: int) -> Iterator[Plan]:
    """Inputs to try, those that most kernels take first.

    Args:
        known: the arguments.
        axes: of the grid, those that the kernel asks its place of.
        seed: of everything random.
    """
    random = np.random.default_rng(seed)
    grids = [(1, 1, 1)]
    if axes:
        grids.insert(0, tuple(2 if at in axes else 1 for at in range(3)))  # type: ignore[arg-type]
    ones = tuple(1 for _ in known)
    sharing = _sharing(known)
    for size in _SQUARE:
        squares = tuple(_square(one, size) for one in known)
        for grid in grids:
            some = tuple(int(n) for n in random.integers(0, _SMALL, len(known)))
            ragged = tuple(_ragged(one, size, random) for one in known)
            yield Plan(ragged, ones, grid, seed)
            yield Plan(squares, ones, grid, seed + 1)
            if size == _SQUARE[0]:
                yield Plan(tuple(_square(one, _LONG) for one in known), some, grid, seed + 4)
            yield Plan(squares, some, grid, seed + 2)
            if sharing is not None:
                yield Plan(squares, some, grid, seed + 3, shared=sharing)


def _sharing(known: Sequence[Parameter]) -> tuple[int, int] | None:
    """Two arguments that may lie in one memory."""
    for at, one in enumerate(known):
        for earlier, other in enumerate(known[:at]):
            if (
                one.shape is not None
                and other.shape is not None
                and one.number == other.number
                and len(one.shape) == len(other.shape)
                and not (one.alone or other.alone)
            ):
                return at, earlier
    return None


def _up(extent: int, multiple: int) -> int:
    return -(-extent // multiple) * multiple


def _square(one: Parameter, size: int) -> Extents | None:
    if one.shape is None:
        return None
    most = _most(one.shape, size)
    triples = zip(one.shape, one.multiples, most, strict=True)
    return tuple(_up(limit, m) if n is None else n for n, m, limit in triples)


def _most(shape: Sequence[int | None], size: int) -> Extents:
    """What dynamic extents are at most: those before the last two are few."""
    return tuple(min(size, _SMALL) if at < len(shape) - 2 else size for at in range(len(shape)))


def _ragged(one: Parameter, size: int, random: np.random.Generator) -> Extents | None:
    if one.shape is None:
        return None
    most = _most(one.shape, size)
    triples = zip(one.shape, one.multiples, most, strict=True)
    return tuple(
        _up(int(random.integers(1, limit + 1)), m) if n is None else n for n, m, limit in triples
    )


def fits(plan: Plan) -> bool:
    """Whether the arguments are not too large."""
    return all(extents is None or int(np.prod(extents)) <= _LIMIT for extents in plan.extents)


def for_floats(plan: Plan, known: Sequence[Parameter]) -> Iterator[Plan]:
    """The plan, and what else to try where floats must tell whether a formula is the same one."""
    yield plan
    if any(one.number == BYTE and one.shape is not None for one in known):
        yield replace(plan, codes=True)


@lru_cache(maxsize=8)
def arguments(
    plan: Plan, known: tuple[Parameter, ...], arithmetic: Arithmetic
) -> Sequence[View | Array]:
    """The arguments that a plan describes, the same every time."""
    found: list[View | Array] = []
    for at, (one, extents) in enumerate(zip(known, plan.extents, strict=True)):
        random = np.random.default_rng((plan.seed, at))
        if extents is None:
            scalar = np.asarray(plan.scalars[at])
            if one.number.is_float:
                scalar = arithmetic.constant(scalar.astype(np.float64), one.number)
            found.append(wrap(scalar, one.number.bits) if not one.number.is_float else scalar)
            continue
        if plan.shared is not None and plan.shared[0] == at:
            other = found[plan.shared[1]]
            assert isinstance(other, View)
            found.append(_beside(other, extents))
            continue
        if plan.codes and one.number == BYTE:
            values = random.integers(*_CODES, int(np.prod(extents)))
        else:
            values = _elements(one.number, int(np.prod(extents)), random, arithmetic)
        kept = plan.kept[at] if plan.kept else None
        if kept is not None:
            mask = np.zeros(values.shape, bool)
            mask[[n for n in kept if n < len(values)]] = True
            values = np.where(mask, values, np.zeros((), values.dtype))
        data = values.astype(dtype_of(one.number, arithmetic))
        found.append(View.whole(Buffer(data, one.number), extents))
    return found


def _beside(other: View, extents: Extents) -> View:
    """A view into the memory of another argument, which grows where it is too small."""
    whole = View.whole(other.buffer, extents)
    missing = int(np.prod(extents)) - len(other.buffer.data)
    if missing > 0:
        more = np.zeros(missing, other.buffer.data.dtype)
        other.buffer.data = np.concatenate([other.buffer.data, more])
    return whole


def _elements(of: Number, size: int, random: np.random.Generator, arithmetic: Arithmetic) -> Array:
    if of.is_float:
        return arithmetic.draw(random, (size,), of)
    small = random.integers(-_SMALL, _SMALL + 1, size)
    any_one = random.integers(-(2**31), 2**31 - 1, size)
    return wrap(np.where(random.random(size) < 0.75, small, any_one), of.bits)


def keep_elements(plan: Plan, at: int, kept: frozenset[int], known: Sequence[Parameter]) -> Plan:
    """The plan with zeros in an argument but for some elements."""
    now = list(plan.kept or (None,) * len(known))
    now[at] = kept
    return replace(plan, kept=tuple(now))
