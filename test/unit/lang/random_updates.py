"""Random atomic updates of arrays in global and shared memory, and what numpy makes of them.

A kernel of one CTA goes through them in program order: at places in a row or of each element's
own, several elements at one place where their order makes no difference, in part outside, or
masked. Beside them stand random numbers, by a Philox of our own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

WIDTH = 64
"""Elements of the largest tile, and of a row of what a kernel gives."""
Array = np.ndarray[Any, Any]
TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "max": max,
    "min": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda _, b: b,
}


class Memory(NamedTuple):
    """An array.

    Attributes:
        name: of the argument.
        handle: what the kernel updates: the argument, or an array in shared memory.
        values: what it is to hold, as the program goes on.
    """

    name: str
    handle: str
    values: Array


def philox(seed: int, counters: Array) -> list[Array]:
    """Four words for each counter: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"."""
    word = np.uint64(0xFFFFFFFF)
    c = [counters.astype(np.uint64) & word, *(np.zeros_like(counters, np.uint64) for _ in range(3))]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        one, two = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [two >> np.uint64(32) ^ c[1] ^ key[0], two & word,
             one >> np.uint64(32) ^ c[3] ^ key[1], one & word]  # fmt: skip
        steps = (0x9E3779B9, 0xBB67AE85)
        key = [k + np.uint64(step) & word for k, step in zip(key, steps, strict=True)]
    return c


class Updates:
    """A kernel of updates.

    Attributes:
        text: its source.
        arguments: what it is launched with, but for the first.
        rows: what the first argument is to hold, a row each step.
        memories: the arrays, and what they are to hold.
    """

    def __init__(self, seed: int, count: int) -> None:
        self._chance = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self.arguments: list[Array] = []
        self._parameters: list[str] = []
        self.memories: list[Memory] = []
        self._lines: list[str] = []
        self._end: list[str] = []
        self._warps = self._chance.choice((1, 1, 2, 4))
        self.rows = np.zeros((count, WIDTH), np.int64)
        for _ in range(self._chance.randrange(1, 4)):
            self._memory()
        for row in range(count):
            step = self._update if self._chance.random() < 0.85 else self._random
            step(row)

    @property
    def text(self) -> str:
        """The kernel."""
        head = [
            f"@tilec.kernel(warps={self._warps})",
            "def kernel(out: tl.Array[tl.int64, int, int],",
        ]
        head += [f"           {one}," for one in self._parameters]
        body = [f"    {line}" for line in (*self._lines, *self._end)]
        return "\n".join([*head, ") -> None:", *body, ""])

    def expected(self) -> Iterator[tuple[str, Array]]:
        """Each argument that changes, and what it is to hold."""
        for memory in self.memories:
            yield memory.name, memory.values

    def _argument(self, values: Array) -> str:
        name = f"a{len(self.arguments)}"
        self.arguments.append(values)
        extents = ", ".join(["int"] * values.ndim)
        self._parameters.append(f"{name}: tl.Array[tl.{values.dtype}, {extents}]")
        return name

    def _values(self, dtype: str, size: int) -> Array:
        return self._numbers.integers(0 if dtype[0] == "u" else -9, 10, size).astype(dtype)

    def _memory(self) -> None:
        dtype = self._chance.choice(TYPES)
        rows, cols = self._chance.choice(((0, 40), (0, 64), (0, 7), (5, 12), (8, 8), (3, 1)))
        shape = (rows, cols) if rows else (cols,)
        values = self._values(dtype, int(np.prod(shape))).reshape(shape)
        name = self._argument(values.copy())
        handle = name
        if self._chance.random() < 0.6:
            handle = f"s{len(self.memories)}"
            whole = tuple(1 << (extent - 1).bit_length() for extent in shape)
            at = (0,) * len(shape)
            self._lines.append(f"{handle} = tl.shared_array({shape}, tl.{dtype})")
            self._lines.append(f"tl.store({handle}, {at}, tl.load({name}, {at}, {whole}))")
            self._end.append(f"tl.store({name}, {at}, tl.load({handle}, {at}, {whole}))")
        self.memories.append(Memory(name, handle, values))

    def _update(self, row: int) -> None:
        memory = self._chance.choice(self.memories)
        values, dtype = memory.values, str(memory.values.dtype)
        legal = ["add", "xchg"] if values.dtype.kind == "f" else [*FUNCTIONS, "cas", "cas"]
        name = self._chance.choice(legal)
        asked = self._chance.random() < 0.6
        alone = asked or name in ("xchg", "cas")
        shape = [1 << self._chance.randrange(4) for _ in values.shape]
        index, places = self._place(values.shape, shape, alone=alone)
        given = self._values(dtype, int(np.prod(shape))).reshape(shape)
        mask, kept = "", np.ones(shape, bool)
        if self._chance.random() < 0.4:
            kept = self._numbers.random(shape) < 0.6
            mask = f", mask={self._tile(kept.astype(np.int32))} != 0"
        compare = self._chance.randrange(-3, 3) if dtype[0] != "u" else self._chance.randrange(3)
        between = f"{compare}, " if name == "cas" else ""
        call = f"tl.atomic_{name}({memory.handle}, {index}, {between}{self._tile(given)}{mask})"
        old = np.zeros(shape, values.dtype)
        for at in np.ndindex(*shape):
            place = tuple(int(each[at]) for each in places)
            inside = all(0 <= p < size for p, size in zip(place, values.shape, strict=True))
            if not inside or not kept[at]:
                continue
            old[at] = values[place]
            if name != "cas":
                values[place] = FUNCTIONS[name](values[place], given[at])
            elif values[place] == compare:
                values[place] = given[at]
        if not asked:
            self._lines.append(call)
            return
        self._lines.append(f"tl.store(out, ({row}, 0), tl.ravel({call}).astype(tl.int64))")
        self.rows[row, : old.size] = old.astype(np.int64).ravel()

    def _tile(self, values: Array) -> str:
        """A tile of numbers that the kernel loads."""
        name = self._argument(values.ravel())
        return f"tl.load({name}, 0, {values.size}).reshape({values.shape})"

    def _place(
        self, sizes: tuple[int, ...], shape: list[int], *, alone: bool
    ) -> tuple[str, list[Array]]:
        """Where the elements go; no two to one place where that would make a difference."""
        parts, places = [], []
        for axis, size in enumerate(sizes):
            along = [1] * len(shape)
            along[axis] = shape[axis]
            if self._chance.random() < 0.5:
                first = self._chance.randrange(-2, size + 1)
                parts.append(str(first))
                own = first + np.arange(shape[axis])
            else:
                span = range(-2, max(size, shape[axis]) + 2)
                own = np.array(
                    self._chance.sample(span, shape[axis])
                    if alone
                    else self._chance.choices(span, k=shape[axis]),
                    np.int32,
                )
                parts.append(f"tl.load({self._argument(own)}, 0, {shape[axis]})")
            places.append(np.broadcast_to(own.reshape(along), shape))
        return f"({', '.join(parts)},)", places

    def _random(self, row: int) -> None:
        seed, first = self._chance.randrange(1 << 63), self._chance.randrange(1 << 20)
        word, size = self._chance.randrange(4), 1 << self._chance.randrange(7)
        self._lines.append(
            f"tl.store(out, ({row}, 0), tl.philox({seed}, tl.arange({size}) + {first})[{word}]"
            ".astype(tl.int64))"
        )
        self.rows[row, :size] = philox(seed, first + np.arange(size))[word].astype(np.int64)
