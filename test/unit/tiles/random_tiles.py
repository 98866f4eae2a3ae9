"""Random programs on tiles of any elements, and what they compute.

Elements are small integers, so that every order of summation is exact.
"""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np

CAP = 4
TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
PRODUCTS = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("i8", "i32"), ("f64", "f64")]
PRODUCTS += [("f8E4M3FN", "f32"), ("f32", "f32"), ("i16", "i32"), ("f16", "bf16")]
TARGETS = ("sm_75", "sm_80", "sm_80", "sm_89", "sm_90", "sm_120")


ODD = (3, 3, 5, 7)
"""Units of a tile along an axis whose extent is not a power of two."""
MOST_UNITS = 64


def odd_part(number: int) -> int:
    """The largest odd divisor."""
    while number % 2 == 0:
        number //= 2
    return number


def is_float(element: str) -> bool:
    return "f" in element


def extents(shape: tuple[int, ...], element: str, *, dynamic: bool = False) -> str:
    """The inside of a type."""
    return "x".join([*("?" if dynamic else str(n) for n in shape), element])


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{extents(shape, element)}>"


class Program:
    """A random program, and what it computes.

    Attributes:
        arguments: arrays, as the kernel takes them.
        expected: by place among the arguments, what is there afterwards.
        contradicts: whether a product's flags say other signs than its form, which is refused.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.target = self.random.choice(TARGETS)
        self.warps = self.random.choice((1, 2, 4, 4, 8))
        self.lines: list[str] = []
        self.tiles: list[tuple[str, str, Any]] = []
        self.arguments: list[Any] = []
        self.parameters: list[str] = []
        self.expected: dict[int, Any] = {}
        self.names = 0
        self.contradicts = False
        for _ in range(2):
            self.load()
        steps = (self.load, self.combine, self.cast, self.reduce, self.view, self.repeat)
        steps += (self.product, self.product, self.choose, self.loop, self.branch, self.until)
        steps += (self.saturate, self.divide, self.products, self.signed_product, self.take)
        for _ in range(self.random.randrange(2, 8)):
            self.random.choice(steps)()
        for tile in self.tiles[-3:]:
            self.store(*tile)

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def add(self, line: str, element: str, value: Any) -> None:
        self.tiles.append((self.name(), element, value))
        self.lines.append(f"{self.tiles[-1][0]} = {line}")

    def memory(self, array: Any, element: str) -> tuple[int, str]:
        """Number and type of a new argument."""
        dynamic = self.random.random() < 0.7
        facts = f" {{tile.aligned = {self.random.choice((4, 16))} : i64}}"
        type_ = f"memref<{extents(array.shape, element, dynamic=dynamic)}>"
        self.arguments.append(array)
        self.parameters.append(f"{type_}{facts if self.random.random() < 0.5 else ''}")
        return len(self.arguments) - 1, type_

    def extent(self, bits: int) -> int:
        """A power of two, or about as many units of a smaller one."""
        if self.random.random() < 0.75:
            return 1 << bits
        return self.random.choice(ODD) << max(bits - 2, 0)

    def load(self) -> None:
        rank = self.random.choice((1, 2, 2, 2, 3))
        shape = tuple(self.extent(self.random.randrange(8)) for _ in range(rank))
        while np.prod(shape) > 4096 or np.prod([odd_part(n) for n in shape]) > MOST_UNITS:
            shape = (*shape[:-2], shape[-2] // 2 or 1, shape[-1] // 2 or 1)
        element = self.random.choice(list(TYPES))
        there = tuple(self.random.choice((n, max(1, n - 3))) for n in shape)
        ours = np.random.default_rng(self.names).integers(-CAP, CAP + 1, there)
        value = np.zeros(shape, np.int64)
        value[tuple(slice(n) for n in there)] = ours
        number, type_ = self.memory(ours.astype(TYPES[element]), element)
        rank = len(shape)
        self.add(
            f'"tile.load"(%a{number}{", %c0" * rank}) {{masked}} : ({type_}{", index" * rank}) '
            f"-> {tensor(shape, element)}",
            element,
            value,
        )

    def store(self, name: str, element: str, value: Any) -> None:
        array = np.zeros(value.shape, TYPES[element])
        number, type_ = self.memory(array, element)
        self.expected[number] = value
        rank = value.ndim
        self.lines.append(
            f'"tile.store"({name}, %a{number}{", %c0" * rank}) {{masked}} : '
            f"({tensor(value.shape, element)}, {type_}{', index' * rank}) -> ()"
        )

    def tile(self, *, arithmetic: bool = True, rank: int = 1) -> tuple[str, str, Any]:
        """Any tile of at least a rank, made if there is none; `arithmetic`, one to count with."""
        found = [t for t in self.tiles if t[2].ndim >= rank and not (arithmetic and "f8" in t[1])]
        while not found:
            self.load()
            found = [t for t in self.tiles[-1:] if t[2].ndim >= rank]
            found = [t for t in found if not (arithmetic and "f8" in t[1])]
        return self.random.choice(found)

    def clamp(self) -> None:
        """Keep the latest tile's elements small."""
        _, element, value = self.tiles[-1]
        real = is_float(element)
        dot, least, most = (".0", "minimumf", "maximumf") if real else ("", "minsi", "maxsi")
        for sign, name in (("", least), ("-", most)):
            last = self.tiles.pop()[0]
            bound = self.name()
            type_ = tensor(value.shape, element)
            self.lines.append(f"{bound} = arith.constant dense<{sign}{CAP}{dot}> : {type_}")
            self.add(f"arith.{name} {last}, {bound} : {type_}", element, np.clip(value, -CAP, CAP))

    def combine(self) -> None:
        name, element, value = self.tile()
        alike = [t for t in self.tiles if t[1] == element and t[2].shape == value.shape]
        other, _, second = self.random.choice(alike)
        op, function = self.random.choice(
            [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)]
        )
        suffix = "f" if is_float(element) else "i"
        type_ = tensor(value.shape, element)
        self.add(f"arith.{op}{suffix} {name}, {other} : {type_}", element, function(value, second))
        self.clamp()

    def cast(self) -> None:
        name, element, value = self.tile(arithmetic=False)
        to = self.random.choice(list(TYPES))
        old, new = (np.dtype(TYPES[e]).itemsize for e in (element, to))
        match is_float(element), is_float(to):
            case True, True:
                op = "extf" if new > old else "truncf"
            case True, False:
                op = "fptosi"
            case False, True:
                op = "sitofp"
            case _:
                op = "extsi" if new > old else "trunci"
        if op in ("extf", "truncf", "extsi", "trunci") and new == old:
            return
        types = f"{tensor(value.shape, element)} to {tensor(value.shape, to)}"
        self.add(f"arith.{op} {name} : {types}", to, value)

    def saturate(self) -> None:
        """Floats that integers do not reach become the nearest of them."""
        name, element, value = self.tile()
        if not is_float(element):
            return
        to = self.random.choice([e for e in TYPES if not is_float(e)])
        scale, factor = self.name(), self.random.choice((256, 8192))
        type_, signed = tensor(value.shape, element), self.random.random() < 0.6
        self.lines += [
            f"{scale} = arith.constant dense<{factor}.0> : {type_}",
            f"{scale}_big = arith.mulf {name}, {scale} : {type_}",
        ]
        bits = np.iinfo(TYPES[to]).bits
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        result = np.array([min(max(int(v) * factor, low), high) for v in value.reshape(-1)])
        result = result.reshape(value.shape).astype(TYPES[to]).astype(np.int64)
        types = f"{type_} to {tensor(value.shape, to)}"
        op = "fptosi" if signed else "fptoui"
        self.add(f"arith.{op} {scale}_big : {types}", to, result)
        self.clamp()

    def divide(self) -> None:
        """By odd numbers, which are not zero, rounded in each way that there is."""
        name, element, value = self.tile()
        if is_float(element):
            return
        alike = [t for t in self.tiles if t[1] == element and t[2].shape == value.shape]
        other, _, second = self.random.choice(alike)
        type_, one, odd = tensor(value.shape, element), self.name(), self.name()
        self.lines += [
            f"{one} = arith.constant dense<1> : {type_}",
            f"{odd} = arith.ori {other}, {one} : {type_}",
        ]
        by = second | 1
        zero = np.trunc(value / by).astype(np.int64)
        op, result = self.random.choice(
            [
                ("divsi", zero),
                ("remsi", value - zero * by),
                ("floordivsi", value // by),
                ("ceildivsi", -(-value // by)),
            ]
        )
        self.add(f"arith.{op} {name}, {odd} : {type_}", element, result)

    def reduce(self) -> None:
        name, element, value = self.tile(rank=2)
        axis = self.random.randrange(value.ndim)
        suffix = "imumf" if is_float(element) else "si"
        fn, function = self.random.choice([(f"max{suffix}", np.max), (f"min{suffix}", np.min)])
        if self.random.random() < 0.5 and element != "bf16":
            fn, function = ("addf" if is_float(element) else "addi"), np.sum
        result = function(value, axis=axis)
        if element == "i8":
            result = result.astype(np.int8).astype(np.int64)
        self.add(
            f'"tile.reduce"({name}) {{axis = {axis}, fn = "arith.{fn}"}} : '
            f"({tensor(value.shape, element)}) -> {tensor(result.shape, element)}",
            element,
            result,
        )
        self.clamp()

    def take(self) -> None:
        """Elements from other places along an axis, of the tile or of one free to be laid out."""
        name, element, value = self.tile(arithmetic=False)
        axes = [at for at, extent in enumerate(value.shape) if odd_part(extent) == 1]
        if not axes:
            return
        axis = self.random.choice(axes)
        extent, type_ = value.shape[axis], tensor(value.shape, element)
        keep = self.random.choice((-1, -1, 0, -2, -8, self.random.randrange(extent)))
        flip = self.random.randrange(extent)
        if self.random.random() < 0.3:
            apart = self.name()
            self.lines.append(f'{apart} = "tile.convert_layout"({name}) : ({type_}) -> {type_}')
            name = apart
        places = (np.arange(extent) & keep) ^ flip
        self.add(
            f'"tile.take"({name}) {{axis = {axis}, keep = {keep}, flip = {flip}}} : '
            f"({type_}) -> {type_}",
            element,
            np.take(value, places, axis),
        )

    def view(self) -> None:
        name, element, value = self.tile(arithmetic=False)
        if self.random.random() < 0.5:
            order = self.random.sample(range(value.ndim), value.ndim)
            text = f'transpose"({name}) {{permutation = array<i64: {", ".join(map(str, order))}>}}'
            result = value.transpose(order)
        else:
            text = f'reshape"({name})'
            result = value.reshape(self.other_shape(value))
        types = f"({tensor(value.shape, element)}) -> {tensor(result.shape, element)}"
        self.add(f'"tile.{text} : {types}', element, result)

    def other_shape(self, value: Any) -> tuple[int, ...]:
        """A shape that a tile may be given: of one of odd extents an axis is cut, or one put in."""
        if odd_part(value.size) == 1:
            first = 1 << self.random.randrange(value.size.bit_length())
            return first, value.size // first
        axis = self.random.randrange(value.ndim)
        extent = value.shape[axis]
        outer = odd_part(extent)
        while outer < extent and self.random.random() < 0.5:
            outer *= 2
        return (*value.shape[:axis], outer, extent // outer, *value.shape[axis + 1 :])

    def repeat(self) -> None:
        name, element, value = self.tile(arithmetic=False)
        many = self.extent(self.random.randrange(6))
        if value.ndim > 2 or value.size * many > 8192:
            return
        if odd_part(value.size) * odd_part(many) > MOST_UNITS:
            return
        axis = self.random.randrange(value.ndim + 1)
        one, between = np.expand_dims(value, axis), self.name()
        types = f"({tensor(value.shape, element)}) -> {tensor(one.shape, element)}"
        self.lines.append(f'{between} = "tile.expand"({name}) {{axis = {axis}}} : {types}')
        result = np.repeat(one, many, axis)
        types = f"({tensor(one.shape, element)}) -> {tensor(result.shape, element)}"
        self.add(f'"tile.broadcast"({between}) : {types}', element, result)

    def product(self) -> None:
        """In a loop, or without one; of tiles from memory."""
        m, n, k = (8 * self.extent(self.random.randrange(4)) for _ in range(3))
        element, total = self.random.choice(PRODUCTS)
        rounds = self.random.choice((0, 1, 3))
        rng = np.random.default_rng(self.names)
        a, b = (rng.integers(-1, 2, s) for s in ((m, k * rounds), (k * rounds, n)))
        (x, left), (y, right) = (self.memory(v.astype(TYPES[element]), element) for v in (a, b))
        zero, step, depth = self.name(), self.name(), self.name()
        types = tensor((m, k), element), tensor((k, n), element), tensor((m, n), total)
        pins = f"tile.stages = {self.random.choice((1, 2, 3))} : i64"
        loop = self.random.choice(["", f" {{{pins}}}", " {tile.unroll = 2 : i64}"])
        self.lines += [
            f"{zero} = arith.constant dense<0{'.0' if is_float(total) else ''}> : {types[2]}",
            f"{step} = arith.constant {k} : index",
            f"{depth} = memref.dim %a{x}, %c1 : {left}",
        ]
        # The place of the matrices is what the loop counts, or an index that it carries, too.
        carried, last = (bool(rng.integers(2)) for _ in range(2))
        values = [("%s", zero, types[2], "%d"), ("%at", "%c0", "index", "%next")]
        values = (values[::-1] if last else values) if carried else values[:1]
        inits, held = (", ".join(f"{n} = {v}" for n, v, *_ in values), [t for *_, t, _ in values])
        place, all_, at = "%at" if carried else "%k", ", ".join(held), "index, index"
        name = self.name()
        self.lines.append(
            f"{name}:{len(values)} = scf.for %k = %c0 to {depth} step {step} iter_args({inits}) "
            f"-> ({all_}) {{\n"
            f'  %x = "tile.load"(%a{x}, %c0, {place}) {{masked}} : ({left}, {at}) -> {types[0]}\n'
            f'  %y = "tile.load"(%a{y}, {place}, %c0) {{masked}} : ({right}, {at}) -> {types[1]}\n'
            f'  %d = "tile.dot"(%x, %y, %s) : ({", ".join(types)}) -> {types[2]}\n'
            f"  %next = arith.addi {place}, {step} : index\n"
            f"  scf.yield {', '.join(given for *_, given in values)} : {all_}\n}}{loop}"
        )
        self.tiles.append((f"{name}#{held.index(types[2])}", total, a @ b))
        self.clamp()

    def products(self) -> None:
        """Several of a few matrices, all at once; some are in vain."""
        size, count = self.random.choice((16, 32, 48, 64)), self.random.randrange(2, 4)
        element, total = self.random.choice(PRODUCTS[:5])
        rng = np.random.default_rng(self.names)
        zero, held = self.name(), tensor((size, size), total)
        self.lines.append(
            f"{zero} = arith.constant dense<0{'.0' if is_float(total) else ''}> : {held}"
        )
        matrices = [rng.integers(-1, 2, (size, size)) for _ in range(count)]
        loaded = [self.matrix(v.astype(TYPES[element]), element) for v in matrices]
        type_ = tensor((size, size), element)
        for _ in range(self.random.randrange(2, 4)):
            one, other = self.random.randrange(count), self.random.randrange(count)
            self.add(
                f'"tile.dot"({loaded[one]}, {loaded[other]}, {zero}) : '
                f"({type_}, {type_}, {held}) -> {held}",
                total,
                matrices[one] @ matrices[other],
            )
            if self.random.random() < 0.4:
                self.tiles.pop()
            else:
                self.clamp()

    def matrix(self, array: Any, element: str) -> str:
        """A matrix from memory, whose rows `cp.async` may copy."""
        number, name = len(self.arguments), self.name()
        type_ = f"memref<{extents(array.shape, element)}>"
        self.arguments.append(array)
        self.parameters.append(f"{type_} {{tile.aligned = 16 : i64}}")
        self.lines.append(
            f'{name} = "tile.load"(%a{number}, %c0, %c0) {{masked}} : ({type_}, index, index) '
            f"-> {tensor(array.shape, element)}"
        )
        return name

    def signed_product(self) -> None:
        """Of 8-bit integers of all values, with flags and a form that agree or do not."""
        m, n, k = 32, 16, 64
        unsigned = [self.random.random() < 0.5 for _ in "ab"]
        pins = [f"unsigned_{side}" for side, one in zip("ab", unsigned, strict=True) if one]
        if self.random.random() < 0.7:
            taken = [one ^ (self.random.random() < 0.1) for one in unsigned]
            shape = self.random.choice(("m16n8k32", "m16n8k16", "m8n8k16"))
            a, b = ("u8" if one else "s8" for one in taken)
            name = f"mma.sync.aligned.{shape}.row.col.s32.{a}.{b}.s32"
            self.contradicts |= bool(pins) and taken != unsigned
            pins.append(f'form = "{name}"')
            unsigned = taken
        rng = np.random.default_rng(self.names)
        held = [rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n))]
        left, right = (
            (v.view(np.uint8) if one else v).astype(np.int64)
            for v, one in zip(held, unsigned, strict=True)
        )
        names = [self.matrix(v, "i8") for v in held]
        zero, total = self.name(), tensor((m, n), "i32")
        self.lines.append(f"{zero} = arith.constant dense<0> : {total}")
        types = ", ".join([tensor((m, k), "i8"), tensor((k, n), "i8"), total])
        self.add(
            f'"tile.dot"({", ".join(names)}, {zero}) {{{", ".join(pins)}}} : ({types}) -> {total}',
            "i32",
            left @ right,
        )
        self.clamp()

    def choose(self) -> None:
        name, element, value = self.tile()
        alike = [t for t in self.tiles if t[1] == element and t[2].shape == value.shape]
        other, _, second = self.random.choice(alike)
        mask, type_ = self.name(), tensor(value.shape, element)
        test = "cmpf olt" if is_float(element) else "cmpi slt"
        self.lines.append(f"{mask} = arith.{test}, {name}, {other} : {type_}")
        types = f"{tensor(value.shape, 'i1')}, {type_}"
        result = np.where(value < second, second, value)
        self.add(f"arith.select {mask}, {other}, {name} : {types}", element, result)

    def loop(self) -> None:
        """Two tiles change places three times; one of them may come from memory each time."""
        name, element, value = self.tile(arithmetic=False)
        alike = [t for t in self.tiles if t[1] == element and t[2].shape == value.shape]
        other, _, second = self.random.choice(alike)
        type_, both = tensor(value.shape, element), self.name()
        self.lines.append(
            f"{both}:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = {name}, %q = {other}) "
            f"-> ({type_}, {type_}) {{\n  scf.yield %q, %p : {type_}, {type_}\n}}"
        )
        self.tiles += [(f"{both}#0", element, second), (f"{both}#1", element, value)]

    def branch(self) -> None:
        name, element, value = self.tile(arithmetic=False)
        alike = [t for t in self.tiles if t[1] == element and t[2].shape == value.shape]
        other, _, second = self.random.choice(alike)
        type_, truth = tensor(value.shape, element), self.random.choice(("yes", "no"))
        self.add(
            f"scf.if %{truth} -> ({type_}) {{\n  scf.yield {name} : {type_}\n}} else {{\n"
            f"  scf.yield {other} : {type_}\n}}",
            element,
            value if truth == "yes" else second,
        )

    def until(self) -> None:
        """Two rounds that hand on what they got."""
        name, element, value = self.tile(arithmetic=False)
        type_, both = tensor(value.shape, element), self.name()
        types = f"{type_}, index"
        self.lines.append(
            f"{both}:2 = scf.while (%p = {name}, %r = %one) : ({types}) -> ({types}) {{\n"
            "  %go = arith.cmpi ult, %r, %c3 : index\n"
            f"  scf.condition(%go) %p, %r : {types}\n}} do {{\n^bb0(%p: {type_}, %r: index):\n"
            f"  %t = arith.addi %r, %one : index\n  scf.yield %p, %t : {types}\n}}"
        )
        self.tiles.append((f"{both}#0", element, value))

    @property
    def text(self) -> str:
        parameters = [f"%a{n}: {type_}" for n, type_ in enumerate(self.parameters)]
        block = f"array<i32: {32 * self.warps}, 1, 1>"
        constants = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3)]
        lines = [
            f'gpu.module @m [#nvvm.target<chip = "{self.target}">] {{',
            f"gpu.func @k({', '.join([*parameters, '%one: index'])})",
            f"kernel attributes {{known_block_size = {block}}} {{",
            *constants,
            "%yes = arith.cmpi eq, %one, %c1 : index",
            "%no = arith.cmpi ne, %one, %c1 : index",
            *self.lines,
            "gpu.return",
            "}",
            "}",
        ]
        return "\n".join(lines) + "\n"
