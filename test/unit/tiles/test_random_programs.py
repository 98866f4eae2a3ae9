"""Random programs on tiles without layouts compute what numpy does.

A program loads, makes and combines tiles of any rank and shape: elementwise, reduced, repeated,
transposed, reshaped, multiplied, through loops and branches; it then stores each tile that it
has. Elements are small integers, so that every order of summation is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CAP = 8.0
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
}
REDUCTIONS = {
    "arith.addf": np.sum,
    "arith.maximumf": np.max,
    "arith.minimumf": np.min,
}


def tensor(shape: tuple[int, ...], element: str = "f32") -> str:
    """MLIR's type of a tile."""
    return f"tensor<{'x'.join(str(n) for n in shape)}x{element}>"


@dataclass(repr=False)
class Program:
    """A program and what it computes.

    Attributes:
        warps: of the CTA.
        body: its lines.
        tiles: name and value of each tile of f32.
        inputs: what memory holds, by argument.
    """

    warps: int
    body: list[str] = field(default_factory=list)
    tiles: list[tuple[str, Any]] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    names: int = 0

    def __repr__(self) -> str:
        return self.text

    def name(self) -> str:
        """A new name."""
        self.names += 1
        return f"%v{self.names}"

    def add(self, line: str, value: Any) -> None:
        """A tile, from an op whose text lacks the name of its result."""
        name = self.name()
        self.body.append(f"{name} = {line}")
        self.tiles.append((name, value))

    def clamp(self) -> None:
        """Keep the latest tile's elements small."""
        name, value = self.tiles.pop()
        type_ = tensor(value.shape)
        high, low, capped = self.name(), self.name(), self.name()
        self.body += [
            f"{high} = arith.constant dense<{CAP}> : {type_}",
            f"{low} = arith.constant dense<{-CAP}> : {type_}",
            f"{capped} = arith.minimumf {name}, {high} : {type_}",
        ]
        self.add(f"arith.maximumf {capped}, {low} : {type_}", np.clip(value, -CAP, CAP))

    def load(self, value: Any, *, transposed: bool) -> None:
        """A tile from memory of its own."""
        number = len(self.inputs)
        self.inputs.append(np.ascontiguousarray(value.swapaxes(-1, -2) if transposed else value))
        zeros = ", ".join(["%z"] * value.ndim)
        indices = ", ".join(["index"] * value.ndim)
        unit = "{transposed}" if transposed else ""
        self.add(
            f'"tile.load"(%in{number}, {zeros}) {unit} : ({self.memref(number)}, {indices}) '
            f"-> {tensor(value.shape)}",
            value,
        )

    def memref(self, number: int) -> str:
        """Type of an input."""
        return tensor(self.inputs[number].shape).replace("tensor", "memref")

    @property
    def text(self) -> str:
        """The whole program; each tile goes to an argument of its own."""
        arguments = [f"%in{n}: {self.memref(n)}" for n in range(len(self.inputs))]
        stores = []
        for number, (name, value) in enumerate(self.tiles):
            type_ = tensor(value.shape)
            memref = type_.replace("tensor", "memref")
            arguments.append(f"%out{number}: {memref}")
            zeros = ", ".join(["%z"] * value.ndim)
            indices = ", ".join(["index"] * value.ndim)
            stores.append(
                f'"tile.store"({name}, %out{number}, {zeros}) : ({type_}, {memref}, {indices}) '
                "-> ()"
            )
        lines = "\n".join(f"    {line}" for line in (*self.body, *stores))
        return f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k({", ".join(arguments)})
      kernel attributes {{known_block_size = array<i32: {32 * self.warps}, 1, 1>}} {{
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %yes = arith.cmpi eq, %z, %z : index
{lines}
    gpu.return
  }}
}}
"""


extents = st.tuples(st.integers(0, 6), st.sampled_from((1, 1, 1, 3, 5))).map(
    lambda pair: pair[1] << pair[0]
)
shapes = st.lists(extents, min_size=1, max_size=3).map(tuple)


def odd_part(number: int) -> int:
    """The largest odd divisor."""
    return number // (number & -number)


def _load(draw: st.DrawFn, program: Program) -> None:
    shape = draw(shapes.filter(lambda s: prod(s) <= 4096))
    value = np.random.default_rng(program.names).integers(-3, 4, shape).astype(np.float32)
    program.load(value, transposed=len(shape) > 1 and draw(st.booleans()))


def _elementwise(draw: st.DrawFn, program: Program) -> None:
    name, value = draw(st.sampled_from(program.tiles))
    alike = [tile for tile in program.tiles if tile[1].shape == value.shape]
    other, second = draw(st.sampled_from(alike))
    op = draw(st.sampled_from(sorted(ELEMENTWISE)))
    program.add(f"{op} {name}, {other} : {tensor(value.shape)}", ELEMENTWISE[op](value, second))
    program.clamp()


def _select(draw: st.DrawFn, program: Program) -> None:
    name, value = draw(st.sampled_from(program.tiles))
    alike = [tile for tile in program.tiles if tile[1].shape == value.shape]
    other, second = draw(st.sampled_from(alike))
    mask = program.name()
    type_ = tensor(value.shape)
    program.body.append(f"{mask} = arith.cmpf olt, {name}, {other} : {type_}")
    program.add(
        f"arith.select {mask}, {other}, {name} : {tensor(value.shape, 'i1')}, {type_}",
        np.where(value < second, second, value),
    )


def _reduce(draw: st.DrawFn, program: Program) -> None:
    choices = [tile for tile in program.tiles if tile[1].ndim > 1]
    if not choices:
        return
    name, value = draw(st.sampled_from(choices))
    axis = draw(st.integers(0, value.ndim - 1))
    fn = draw(st.sampled_from(sorted(REDUCTIONS)))
    result = REDUCTIONS[fn](value, axis=axis)
    program.add(
        f'"tile.reduce"({name}) {{axis = {axis}, fn = "{fn}"}} : ({tensor(value.shape)}) '
        f"-> {tensor(result.shape)}",
        result,
    )
    program.clamp()


def _repeat(draw: st.DrawFn, program: Program) -> None:
    choices = [tile for tile in program.tiles if tile[1].ndim < 3]
    if not choices:
        return
    name, value = draw(st.sampled_from(choices))
    axis = draw(st.integers(0, value.ndim))
    many = draw(extents)
    expanded = np.expand_dims(value, axis)
    if prod(value.shape) * many > 4096 or odd_part(value.size) * odd_part(many) > 64:
        return
    line = f'"tile.expand"({name}) {{axis = {axis}}} : ({tensor(value.shape)})'
    program.add(f"{line} -> {tensor(expanded.shape)}", expanded)
    name, _ = program.tiles.pop()
    result = np.repeat(expanded, many, axis)
    program.add(
        f'"tile.broadcast"({name}) : ({tensor(expanded.shape)}) -> {tensor(result.shape)}', result
    )


def _transpose(draw: st.DrawFn, program: Program) -> None:
    name, value = draw(st.sampled_from(program.tiles))
    order = draw(st.permutations(range(value.ndim)))
    result = value.transpose(order)
    program.add(
        f'"tile.transpose"({name}) {{permutation = array<i64: {", ".join(map(str, order))}>}} '
        f": ({tensor(value.shape)}) -> {tensor(result.shape)}",
        result,
    )


def _reshape(draw: st.DrawFn, program: Program) -> None:
    name, value = draw(st.sampled_from(program.tiles))
    bits = value.size.bit_length() - 1
    first = draw(st.integers(0, bits))
    if odd_part(value.size) > 1:  # an axis of 1 in front or behind, or the odd part by itself
        last = value.shape[-1]
        apart = (*value.shape[:-1], odd_part(last), last // odd_part(last))
        shape = draw(st.sampled_from([(1, *value.shape), (*value.shape, 1), apart]))
    else:
        shape = draw(st.sampled_from([(1 << bits,), (1 << first, 1 << bits - first)]))
    program.add(
        f'"tile.reshape"({name}) : ({tensor(value.shape)}) -> {tensor(shape)}',
        value.reshape(shape),
    )


def _dot(draw: st.DrawFn, program: Program) -> None:
    """A product of a tile with itself or another, both cast to f16."""
    large = [t for t in program.tiles if t[1].ndim == 2 and t[1].shape[0] % 16 == 0]
    large = [t for t in large if t[1].shape[1] % 16 == 0]
    pairs = [(a, b) for a in large for b in large if a[1].shape[1] == b[1].shape[0]]
    if not pairs:
        return
    operands = draw(st.sampled_from(pairs))
    types, names = [], []
    for name, value in operands:
        types.append(tensor(value.shape, "f16"))
        names.append(program.name())
        program.body.append(
            f"{names[-1]} = arith.truncf {name} : {tensor(value.shape)} to {types[-1]}"
        )
    (_, a), (_, b) = operands
    shape = (a.shape[0], b.shape[1])
    zero = program.name()
    program.body.append(f"{zero} = arith.constant dense<0.0> : {tensor(shape)}")
    program.add(
        f'"tile.dot"({names[0]}, {names[1]}, {zero}) : ({types[0]}, {types[1]}, {tensor(shape)}) '
        f"-> {tensor(shape)}",
        a @ b,
    )
    program.clamp()


def _loop(draw: st.DrawFn, program: Program) -> None:
    """Three rounds of adding one tile to another."""
    name, value = draw(st.sampled_from(program.tiles))
    other, second = draw(st.sampled_from([t for t in program.tiles if t[1].shape == value.shape]))
    type_ = tensor(value.shape)
    program.add(
        f"scf.for %i = %z to %three step %one iter_args(%c = {name}) -> ({type_}) {{\n"
        f"      %n = arith.addf %c, {other} : {type_}\n"
        f"      scf.yield %n : {type_}\n    }}",
        value + 3 * second,
    )
    program.clamp()


def _branch(draw: st.DrawFn, program: Program) -> None:
    name, value = draw(st.sampled_from(program.tiles))
    other, _ = draw(st.sampled_from([t for t in program.tiles if t[1].shape == value.shape]))
    type_ = tensor(value.shape)
    program.add(
        f"scf.if %yes -> ({type_}) {{\n      scf.yield {name} : {type_}\n    }} else {{\n"
        f"      scf.yield {other} : {type_}\n    }}",
        value,
    )


def _while(draw: st.DrawFn, program: Program) -> None:
    """Two rounds of doubling."""
    name, value = draw(st.sampled_from(program.tiles))
    type_ = tensor(value.shape)
    unused = program.name()
    line = (
        f"scf.while (%c = {name}, %r = %one) : ({type_}, index) -> ({type_}, index) {{\n"
        "      %go = arith.cmpi ult, %r, %three : index\n"
        f"      scf.condition(%go) %c, %r : {type_}, index\n    }} do {{\n"
        f"    ^bb0(%d: {type_}, %s: index):\n"
        f"      %e = arith.addf %d, %d : {type_}\n"
        "      %t = arith.addi %s, %one : index\n"
        f"      scf.yield %e, %t : {type_}, index\n    }}"
    )
    program.body.append(f"{unused}:2 = {line}")
    program.tiles.append((f"{unused}#0", 4 * value))
    program.clamp()


STEPS = (
    *(_load, _elementwise, _select, _reduce, _repeat, _transpose, _reshape, _dot, _dot),
    *(_loop, _branch, _while),
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Any program of a few ops."""
    program = Program(1 << draw(st.integers(0, 2)))
    square = draw(st.sampled_from((16, 32, 48, 64)))
    value = np.random.default_rng(square).integers(-3, 4, (square, square)).astype(np.float32)
    program.load(value, transposed=draw(st.booleans()))
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=7)):
        step(draw, program)
    return program


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_program(run, program: Program) -> None:
    results = [np.full(value.shape, np.nan, np.float32) for _, value in program.tiles]
    run(program.text, [*program.inputs, *results])
    for (name, wanted), got in zip(program.tiles, results, strict=True):
        np.testing.assert_array_equal(got, wanted, name)
