"""Random programs that load, store and update a few arrays again and again, and what they leave.

Windows into the arrays lie shifted, overlapping, transposed and apart, at places that are known,
that loops count, or that are given at the launch; arguments may overlap. Loads and products
may be in vain. Elements are small integers, so that every product is exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

CAP = 4
PRODUCTS = {"f16": "f32", "i8": "i32", "f32": None, "i32": None}
"""What products of the elements add up in."""
DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}
TARGETS = ("sm_75", "sm_80", "sm_90")
STEPS = 48
"""Statements that a program executes at most."""

Values = dict[str, Any]
Run = Callable[[Values], None]
"""Executes a statement: names of arrays, tiles and integers -> what they are."""
Statement = tuple[list[str], Run]
"""A statement's lines, and what executes it."""
Tiles = dict[str, tuple[int, ...]]
"""Names of tiles -> their shapes."""


class Program:
    """A random program, and what it computes.

    Attributes:
        target: what it is compiled for.
        arguments: arrays and integers, as the kernel takes them; arrays may overlap.
        text: the program.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.target = self.random.choice(TARGETS)
        self.warps = self.random.choice((1, 2, 4, 4, 8))
        self.element = self.random.choice(list(PRODUCTS))
        self.rank = self.random.choice((1, 2, 2, 2, 3))
        self.names = 0
        self.budget = STEPS
        self.integers = {f"%n{i}": self.random.randrange(4) for i in range(3)}
        self._make_arrays()
        self.constants: dict[int, str] = {}
        lines, self._run = self._block({}, ["%n0", "%n1", "%n2"], 1, self.random.randrange(3, 8))
        self.text = self._text(lines)

    @property
    def is_float(self) -> bool:
        return "f" in self.element

    def expect(self) -> list[Any]:
        """Execute the program: what each array is afterwards, which the arguments stay without."""
        copies = [memory.copy() for memory in self._memories]
        values: Values = {n: copies[at][rows] for n, (at, rows) in self._views.items()}
        values |= self.integers
        self._run(values)
        return [values[name] for name in self.arrays]

    @property
    def arguments(self) -> list[Any]:
        return [*self.arrays.values(), *self.integers.values()]

    def _make_arrays(self) -> None:
        sides = [self.random.choice((24, 33, 40, 64)) for _ in range(self.rank)]
        if self.rank == 3:
            sides[0] = 3
        if self.random.random() < 0.6:  # rows that cp.async may copy 16 bytes at a time
            sides[-1] = -(-sides[-1] // 16) * 16
        self.shape = tuple(sides)
        self._memories: list[Any] = []
        self._views: dict[str, tuple[int, slice]] = {}
        for number in range(self.random.choice((1, 2, 2, 3))):
            self._views[f"%a{number}"] = self._view(number)
        self.arrays = {n: self._memories[at][rows] for n, (at, rows) in self._views.items()}
        self.facts: dict[str, str] = {}
        memories = [at for at, _ in self._views.values()]
        for name, (at, _) in self._views.items():
            facts = []
            if memories.count(at) == 1:
                facts += ["llvm.noalias"] * (self.random.random() < 0.5)
            if sides[-1] % 16 == 0 and self.random.random() < 0.8:
                ones = ", ".join(["1"] * (self.rank - 1))
                steps = ", ".join([*["16"] * (self.rank - 1), "1"])
                facts += ["tile.aligned = 16 : i64", f"tile.strides = array<i64: {steps}>"]
                facts += [f"tile.sizes = array<i64: {f'{ones}, ' if ones else ''}16>"]
            self.facts[name] = f" {{{', '.join(facts)}}}" if facts else ""

    def _view(self, number: int) -> tuple[int, slice]:
        """Memory of an array's own, or an earlier one's, all of it or some rows further on."""
        rows, further = self.shape[0], self.random.choice((0, 0, 16))
        if number and self.random.random() < 0.4:
            return self.random.randrange(len(self._memories)), slice(further, further + rows)
        extents = (rows + 16, *self.shape[1:])
        memory = np.random.default_rng(number).integers(-CAP, CAP + 1, extents)
        self._memories.append(memory.astype(DTYPES[self.element]))
        return len(self._memories) - 1, slice(rows)

    # Names and types

    def _name(self, letter: str = "v") -> str:
        self.names += 1
        return f"%{letter}{self.names}"

    def _constant(self, value: int) -> str:
        return self.constants.setdefault(value, f"%c{value}".replace("-", "m"))

    def _tensor(self, shape: tuple[int, ...], element: str | None = None) -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{element or self.element}>"

    @property
    def _memref(self) -> str:
        return f"memref<{'?x' * self.rank}{self.element}>"

    # Statements: each gives its lines, and executes

    def _block(self, tiles: Tiles, integers: list[str], depth: int, count: int) -> Statement:
        """Some statements, over tiles, with their shapes, and integers that are known there."""
        tiles, lines, runs = dict(tiles), [], []
        for _ in range(count):
            choices = [self._load, self._store, self._store, self._compute, self._move]
            choices += [self._atomic] if self.element == "i32" else []
            if self.rank > 1 and PRODUCTS[self.element]:
                choices += [self._dot, self._dot]
                choices += [self._dots] if depth < 3 else []
            if depth < 3:
                choices += [self._loop, self._loop, self._branch, self._until]
            if self.budget <= 0:
                choices = [self._store]
            self.budget -= depth
            more, run = self.random.choice(choices)(tiles, integers, depth)
            lines += more
            runs.append(run)

        def execute(values: Values) -> None:
            for run in runs:
                run(values)

        return lines, execute

    def _index(self, integers: list[str], extent: int) -> tuple[list[str], str, Any]:
        """A place of a dimension: its lines, its name, and what it is."""
        start = self.random.choice((0, 0, 0, 1, 2, 8, 16, 16, 32, extent // 2))
        if self.random.random() < 0.5:
            return [], self._constant(start), lambda _: start
        of = self.random.choice(integers)
        step = self.random.choice((1, 2, 8, 16, 16, 32))
        scaled, name = self._name("x"), self._name("x")
        lines = [
            f"{scaled} = arith.muli {of}, {self._constant(step)} : index",
            f"{name} = arith.addi {scaled}, {self._constant(start)} : index",
        ]
        return lines, name, lambda values: values[of] * step + start

    def _place(self, integers: list[str]) -> tuple[list[str], list[str], Any]:
        """A place in an array."""
        lines, names, found = [], [], []
        for extent in self.shape:
            more, name, value = self._index(integers, extent)
            lines += more
            names.append(name)
            found.append(value)
        return lines, names, lambda values: [value(values) for value in found]

    def _shape(self) -> tuple[int, ...]:
        if self.rank == 1:
            return (self.random.choice((16, 32, 48, 64, 256)),)
        return self.random.choice((16, 16, 32, 48)), self.random.choice((16, 32, 32, 64, 96))

    def _load(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        lines, name, run = self._loaded(self._shape(), integers)
        tiles[name] = self.latest
        return lines, run

    def _loaded(self, shape: tuple[int, ...], integers: list[str]) -> tuple[list[str], str, Run]:
        """A tile from an array, maybe as its transpose."""
        array, name = self.random.choice(list(self.arrays)), self._name()
        lines, place, where = self._place(integers)
        turned = len(shape) == 2 and self.random.random() < 0.3
        unit = "masked, transposed" if turned else "masked"
        lines.append(
            f'{name} = "tile.load"({array}, {", ".join(place)}) {{{unit}}} : '
            f"({self._memref}{', index' * self.rank}) -> {self._tensor(shape)}"
        )
        held = shape[::-1] if turned else shape

        def run(values: Values) -> None:
            found = window(values[array], where(values), held)
            values[name] = found.T if turned else found

        self.latest = shape
        return lines, name, run

    def _tile(
        self, tiles: Tiles, integers: list[str]
    ) -> tuple[list[str], str, tuple[int, ...], Run]:
        """A tile that there is, or a new one."""
        if tiles and self.random.random() < 0.8:
            name = self.random.choice(list(tiles))
            return [], name, tiles[name], lambda _: None
        lines, name, run = self._loaded(self._shape(), integers)
        tiles[name] = self.latest
        return lines, name, tiles[name], run

    def _store(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        before, name, shape, first = self._tile(tiles, integers)
        array = self.random.choice(list(self.arrays))
        lines, place, where = self._place(integers)
        turned = len(shape) == 2 and self.random.random() < 0.3
        unit = "masked, transposed" if turned else "masked"
        lines.append(
            f'"tile.store"({name}, {array}, {", ".join(place)}) {{{unit}}} : '
            f"({self._tensor(shape)}, {self._memref}{', index' * self.rank}) -> ()"
        )

        def run(values: Values) -> None:
            first(values)
            tile = values[name].T if turned else values[name]
            write(values[array], where(values), tile, lambda _, new: new)

        return before + lines, run

    def _atomic(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        before, name, shape, first = self._tile(tiles, integers)
        array = self.random.choice(list(self.arrays))
        lines, place, where = self._place(integers)
        fn, apply = self.random.choice(
            [("maxsi", np.maximum), ("minsi", np.minimum), ("andi", np.bitwise_and)]
        )
        lines.append(
            f'"tile.atomic"({name}, {array}, {", ".join(place)}) {{masked, fn = "arith.{fn}"}} : '
            f"({self._tensor(shape)}, {self._memref}{', index' * self.rank}) -> ()"
        )

        def run(values: Values) -> None:
            first(values)
            write(values[array], where(values), values[name], apply)

        return before + lines, run

    def _compute(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        """A tile plus another, or plus one, kept small."""
        before, name, shape, first = self._tile(tiles, integers)
        alike = [other for other, extents in tiles.items() if extents == shape]
        type_, total = self._tensor(shape), self._name()
        add = "addf" if self.is_float else "addi"
        if self.random.random() < 0.5:
            one, other = self._name(), None
            before.append(f"{one} = arith.constant dense<{self._number(1)}> : {type_}")
            before.append(f"{total} = arith.{add} {name}, {one} : {type_}")
        else:
            other = self.random.choice(alike)
            before.append(f"{total} = arith.{add} {name}, {other} : {type_}")
        lines, result = self._capped(total, shape, self.element)
        tiles[result] = shape

        def run(values: Values) -> None:
            first(values)
            more = 1 if other is None else values[other]
            values[result] = np.clip(values[name] + more, -CAP, CAP).astype(DTYPES[self.element])

        return before + lines, run

    def _number(self, value: int) -> str:
        return f"{value}.0" if self.is_float else str(value)

    def _capped(self, name: str, shape: tuple[int, ...], element: str) -> tuple[list[str], str]:
        """A tile's elements kept small."""
        type_ = self._tensor(shape, element)
        low, high, least, most = (self._name() for _ in range(4))
        words = ("maximumf", "minimumf") if self.is_float else ("maxsi", "minsi")
        return [
            f"{low} = arith.constant dense<{self._number(-CAP)}> : {type_}",
            f"{high} = arith.constant dense<{self._number(CAP)}> : {type_}",
            f"{least} = arith.{words[0]} {name}, {low} : {type_}",
            f"{most} = arith.{words[1]} {least}, {high} : {type_}",
        ], most

    def _move(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        """The transpose of a tile, or its sum along an axis in every row or column."""
        before, name, shape, first = self._tile(tiles, integers)
        if len(shape) == 1:
            return before, first
        result = self._name()
        if self.random.random() < 0.6:
            tiles[result] = shape[::-1]
            before.append(
                f'{result} = "tile.transpose"({name}) {{permutation = array<i64: 1, 0>}} : '
                f"({self._tensor(shape)}) -> {self._tensor(shape[::-1])}"
            )

            def turn(values: Values) -> None:
                first(values)
                values[result] = values[name].T

            return before, turn
        axis, few, one = self.random.randrange(2), self._name(), self._name()
        rest, thin = shape[1 - axis], [*shape]
        thin[axis] = 1
        fn = "maximumf" if self.is_float else "maxsi"
        tiles[result] = shape
        before += [
            f'{few} = "tile.reduce"({name}) {{axis = {axis}, fn = "arith.{fn}"}} : '
            f"({self._tensor(shape)}) -> {self._tensor((rest,))}",
            f'{one} = "tile.expand"({few}) {{axis = {axis}}} : '
            f"({self._tensor((rest,))}) -> {self._tensor(tuple(thin))}",
            f'{result} = "tile.broadcast"({one}) : ({self._tensor(tuple(thin))}) -> '
            f"{self._tensor(shape)}",
        ]

        def spread(values: Values) -> None:
            first(values)
            values[result] = np.broadcast_to(values[name].max(axis, keepdims=True), shape)

        return before, spread

    # Products

    def _dot(self, tiles: Tiles, integers: list[str], _: int) -> Statement:
        """A product of two tiles from memory, one of them maybe of an earlier product."""
        m, n, k = (self.random.choice((16, 16, 32, 32, 48)) for _ in range(3))
        fit = [t for t, shape in tiles.items() if shape == (m, k)]
        before, a, first = self._loaded((m, k), integers)
        if fit and self.random.random() < 0.4:
            before, a, first = [], self.random.choice(fit), lambda _: None
        more, b, second = self._loaded((k, n), integers)
        tiles |= {a: (m, k), b: (k, n)}
        zero, lines, total = *self._zero((m, n)), self._name()
        lines.append(f"{total} = {self._product(a, b, zero, (m, n, k))}")
        cast, result = self._cast(total, (m, n))
        tiles[result] = (m, n)

        def run(values: Values) -> None:
            first(values)
            second(values)
            values[result] = self._small(values[a].astype(np.int64) @ values[b].astype(np.int64))

        return [*before, *more, *lines, *cast], run

    def _dots(self, tiles: Tiles, integers: list[str], depth: int) -> Statement:
        """A loop that adds up products, and may store meanwhile."""
        m, n, k = (self.random.choice((16, 16, 32, 32, 48)) for _ in range(3))
        rounds, counter = self.random.choice((1, 2, 4)), self._name("k")
        more = [*integers, counter, counter]
        first, a, load_a = self._loaded((m, k), more)
        second, b, load_b = self._loaded((k, n), more)
        inside: Statement = [], lambda _: None
        if self.random.random() < 0.5:
            known = {**tiles, a: (m, k), b: (k, n)}
            inside = self._block(known, more, depth + 2, self.random.randrange(1, 3))
        zero, lines = self._zero((m, n))
        total, held, next_ = self._name(), self._name(), self._name()
        type_ = self._tensor((m, n), PRODUCTS[self.element])
        pin = self.random.choice(("", "tile.stages = 2 : i64", "tile.unroll = 2 : i64"))
        bound = self._constant(rounds)
        work = [[f"{next_} = {self._product(a, b, held, (m, n, k))}"], inside[0]]
        self.random.shuffle(work)
        lines += [
            f"{total} = scf.for {counter} = {self._constant(0)} to {bound} step "
            f"{self._constant(1)} iter_args({held} = {zero}) -> ({type_}) {{",
            *[*first, *second, *work[0], *work[1]],
            f"scf.yield {next_} : {type_}",
            f"}}{f' {{{pin}}}' if pin else ''}",
        ]
        cast, result = self._cast(total, (m, n))
        tiles[result] = (m, n)

        def run(values: Values) -> None:
            held = np.zeros((m, n), np.int64)
            for number in range(rounds):
                values[counter] = number
                load_a(values)
                load_b(values)
                held += values[a].astype(np.int64) @ values[b].astype(np.int64)
                inside[1](values)
            values[result] = self._small(held)

        return [*lines, *cast], run

    def _zero(self, shape: tuple[int, int]) -> tuple[str, list[str]]:
        name = self._name()
        type_ = self._tensor(shape, PRODUCTS[self.element])
        return name, [f"{name} = arith.constant dense<{self._number(0)}> : {type_}"]

    def _product(self, a: str, b: str, c: str, shape: tuple[int, int, int]) -> str:
        m, n, k = shape
        type_ = self._tensor((m, n), PRODUCTS[self.element])
        types = f"{self._tensor((m, k))}, {self._tensor((k, n))}, {type_}"
        return f'"tile.dot"({a}, {b}, {c}) : ({types}) -> {type_}'

    def _cast(self, name: str, shape: tuple[int, int]) -> tuple[list[str], str]:
        """A sum of products as a tile of the arrays' elements, kept small."""
        wide = PRODUCTS[self.element]
        assert wide is not None
        lines, capped = self._capped(name, shape, wide)
        result, op = self._name(), "truncf" if self.is_float else "trunci"
        types = f"{self._tensor(shape, wide)} to {self._tensor(shape)}"
        return [*lines, f"{result} = arith.{op} {capped} : {types}"], result

    def _small(self, values: Any) -> Any:
        return np.clip(values, -CAP, CAP).astype(DTYPES[self.element])

    # Control flow

    def _loop(self, tiles: Tiles, integers: list[str], depth: int) -> Statement:
        counter = self._name("i")
        given = self.random.choice([*self.integers, None, None])
        many = self.integers[given] if given else self.random.randrange(1, 5)
        step = self.random.choice((1, 1, 2))
        few = self.random.randrange(1, 5)
        inside, run = self._block(tiles, [*integers, counter, counter, counter], depth + 1, few)
        lines = [
            f"scf.for {counter} = {self._constant(0)} to {given or self._constant(many)} step "
            f"{self._constant(step)} {{",
            *inside,
            "}" + self.random.choice(("", "", " {tile.unroll = 2 : i64}")),
        ]

        def execute(values: Values) -> None:
            for number in range(0, many, step):
                values[counter] = number
                run(values)

        return lines, execute

    def _branch(self, tiles: Tiles, integers: list[str], depth: int) -> Statement:
        of, than, test = self.random.choice(integers), self.random.randrange(3), self._name("p")
        one, run = self._block(tiles, integers, depth + 1, self.random.randrange(1, 3))
        two, other = self._block(tiles, integers, depth + 1, self.random.randrange(3))
        lines = [
            f"{test} = arith.cmpi sgt, {of}, {self._constant(than)} : index",
            f"scf.if {test} {{",
            *one,
            *(["} else {", *two] if two else []),
            "}",
        ]

        def execute(values: Values) -> None:
            (run if values[of] > than else other)(values)

        return lines, execute

    def _until(self, tiles: Tiles, integers: list[str], depth: int) -> Statement:
        """Rounds whose number a condition decides, with statements before and after it."""
        counter, inner, unused = self._name("w"), self._name("w"), self._name("w")
        rounds, go, more = self.random.randrange(1, 4), self._name("p"), self._name("x")
        first, test = self._block(tiles, [*integers, counter], depth + 1, self.random.randrange(2))
        second, body = self._block(
            tiles, [*integers, inner], depth + 1, self.random.randrange(1, 3)
        )
        lines = [
            f"{unused} = scf.while ({counter} = {self._constant(0)}) : (index) -> index {{",
            *first,
            f"{go} = arith.cmpi slt, {counter}, {self._constant(rounds)} : index",
            f"scf.condition({go}) {counter} : index",
            "} do {",
            f"^bb0({inner}: index):",
            *second,
            f"{more} = arith.addi {inner}, {self._constant(1)} : index",
            f"scf.yield {more} : index",
            "}",
        ]

        def execute(values: Values) -> None:
            for number in range(rounds + 1):
                values[counter] = values[inner] = number
                test(values)
                if number < rounds:
                    body(values)

        return lines, execute

    def _text(self, lines: list[str]) -> str:
        parameters = [f"{n}: {self._memref}{self.facts[n]}" for n in self.arrays]
        parameters += [f"{n}: index" for n in self.integers]
        block = f"array<i32: {32 * self.warps}, 1, 1>"
        self._constant(0)
        constants = [f"{n} = arith.constant {v} : index" for v, n in self.constants.items()]
        return "\n".join(
            [
                f'gpu.module @m [#nvvm.target<chip = "{self.target}">] {{',
                f"gpu.func @k({', '.join(parameters)})",
                f"kernel attributes {{known_block_size = {block}}} {{",
                *constants,
                *lines,
                "gpu.return",
                "}",
                "}\n",
            ]
        )


def window(array: Any, at: list[int], shape: tuple[int, ...]) -> Any:
    """A tile of an array, zero outside of it."""
    first = array.ndim - len(shape)
    found = np.zeros(shape, array.dtype)
    if all(0 <= i < n for i, n in zip(at[:first], array.shape, strict=False)):
        part = array[tuple(at[:first])]
        inside = part[tuple(slice(i, i + n) for i, n in zip(at[first:], shape, strict=True))]
        found[tuple(slice(n) for n in inside.shape)] = inside
    return found


def write(array: Any, at: list[int], tile: Any, apply: Callable[[Any, Any], Any]) -> None:
    """Change what lies inside an array of a tile's place."""
    first = array.ndim - tile.ndim
    if all(0 <= i < n for i, n in zip(at[:first], array.shape, strict=False)):
        part = array[tuple(at[:first])]
        inside = part[tuple(slice(i, i + n) for i, n in zip(at[first:], tile.shape, strict=True))]
        inside[...] = apply(inside, tile[tuple(slice(n) for n in inside.shape)])
