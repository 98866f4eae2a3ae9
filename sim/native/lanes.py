"""LLVM IR of the lanes of warps within loops over warps."""

from __future__ import annotations

from tilec.isa import LANES

from .ir import Text

LONGS, INTS, BITS = f"<{LANES} x i64>", f"<{LANES} x i32>", f"<{LANES} x i1>"
BYTES = f"<{LANES} x i8>"
"""LLVM's types of what all lanes of a warp have; predicates in memory are bytes."""


class Lanes(Text):
    """A function on the lanes of warps."""

    def keep(self, type_: str, initial: str) -> str:
        """A variable of some type."""
        name = self._new("%kept")
        self.slots.append(f"{name} = alloca {type_}")
        self.do(f"store {type_} {initial}, ptr {name}")
        return name

    def get(self, type_: str, variable: str) -> str:
        """What a variable holds."""
        return self.value(f"load {type_}, ptr {variable}")

    def put(self, type_: str, value: str, variable: str) -> None:
        """Give a variable a value."""
        self.do(f"store {type_} {value}, ptr {variable}")

    def load_longs(self, pointer: str) -> str:
        """Longs of an array, which is aligned as such are."""
        return self.value(f"load {LONGS}, ptr {pointer}, align 8")

    def store_longs(self, value: str, pointer: str) -> None:
        """Write longs to an array."""
        self.do(f"store {LONGS} {value}, ptr {pointer}, align 8")

    def spread(self, type_: str, element: str, value: str) -> str:
        """A scalar in all lanes."""
        first = self.value(f"insertelement {type_} poison, {element} {value}, i64 0")
        return self.value(
            f"shufflevector {type_} {first}, {type_} poison, <{LANES} x i32> zeroinitializer"
        )

    def lanes(self, op: str, type_: str, a: str, b: str) -> str:
        """A binary instruction on a type."""
        return self.value(f"{op} {type_} {a}, {b}")

    def select(self, p: str, type_: str, a: str, b: str) -> str:
        """A where p holds, else b."""
        return self.value(f"select {BITS} {p}, {type_} {a}, {type_} {b}")

    def reduce(self, op: str, type_: str, element: str, a: str) -> str:
        """What an operation makes of all lanes."""
        mangled = f"v{LANES}{element}"
        return self.value(f"call {element} @llvm.vector.reduce.{op}.{mangled}({type_} {a})")

    def any(self, p: str) -> str:
        """Whether a predicate holds in any lane."""
        return self.is_("ne", self.value(f"bitcast {BITS} {p} to i32"), 0, "i32")

    def all(self, p: str) -> str:
        """Whether it holds in all."""
        return self.is_("eq", self.value(f"bitcast {BITS} {p} to i32"), -1, "i32")

    def both(self, a: str, b: str) -> str:
        """Whether both hold."""
        return self.value(f"and i1 {a}, {b}")


def splat(number: int, bits: int = 64) -> str:
    """An integer in all lanes."""
    return f"splat (i{bits} {number})"


def iota(step: int) -> str:
    """The multiples of a number, by lane."""
    return "<" + ", ".join(f"i64 {step * lane}" for lane in range(LANES)) + ">"
