"""LLVM IR of the lanes of a warp, written one operation at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.isa import LANES

_FLOATS = {16: "half", 32: "float", 64: "double"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value of every lane.

    Attributes:
        text: its name, or a constant.
        element: LLVM's type of an element, as `i32`, `i1` of predicates, or `float`.
    """

    text: str
    element: str

    @property
    def type(self) -> str:
        """LLVM's type."""
        return f"<{LANES} x {self.element}>"

    @property
    def bits(self) -> int:
        """Bits of an element."""
        widths = {name: bits for bits, name in _FLOATS.items()}
        return widths.get(self.element) or int(self.element[1:])


class Body:
    """Operations of a function, in order, and the intrinsics that they call."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._names = 0

    def name(self) -> str:
        """A new name."""
        self._names += 1
        return f"%v{self._names}"

    def new(self, text: str, element: str) -> Value:
        """The value of an instruction."""
        value = Value(self.name(), element)
        self.lines.append(f"{value.text} = {text}")
        return value

    def constant(self, number: int, bits: int) -> Value:
        """An integer in all lanes."""
        number &= (1 << bits) - 1
        return Value(f"splat (i{bits} {number})", f"i{bits}")

    def real(self, bits: int, width: int) -> Value:
        """A float in all lanes, by its bits."""
        return self.as_float(self.constant(bits, width))

    # Operations

    def op(self, name: str, a: Value, b: Value) -> Value:
        """A binary instruction."""
        return self.new(f"{name} {a.type} {a.text}, {b.text}", a.element)

    def compare(self, how: str, a: Value, b: Value) -> Value:
        """`icmp …` or `fcmp …`."""
        return self.new(f"{how} {a.type} {a.text}, {b.text}", "i1")

    def select(self, p: Value, a: Value, b: Value) -> Value:
        """A where p holds, else b."""
        return self.new(
            f"select {p.type} {p.text}, {a.type} {a.text}, {b.type} {b.text}", a.element
        )

    def convert(self, name: str, a: Value, element: str) -> Value:
        """A conversion instruction, or nothing between equal types."""
        if element == a.element:
            return a
        return self.new(f"{name} {a.type} {a.text} to <{LANES} x {element}>", element)

    def call(self, name: str, *args: Value, result: str = "") -> Value:
        """An intrinsic, named without its types; those of result and operands where they differ."""
        element = result or args[0].element
        own = f"<{LANES} x {element}>"
        mangled = f"v{LANES}{_short(element)}"
        if result:
            mangled += f".v{LANES}{_short(args[0].element)}"
        function = f"@llvm.{name}.{mangled}"
        types = ", ".join(a.type for a in args)
        self.declared.add(f"declare {own} {function}({types})")
        given = ", ".join(f"{a.type} {a.text}" for a in args)
        return self.new(f"call {own} {function}({given})", element)

    def count(self, name: str, a: Value) -> Value:
        """`ctlz`: zeros count as the type's width."""
        function = f"@llvm.{name}.v{LANES}{a.element}"
        self.declared.add(f"declare {a.type} {function}({a.type}, i1)")
        return self.new(f"call {a.type} {function}({a.type} {a.text}, i1 false)", a.element)

    # What floats and integers are made of

    def as_float(self, a: Value) -> Value:
        """The float of some bits."""
        return self.convert("bitcast", a, _FLOATS[a.bits])

    def as_bits(self, a: Value) -> Value:
        """The bits of a float."""
        return self.convert("bitcast", a, f"i{a.bits}")

    def resize(self, a: Value, bits: int, *, signed: bool = False) -> Value:
        """An integer extended or truncated."""
        if bits == a.bits:
            return a
        how = "trunc" if bits < a.bits else "sext" if signed else "zext"
        return self.convert(how, a, f"i{bits}")

    def invert(self, a: Value) -> Value:
        """Every bit the other way."""
        ones = self.constant(-1, a.bits)
        return self.op("xor", a, ones)


def _short(element: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)


def function(name: str, body: Body, operands: list[Value], results: list[Value]) -> str:
    """The text of a function `name(file, places)`.

    `places` are offsets in `file`, of the results, then of the operands: 32 lanes each, in bytes
    for predicates.

    Args:
        name: the function's.
        body: what it does.
        operands: the values that it begins with, in order.
        results: the values that it ends with.
    """
    before: list[str] = []
    after: list[str] = []

    def place(number: int, lines: list[str]) -> str:
        lines.append(f"%at{number} = getelementptr i32, ptr %places, i64 {number}")
        lines.append(f"%offset{number} = load i32, ptr %at{number}")
        lines.append(f"%p{number} = getelementptr i8, ptr %file, i32 %offset{number}")
        return f"%p{number}"

    for number, value in enumerate(operands, len(results)):
        pointer = place(number, before)
        if value.element == "i1":
            byte = f"<{LANES} x i8>"
            before.append(f"%byte{number} = load {byte}, ptr {pointer}, align {LANES}")
            before.append(f"{value.text} = trunc {byte} %byte{number} to {value.type}")
        else:
            before.append(f"{value.text} = load {value.type}, ptr {pointer}, align {LANES}")
    for number, value in enumerate(results):
        pointer = place(number, after)
        text, type_ = value.text, value.type
        if value.element == "i1":
            type_ = f"<{LANES} x i8>"
            text = f"%wide{number}"
            after.append(f"{text} = zext {value.type} {value.text} to {type_}")
        after.append(f"store {type_} {text}, ptr {pointer}, align {LANES}")
    lines = [*before, *body.lines, *after, "ret void"]
    inside = "\n  ".join(lines)
    return f"define void @{name}(ptr %file, ptr %places) {{\n  {inside}\n}}\n"
