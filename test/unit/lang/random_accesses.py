"""Random loads and stores, in and out of arrays of every type, and what numpy makes of them.

Arrays are of any rank, strided, packed where two elements lie in a byte, or views of one another;
tiles begin anywhere, at indices known when the kernel is compiled or only when it runs, or their
elements lie anywhere, at tiles of indices; some are masked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

WIDTH = 64
"""Elements of the largest tile."""
PACKED = ("int4", "uint4", "float4_e2m1fn")
"""The elements of which two lie in a byte."""
CODES: dict[str, Any] = {
    **{name: np.dtype(name) for name in ("int8", "uint8", "int16", "int32", "int64", "uint64")},
    **{name: np.dtype(name) for name in ("bool", "float16", "float32", "float64")},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    **{name: np.dtype(getattr(ml_dtypes, name)) for name in PACKED},
}
"""numpy's types by the names of element types; those of 4 bits in a byte each."""


def lang(name: str) -> str:
    """The type as a kernel names it."""
    return f"tl.{name.replace('bool', 'bool_')}"


class Memory(NamedTuple):
    """An array that a kernel takes.

    Attributes:
        name: of the argument.
        element: its elements.
        annotation: of the argument.
        values: what they are before the launch, one each.
        passed: what the launch takes: the values, or their packed bytes.
        base: the memory that it is a part of.
        dtype: the `dtype=` of loads; empty for none.
    """

    name: str
    element: str
    annotation: str
    values: Any
    passed: Any
    base: Any
    dtype: str


def numbers(element: str, shape: Sequence[int], chance: random.Random) -> Any:
    """Random elements of a type."""
    generator = np.random.default_rng(chance.randrange(1 << 30))
    if element == "bool":
        return generator.random(shape) < 0.5
    low = 0 if element[0] == "u" else -4
    return generator.integers(low, 5, shape).astype(CODES[element])


def packed(values: Any) -> Any:
    """Elements of 4 bits two in a byte, the first in the low bits."""
    codes = np.ascontiguousarray(values).view(np.uint8) & 15
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpacked(held: Any, element: str) -> Any:
    """The elements that bytes hold."""
    codes = np.stack([held & 15, held >> 4], -1).reshape(*held.shape[:-1], -1).astype(np.uint8)
    if element == "int4":
        codes = np.where(codes > 7, codes | 0xF0, codes).astype(np.uint8)
    return codes.view(CODES[element])


class Index(NamedTuple):
    """Where a tile begins along one dimension, or where each of its elements lies.

    Attributes:
        text: as the kernel has it.
        value: what it is; of elements an array of the tile's shape.
    """

    text: str
    value: Any


class Accesses:
    """A kernel of many accesses, and what they give.

    Attributes:
        text: its source.
        arguments: arrays and integers, by the parameters' order; the first takes what is loaded.
        rows: what the first argument is to hold, a row each load.
        stored: arrays, and what they are to hold.
    """

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self.memories: list[Memory] = []
        self.numbers: dict[str, int] = {}
        self.lines: list[str] = []
        self.rows = np.zeros((count, WIDTH), np.int64)
        self.stored: list[tuple[Memory, Any]] = []
        self.turned = False
        for row in range(count):
            if self.random.random() < 0.7:
                self.load(row)
            else:
                self.store()

    # What the kernel is given.

    def memory(self) -> Memory:
        """A new array, often strided."""
        name = f"a{len(self.memories)}"
        element = self.random.choice([*CODES, *PACKED])
        shape = [self.random.randrange(1, 13) for _ in range(self.random.choice((1, 2, 2, 3)))]
        if element in PACKED:
            shape[-1] *= 2
            values = numbers(element, shape, self.random)
            held = packed(values)
            raw = self.random.random() < 0.3
            type_, dtype = ("uint8", f", dtype={lang(element)}") if raw else (element, "")
            annotation = self._annotation(type_, held)
            found = Memory(name, element, annotation, values, held, held, dtype)
        else:
            base = numbers(element, [2 * n + 1 for n in shape], self.random)
            view = base[tuple(self._slice(n) for n in shape)]
            if self.random.random() < 0.3:
                view = view.T
            annotation = self._annotation(element, view)
            found = Memory(name, element, annotation, view.copy(), view, base, "")
        self.memories.append(found)
        return found

    def _slice(self, size: int) -> slice:
        first, step = self.random.choice(((0, 1), (0, 1), (1, 1), (0, 2), (1, 2)))
        return slice(first, first + size * step, step)

    def _annotation(self, element: str, array: Any) -> str:
        written = (
            f"Literal[{extent}]" if self.random.random() < 0.3 else "int" for extent in array.shape
        )
        return f"tl.Array[{lang(element)}, {', '.join(written)}]"

    def integer(self, value: int) -> str:
        """An argument of this value."""
        name = f"i{len(self.numbers)}"
        self.numbers[name] = value
        return name

    def index(self, size: int, extent: int, *, even: bool = False) -> Index:
        """A place along a dimension, often in part or wholly outside."""
        value = self.random.choice(
            [0, 0, 1, -1, 2, size - 1, size, size - extent, self.random.randrange(-9, size + 3)]
        )
        if self.random.random() < 0.03:
            value = self.random.choice([1 << 40, -(1 << 40), (1 << 31) + 1, -(1 << 31)])
        if even:
            value &= ~1
        kind = self.random.randrange(4)
        if kind == 0:
            return Index(str(value), value)
        if kind == 1 and value % 2 == 0:
            return Index(f"2 * {self.integer(value // 2)}", value)
        if even:
            return Index(f"{self.integer(value >> 1)} << 1", value)
        if kind == 2:
            return Index(f"{self.integer(value - 3)} + 3", value)
        return Index(self.integer(value), value)

    def place(
        self, memory: Memory, extents: Sequence[int], *, even: bool = False
    ) -> tuple[list[Index], Index]:
        """Where a tile lies in an array, and under which mask."""
        shape = memory.values.shape
        first = len(shape) - len(extents)
        wide = (*[1] * first, *extents)
        last = len(shape) - 1
        found = [
            self.index(size, extent, even=even and axis == last)
            for axis, (size, extent) in enumerate(zip(shape, wide, strict=True))
        ]
        mask = Index("", np.ones(extents, bool))
        if memory.element not in PACKED and self.random.random() < 0.4:
            self.turned = False
            for axis, size in enumerate(shape):
                if self.random.random() < 0.5:
                    found[axis] = self.indices(axis - first, size, extents)
            if self.random.random() < 0.5:
                mask = self.mask(extents)
        return found, mask

    def indices(self, axis: int, size: int, extents: Sequence[int]) -> Index:
        """A tile of indices along a dimension of it, or of the array alone; no two are the same."""
        extent = extents[axis] if axis >= 0 else 1
        whole = axis < 0 or (len(extents) > 1 and self.random.random() < 0.5 and not self.turned)
        self.turned |= whole and axis >= 0  # of two such dimensions elements would meet
        own = np.array(self.random.sample(range(-3, max(size, extent) + 3), extent))
        steps = np.meshgrid(*map(np.arange, extents), indexing="ij")
        if axis < 0:  # elements apart in the tile's own dimensions may have any
            values = np.array([self.random.randrange(-2, size + 2) for _ in steps[0].flat])
            values = values.reshape(extents)
        elif whole:  # turned from one line to the next
            others = sum(step for at, step in enumerate(steps) if at != axis)
            values = own[(steps[axis] + others) % extent]
        else:
            values = own[steps[axis]]
        held = (values if whole else own).reshape(-1)
        element = self.random.choice(["int32", "int64", "int8", "int16"])
        name = self.vector(element, held)
        text = f"tl.load({name}, 0, {held.size})"
        return Index(f"{text}.reshape({tuple(extents)})" if whole else text, values)

    def mask(self, extents: Sequence[int]) -> Index:
        """Which elements are moved: any, or those before a number in each row."""
        if self.random.random() < 0.5:
            end = self.random.randrange(0, extents[-1] + 2)
            lines = np.broadcast_to(np.arange(extents[-1]) < end, extents)
            return Index(f", mask=tl.arange({extents[-1]}) < {self.integer(end)}", lines)
        held = numbers("bool", extents, self.random)
        name = self.vector("bool", held.reshape(-1))
        return Index(f", mask=tl.load({name}, 0, {held.size}).reshape({tuple(extents)})", held)

    def vector(self, element: str, held: Any) -> str:
        """An argument: an array of rank 1."""
        values, name = held.astype(CODES[element]), f"a{len(self.memories)}"
        annotation = f"tl.Array[{lang(element)}, int]"
        self.memories.append(Memory(name, element, annotation, values, values, values, ""))
        return name

    def extents(self, rank: int, *, even: bool = False) -> list[int]:
        """The shape of a tile."""
        found = [1 << self.random.randrange(4) for _ in range(self.random.randrange(1, rank + 1))]
        if even and found[-1] == 1:
            found[-1] = 2
        while np.prod(found) > WIDTH:
            found[found.index(max(found))] //= 2
        return found

    # Accesses.

    def load(self, row: int) -> None:
        """A tile, with what is outside filled in."""
        memory = self.memory()
        values = memory.values
        extents = self.extents(values.ndim)
        index, mask = self.place(memory, extents)
        fill, text = self.fill(memory.element)
        where = ", ".join(part.text for part in index)
        self.lines.append(
            f"t = tl.load({memory.name}, ({where},), {tuple(extents)}"
            f"{memory.dtype}{text}{mask.text})"
        )
        self.lines.append(f"tl.store(out, ({row}, 0), {bits('t', memory.element)})")
        inside, places = reached(values.shape, extents, [part.value for part in index])
        inside &= mask.value
        found = np.full(extents, fill, CODES[memory.element])
        found[inside] = values[tuple(place[inside] for place in places)]
        code = as_bits(found).reshape(-1)
        self.rows[row, : code.size] = code

    def fill(self, element: str) -> tuple[Any, str]:
        """What a load reads outside, and how the kernel says so."""
        if self.random.random() < 0.2:
            return 0, ""
        if "float" not in element:
            choices = (
                [0, 1, 3] if element[0] == "u" else [0, 1] if element == "bool" else [0, -1, 5]
            )
        else:
            choices = [0.0, -0.0, 1.5] if "4_" in element else [0.0, -0.0, 1.5, -np.inf, np.nan]
        value = self.random.choice(choices)
        written = {"-inf": "-math.inf", "nan": "math.nan"}.get(repr(value), repr(value))
        if element in ("int64", "float64") and isinstance(value, int):
            written = self.integer(value)
        return value, f", fill={written}"

    def store(self) -> None:
        """A tile into an array of its own, of which all the memory is compared."""
        memory = self.memory()
        is_narrow = memory.element in PACKED
        extents = self.extents(memory.values.ndim, even=is_narrow)
        index, mask = self.place(memory, extents, even=is_narrow)
        count = int(np.prod(extents))
        given = numbers(memory.element, [WIDTH], self.random)
        held = packed(given) if is_narrow else given
        name, annotation = f"a{len(self.memories)}", f"tl.Array[{lang(memory.element)}, int]"
        source = Memory(name, memory.element, annotation, given, held, held, "")
        self.memories.append(source)
        shape, where = tuple(extents), ", ".join(part.text for part in index)
        self.lines.append(f"t = tl.load({source.name}, 0, {count}).reshape({shape})")
        self.lines.append(f"tl.store({memory.name}, ({where},), t{mask.text})")
        inside, places = reached(memory.values.shape, extents, [part.value for part in index])
        inside &= mask.value
        after = memory.values.copy()
        after[tuple(place[inside] for place in places)] = given[:count].reshape(extents)[inside]
        self.stored.append((memory, after))

    # The whole.

    @property
    def text(self) -> str:
        """The kernel's source."""
        parameters = [f"{memory.name}: {memory.annotation}" for memory in self.memories]
        parameters += [f"{name}: int" for name in self.numbers]
        lines = ["out: tl.Array[tl.int64, int, int],", *(f"{one}," for one in parameters)]
        head = ["@tilec.kernel(warps=1)", "def kernel(", *(f"    {line}" for line in lines)]
        return "\n".join([*head, ") -> None:", *(f"    {line}" for line in self.lines), ""])

    @property
    def arguments(self) -> list[Any]:
        """The kernel's arguments, all but the first."""
        return [*(memory.passed for memory in self.memories), *self.numbers.values()]


def reached(shape: Sequence[int], extents: Sequence[int], index: Sequence[Any]) -> tuple[Any, Any]:
    """Which elements of a tile lie inside an array, and where each lies along every dimension."""
    wide = (*[1] * (len(shape) - len(extents)), *extents)
    steps = np.meshgrid(*(np.arange(extent) for extent in wide), indexing="ij")
    places = [
        step.reshape(extents) + first if isinstance(first, int) else first
        for step, first in zip(steps, index, strict=True)
    ]
    inside = np.ones(extents, bool)
    for place, size in zip(places, shape, strict=True):
        inside &= (place >= 0) & (place < size)
    return inside, places


def bits(name: str, element: str) -> str:
    """A tile in a kernel as its bits, a row of int64."""
    if "float" not in element:
        return f"{name}.astype(tl.int64).reshape(-1)"
    return f"{name}.astype(tl.float64).view(tl.int64).reshape(-1)"


def as_bits(values: Any) -> Any:
    """The same of numpy's array."""
    if values.dtype.name.startswith(("float", "bfloat")):
        return values.astype(np.float64).view(np.int64)
    return values.astype(np.int64)


def held(memory: Memory) -> Any:
    """What an array holds now, as its bits."""
    narrow = memory.element in PACKED
    return as_bits(unpacked(memory.passed, memory.element) if narrow else memory.passed)


def restore(memory: Memory) -> None:
    """Make an array what it was, so that what lies beside it can be compared."""
    memory.passed[...] = packed(memory.values) if memory.element in PACKED else memory.values


class Overlaps:
    """A kernel that goes through views of one memory, and what that is to hold.

    Attributes:
        text: its source.
        base: the memory.
        views: the kernel's arguments.
        expected: what the memory is to hold.
    """

    def __init__(self, seed: int, count: int = 6) -> None:
        chance = random.Random(seed)
        element = chance.choice(["int8", "int16", "int32", "float32", "float64"])
        self.base = np.arange(80).astype(element)
        self.expected = self.base.copy()
        slices = []
        for _ in range(4):
            step = chance.choice([1, 1, 1, 2, 3])
            first = chance.randrange(0, 40)
            slices.append(slice(first, first + step * chance.randrange(1, 14), step))
        self.views = [self.base[part] for part in slices]
        expected = [self.expected[part] for part in slices]
        lines = []
        for number in range(1, count + 1):
            source, target = chance.randrange(4), chance.randrange(4)
            size = 1 << chance.randrange(5)
            start, to = chance.randrange(-1, 4), chance.randrange(-1, 4)
            lines.append(f"t = tl.load(v{source}, {start}, {size})")
            lines.append(f"tl.store(v{target}, {to}, t + {number})")
            given = np.zeros(size, element)
            for at in range(size):
                if 0 <= start + at < expected[source].size:
                    given[at] = expected[source][start + at]
            for at in range(size):
                if 0 <= to + at < expected[target].size:
                    expected[target][to + at] = given[at] + number
        parameters = ", ".join(f"v{n}: tl.Array[{lang(element)}, int]" for n in range(4))
        head = ["@tilec.kernel(warps=1)", f"def kernel({parameters}) -> None:"]
        self.text = "\n".join([*head, *(f"    {line}" for line in lines), ""])
