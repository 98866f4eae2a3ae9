"""Random expressions on tiles and scalars of every type, and what numpy makes of them.

An expression is written for a kernel, and evaluated on numpy's arrays of the same types with
numpy's functions; integers of 4 bits count in 8 and wrap. A scalar known when the kernel runs is
one of numpy's of its type, and `int` one of int64.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

LANES = 32
"""Elements of a tile."""
ROWS = 2
"""Tiles of each type that a kernel has."""


class Type(NamedTuple):
    """An element type.

    Attributes:
        name: numpy's.
        bits: its width.
        kind: `int`, `uint`, `bool` or `float`.
    """

    name: str
    bits: int
    kind: str

    @property
    def dtype(self) -> Any:
        """The numpy type that its numbers are in."""
        if self.name == "bfloat16":
            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(self.name.replace("int4", "int8"))

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest integer."""
        if self.kind == "int":
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1

    def wrapped(self, value: Any) -> Any:
        """What the type holds of the integers of a wider one."""
        value = np.asarray(value).astype(self.dtype)
        if self.bits != 4:
            return value
        low = value & 15
        return np.where(low > 7, low - 16, low).astype(np.int8) if self.kind == "int" else low


INTEGERS = tuple(
    Type(f"{'u' * (kind == 'uint')}int{bits}", bits, kind)
    for kind in ("int", "uint")
    for bits in (4, 8, 16, 32, 64)
)
FLOATS = tuple(
    Type(name, bits, "float")
    for name, bits in (("float16", 16), ("bfloat16", 16), ("float32", 32), ("float64", 64))
)
BOOL = Type("bool", 1, "bool")
TYPES = {type_.name: type_ for type_ in (*INTEGERS, *FLOATS, BOOL)}
INT64 = TYPES["int64"]
SCALARS = (
    *(type_ for type_ in INTEGERS if type_.bits >= 8),
    *(BOOL, TYPES["float32"]),
)
"""Types of scalar arguments."""
PARAMETERS = tuple((f"{one}_{type_.name}", type_) for type_ in SCALARS for one in "st")
"""The scalar arguments, two of each type."""

Env = Mapping[str, Any]
"""The inputs by name."""


class Expression(NamedTuple):
    """An expression.

    Attributes:
        text: as the kernel has it.
        type: element type.
        is_tile: whether it has dimensions.
        value: its value for inputs.
    """

    text: str
    type: Type
    is_tile: bool
    value: Callable[[Env], Any]


def edges(type_: Type, chance: random.Random) -> Any:
    """A number of a type: often one at its limits, or one that others are divided by."""
    if type_.kind == "bool":
        return chance.random() < 0.5
    if type_.kind == "float":
        return chance.choice(
            [
                0.0,
                -0.0,
                1.5,
                -1.5,
                7.75,
                -8.5,
                127.5,
                128.0,
                -129.0,
                255.9,
                300.0,
                -32769.0,
                65536.0,
            ]
            + [2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**64), np.inf, -np.inf, np.nan]
            + [chance.uniform(-100, 100) for _ in range(8)]
        )
    low, high = type_.limits
    near = [n for n in (0, 0, 0, 1, -1, -1, 2, -2, 3, 7, -7, 8, 31, 32, 33, 64) if low <= n <= high]
    return chance.choice([low, low + 1, high, *near, chance.randint(low, high)])


def far(chance: random.Random) -> int:
    """An integer at the limits of some type, or one that others are divided by."""
    type_ = chance.choice(INTEGERS)
    near = edges(type_, chance) + chance.choice((0, 0, -1, 1))
    return max(INT64.limits[0], min(INT64.limits[1], near))


def inputs(seed: int) -> dict[str, Any]:
    """Values for every input."""
    chance = random.Random(seed)
    found: dict[str, Any] = {}
    for type_ in TYPES.values():
        values = [[edges(type_, chance) for _ in range(LANES)] for _ in range(ROWS)]
        with np.errstate(over="ignore"):
            found[type_.name] = np.array(values, np.float64 if type_.kind == "float" else object)
            found[type_.name] = found[type_.name].astype(type_.dtype)
    for name, type_ in PARAMETERS:
        value = chance.uniform(-9, 9) if type_.kind == "float" else edges(type_, chance)
        found[name] = type_.dtype.type(value)
    for name in "nm":
        found[name] = np.int64(far(chance))
    found["size"] = np.int64(abs(far(chance) % (1 << 40)))
    found["k"] = np.int64(chance.randrange(-2, 9))
    return found


OPERATORS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "add": ("({} + {})", np.add),
    "subtract": ("({} - {})", np.subtract),
    "multiply": ("({} * {})", np.multiply),
    "and": ("({} & {})", np.bitwise_and),
    "or": ("({} | {})", np.bitwise_or),
    "xor": ("({} ^ {})", np.bitwise_xor),
    "floor_divide": ("({} // {})", np.floor_divide),
    "remainder": ("({} % {})", np.remainder),
    "quotient": ("divmod({}, {})[0]", np.floor_divide),
    "rest": ("divmod({}, {})[1]", np.remainder),
    "left_shift": ("({} << {})", np.left_shift),
    "right_shift": ("({} >> {})", np.right_shift),
    "maximum": ("tl.maximum({}, {})", np.maximum),
    "minimum": ("tl.minimum({}, {})", np.minimum),
}
COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
UNARY: Mapping[str, Callable[..., Any]] = {
    "(-{})": np.negative,
    "(~{})": np.invert,
    "abs({})": np.abs,
    "tl.abs({})": np.abs,
    "(+{})": np.positive,
}
GUARDED = (
    # of a, b and another c: `bad` says where b is left out
    ("tl.where({b} > 0, {a} // {b}, {c})", np.floor_divide, lambda a, b: b <= 0),
    ("tl.where({b} == 0, {c}, {a} % {b})", np.remainder, lambda a, b: b == 0),
    ("tl.where(({b} != 0) & ({a} > 2), {a} // {b}, {c})", np.floor_divide,
     lambda a, b: (b == 0) | (a <= 2)),
    ("tl.where({b} == 0, {c}, {a} // {b})", np.floor_divide, lambda a, b: b == 0),
)  # fmt: skip
GUARDED_SCALARS = (
    *GUARDED,
    ("({a} // {b} if {b} != 0 else {c})", np.floor_divide, lambda a, b: b == 0),
    ("({c} if {b} <= 0 else {a} % {b})", np.remainder, lambda a, b: b <= 0),
    ("({a} // {b} if {b} and {a} // {b} > 2 else {c})", np.floor_divide,
     lambda a, b: (b == 0) | (np.floor_divide(a, b) <= 2)),
    ("({c} if {b} == 0 or {a} % {b} == 1 else {a} // {b})", np.floor_divide,
     lambda a, b: (b == 0) | (np.remainder(a, b) == 1)),
)  # fmt: skip


def from_float(value: Any, type_: Type) -> Any:
    """The integer next to a float toward zero, or the nearest that there is; 0 for NaN."""
    low, high = type_.limits

    def nearest(number: float) -> int:
        if np.isnan(number):
            return 0
        if np.isinf(number):
            return high if number > 0 else low
        return min(max(int(number), low), high)

    numbers = np.asarray(value).astype(np.float64)
    found = [nearest(float(number)) for number in numbers.reshape(-1)]
    return np.array(found, object).reshape(numbers.shape).astype(type_.dtype)


def converted(value: Any, source: Type, type_: Type) -> Any:
    """Numbers as another type has them."""
    if type_.kind == "bool":
        return np.asarray(value) != 0
    if type_.kind == "float":
        return np.asarray(value).astype(type_.dtype)
    return from_float(value, type_) if source.kind == "float" else type_.wrapped(value)


class Writer:
    """Writes random expressions; `of` gives one of a type."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def of(self, type_: Type, depth: int, tile: bool) -> Expression:
        """An expression of this type."""
        if depth <= 0 or type_.kind == "float" or self.random.random() < 0.1:
            return self.leaf(type_, tile)
        if type_.kind == "bool":
            return self.truth(depth - 1, tile)
        kinds = [self.arithmetic, self.arithmetic, self.guarded, self.guarded, self.unary]
        kinds += [self.choice, self.conversion, self.beside_int]
        if not tile:
            kinds += [self.operand, self.reduction, self.reduction]
        elif self.random.random() < 0.3:
            kinds += [self.scan, self.ordered]
        found: Expression = self.pick(*kinds)(type_, depth - 1, tile)
        return found

    # What a kernel is given.

    def leaf(self, type_: Type, tile: bool) -> Expression:
        """A tile that was loaded, or a scalar argument."""
        if tile:
            row, key = self.random.randrange(ROWS), type_.name
            return Expression(f"x_{key}_{row}", type_, True, lambda env: env[key][row])
        if type_ == INT64 and self.random.random() < 0.6:
            return self.integer(0)
        if type_ in SCALARS:
            name = f"{self.pick('s', 't')}_{type_.name}"
            return Expression(name, type_, False, lambda env: env[name])
        return self.cast(self.leaf(self.pick(*SCALARS), False), type_)

    def integer(self, depth: int) -> Expression:
        """An `int` of the run."""
        if depth <= 0:
            name = self.pick("n", "m", "size", "k")
            return Expression(name, INT64, False, lambda env: env[name])
        one, other = self.integer(depth - 1), self.integer(0)
        if self.random.random() < 0.5:
            other = self.literal(INT64)
        return self.operated(INT64, self.pick(*OPERATORS), one, other)

    def literal(self, type_: Type) -> Expression:
        """A number of Python's that the type holds."""
        number = edges(type_, self.random)
        return Expression(f"({number})", type_, False, lambda _: type_.dtype.type(number))

    # Conversions.

    def cast(self, given: Expression, type_: Type) -> Expression:
        """`given.astype(type_)`."""
        return Expression(
            f"{given.text}.astype(tl.{type_.name.replace('bool', 'bool_')})",
            type_,
            given.is_tile,
            lambda env: converted(given.value(env), given.type, type_),
        )

    def conversion(self, type_: Type, depth: int, tile: bool) -> Expression:
        """An expression of another type, cast, or its bits taken for one of this."""
        alike = [o for o in INTEGERS if o.bits == type_.bits and o != type_]
        if self.random.random() < 0.3:
            given = self.cast(self.of(alike[0], depth, tile), alike[0])
            text = f"{given.text}.view(tl.{type_.name})"
            return Expression(text, type_, tile, lambda env: type_.wrapped(given.value(env)))
        given = self.of(self.pick(*INTEGERS, *INTEGERS, *FLOATS, BOOL), depth, tile)
        if given.type.kind in ("int", "uint") and self.random.random() < 0.2:
            given = self.cast(given, TYPES[self.pick("float32", "float64")])
        return self.cast(given, type_)

    # Arithmetic.

    def pair(self, type_: Type, depth: int, tile: bool) -> tuple[Expression, Expression]:
        """Two operands whose operation is of a type, one at least a tile if it is of tiles."""
        shapes = self.pick((True, True), (True, False), (False, True)) if tile else (False, False)
        one, other = (self.of(type_, depth, shape) for shape in shapes)
        narrower = [o for o in INTEGERS if o.kind == type_.kind and o.bits < type_.bits]
        if narrower and self.random.random() < 0.2:
            other = self.of(self.pick(*narrower), depth, shapes[1])
        elif self.random.random() < 0.25 and shapes[0] == tile:
            other = self.literal(type_)
        return (one, other) if self.random.random() < 0.7 else (other, one)

    def operated(self, type_: Type, name: str, one: Expression, other: Expression) -> Expression:
        """An operation of two operands, each taken to its type."""
        text, function = OPERATORS[name]

        def value(env: Env) -> Any:
            both = (np.asarray(e.value(env)).astype(type_.dtype) for e in (one, other))
            return type_.wrapped(function(*both))

        is_tile = one.is_tile or other.is_tile
        return Expression(text.format(one.text, other.text), type_, is_tile, value)

    def arithmetic(self, type_: Type, depth: int, tile: bool) -> Expression:
        """Any operator, of any operands."""
        return self.operated(type_, self.pick(*OPERATORS), *self.pair(type_, depth, tile))

    def beside_int(self, type_: Type, depth: int, tile: bool) -> Expression:
        """A tile of a narrower type beside an `int`: as in numpy, int64."""
        if type_ != INT64 or not tile:
            return self.arithmetic(type_, depth, tile)
        narrow = self.pick(*(o for o in INTEGERS if o.bits < 64), BOOL)
        one, other = self.of(narrow, depth, True), self.integer(depth)
        if self.random.random() < 0.3:
            one, other = other, one
        return self.operated(INT64, self.pick(*OPERATORS), one, other)

    def guarded(self, type_: Type, depth: int, tile: bool) -> Expression:
        """A division, chosen where its divisor is one that the program wants."""
        forms = GUARDED if tile else GUARDED_SCALARS
        text, function, is_bad = self.pick(*forms)
        a, c = self.of(type_, depth, tile), self.of(type_, depth, tile)
        b = self.of(type_, min(depth, 1), tile)

        def value(env: Env) -> Any:
            x, y, z = (np.asarray(e.value(env)).astype(type_.dtype) for e in (a, b, c))
            found = np.where(is_bad(x, y), z, type_.wrapped(function(x, y)))
            return type_.wrapped(found)

        return Expression(text.format(a=a.text, b=b.text, c=c.text), type_, tile, value)

    def unary(self, type_: Type, depth: int, tile: bool) -> Expression:
        """An operator of one operand."""
        text, given = self.pick(*UNARY), self.of(type_, depth, tile)
        return Expression(
            text.format(given.text),
            type_,
            tile,
            lambda env: type_.wrapped(UNARY[text](np.asarray(given.value(env)))),
        )

    def reduction(self, type_: Type, depth: int, tile: bool) -> Expression:
        """A tile combined; sums and products of a narrow type are of 32 bits."""
        del tile
        name = self.pick("sum", "sum", "prod", "max", "min")
        if name in ("max", "min"):
            given = self.of(type_, depth, True)
            return Expression(
                f"{given.text}.{name}()",
                type_,
                False,
                lambda env: type_.wrapped(getattr(np, name)(given.value(env))),
            )
        fits = [o for o in INTEGERS if o.kind == type_.kind and o.bits < 32] + [type_]
        fits += [BOOL] if type_.name == "int32" else []
        is_own = type_.bits == 32 or self.random.random() < 0.3
        source = type_ if type_.bits > 32 and is_own else self.pick(*fits)
        given = self.of(source, depth, True)
        named = is_own and (type_.bits >= 32)
        text = f"tl.{name}({given.text}{'' if named else f', dtype=tl.{type_.name}'})"

        def value(env: Env) -> Any:
            numbers = np.asarray(given.value(env)).astype(
                np.int64 if type_.bits == 4 else type_.dtype
            )
            return type_.wrapped(getattr(np, name)(numbers, dtype=numbers.dtype))

        return Expression(text, type_, False, value)

    def scan(self, type_: Type, depth: int, tile: bool) -> Expression:
        """Sums, products or the largest up to each element, from either end."""
        del tile
        given, back = self.of(type_, depth, True), self.random.random() < 0.5
        name, function = self.pick(("sum", np.add), ("prod", np.multiply), ("max", np.maximum))
        text = f"tl.cum{name}({given.text}, reverse={back}, dtype=tl.{type_.name})"
        if name == "max":
            text = f"tl.associative_scan({given.text}, 0, tl.maximum, reverse={back})"

        def value(env: Env) -> Any:
            numbers = np.broadcast_to(given.value(env), LANES).astype(np.int64)
            numbers = numbers if type_.bits == 4 else numbers.astype(type_.dtype)
            turned = numbers[::-1] if back else numbers
            found = function.accumulate(turned, dtype=turned.dtype)
            return type_.wrapped(found[::-1] if back else found)

        return Expression(text, type_, True, value)

    def ordered(self, type_: Type, depth: int, tile: bool) -> Expression:
        """A tile in order, or the places of its elements."""
        del tile
        given, down = self.of(type_, depth, True), self.random.random() < 0.5
        is_place = self.random.random() < 0.5
        text = f"tl.{'arg' * is_place}sort({given.text}, descending={down})"
        if is_place:
            text += f".astype(tl.{type_.name})"

        def value(env: Env) -> Any:
            numbers = np.broadcast_to(given.value(env), LANES)
            wide = [int(number) for number in numbers]
            order = sorted(range(LANES), key=lambda at: -wide[at] if down else wide[at])
            return type_.wrapped(np.array(order) if is_place else numbers[order])

        return Expression(text, type_, True, value)

    # Choices and truth values.

    def choice(self, type_: Type, depth: int, tile: bool) -> Expression:
        """One of two, by element or by a scalar."""
        one, other = self.of(type_, depth, tile), self.of(type_, depth, tile)
        if tile and self.random.random() < 0.6:
            truth = self.truth(depth, True)
        else:
            truth = self.condition(depth)
        text = "tl.where({t}, {a}, {b})"
        if not tile and self.random.random() < 0.6:
            text = "({a} if {t} else {b})"
        elif not truth.is_tile:
            truth = self.truth(depth, False)
        return Expression(
            text.format(t=truth.text, a=one.text, b=other.text),
            type_,
            tile,
            lambda env: np.where(truth.value(env), one.value(env), other.value(env)).astype(
                type_.dtype
            ),
        )

    def operand(self, type_: Type, depth: int, tile: bool) -> Expression:
        """`a or b`, `a and b`: one of the two."""
        del tile
        word = self.pick("and", "or")
        one, other = self.of(type_, depth, False), self.of(type_, depth, False)
        if self.random.random() < 0.3:
            other = self.literal(type_)

        def value(env: Env) -> Any:
            a, b = one.value(env), other.value(env)
            both = (b, a) if word == "and" else (a, b)
            return np.where(np.asarray(a) != 0, *both).astype(type_.dtype)

        return Expression(f"({one.text} {word} {other.text})", type_, False, value)

    def truth(self, depth: int, tile: bool) -> Expression:
        """A truth value, or a tile of them."""
        if depth <= 0:
            return self.compared(depth, tile)
        match self.random.randrange(6):
            case 0:
                one, other = self.truth(depth - 1, tile), self.truth(depth - 1, tile)
                name = self.pick("and", "or", "xor")
                return self.operated(BOOL, name, one, other)
            case 1:
                given = self.truth(depth - 1, tile)
                return Expression(
                    f"(~{given.text})", BOOL, tile, lambda env: ~np.asarray(given.value(env))
                )
            case 2:
                return self.cast(self.of(self.pick(*INTEGERS), depth - 1, tile), BOOL)
            case 3 if not tile:
                name = self.pick("any", "all")
                given = self.truth(depth - 1, True)
                return Expression(
                    f"tl.{name}({given.text})",
                    BOOL,
                    False,
                    lambda env: getattr(np, name)(given.value(env)),
                )
            case 4 if not tile:
                return self.condition(depth)
        return self.compared(depth, tile)

    def compared(self, depth: int, tile: bool) -> Expression:
        """A comparison; of a tile with an `int`, too, that its type may not hold."""
        sign = self.pick(*COMPARISONS)
        if self.random.random() < 0.35:
            type_ = self.pick(*(o for o in INTEGERS if o.name != "uint64" or tile))
            one, other = self.of(type_, depth - 1, tile), self.integer(depth - 1)
            if not tile:
                one = self.cast(one, self.pick(*(o for o in SCALARS[:8] if o.bits < 64)))
        else:
            type_ = self.pick(*INTEGERS, *INTEGERS, *FLOATS)
            one = self.of(type_, depth - 1, tile)
            other = self.of(type_, depth - 1, tile and self.random.random() < 0.7)
        if self.random.random() < 0.3:
            one, other = other, one

        def value(env: Env) -> Any:
            a, b = (np.asarray(e.value(env)) for e in (one, other))
            if a.dtype.kind != "f" and a.dtype != b.dtype and "V" not in a.dtype.kind:
                a, b = a.astype(object), b.astype(object)
            return COMPARISONS[sign](a, b).astype(bool)

        return Expression(f"({one.text} {sign} {other.text})", BOOL, tile, value)

    def condition(self, depth: int) -> Expression:
        """What stands after `if`: scalars of any types joined by `and`, `or` and `not`."""
        if depth <= 0 or self.random.random() < 0.3:
            return self.compared(depth - 1, False)
        if self.random.random() < 0.3:
            given = self.condition(depth - 1)
            return Expression(
                f"(not {given.text})", BOOL, False, lambda env: ~np.asarray(given.value(env))
            )
        word = self.pick("and", "or")
        parts = [self.condition(depth - 1), self.condition(depth - 1)]
        join = np.logical_and if word == "and" else np.logical_or
        return Expression(
            f"({parts[0].text} {word} {parts[1].text})",
            BOOL,
            False,
            lambda env: join(*(part.value(env) for part in parts)),
        )

    def test(self, depth: int) -> Expression:
        """A condition of which the truth alone matters: its parts may be numbers."""
        parts = [self.of(self.pick(*INTEGERS, BOOL), depth, False) for _ in range(3)]
        words = [self.pick("and", "or") for _ in range(2)]
        nots = [self.pick("", "not ") for _ in range(3)]
        text = (
            f"({nots[0]}{parts[0].text} {words[0]} "
            f"({nots[1]}{parts[1].text} {words[1]} {nots[2]}{parts[2].text}))"
        )

        def value(env: Env) -> Any:
            a, b, c = (
                (np.asarray(part.value(env)) != 0) ^ bool(no)
                for part, no in zip(parts, nots, strict=True)
            )
            joins = {"and": np.logical_and, "or": np.logical_or}
            return joins[words[0]](a, joins[words[1]](b, c))

        return Expression(text, BOOL, False, value)


class Case(NamedTuple):
    """Statements that make a value.

    Attributes:
        lines: the statements.
        result: the name, or expression, of what they make.
        expression: its type, and its value for inputs.
    """

    lines: Sequence[str]
    result: str
    expression: Expression


def case(writer: Writer, depth: int, number: int) -> Case:
    """A random case."""
    type_ = writer.pick(*INTEGERS, *INTEGERS, BOOL)
    tile = writer.random.random() < 0.6
    one, name = writer.of(type_, depth, tile), f"v{number}"
    kind = writer.random.randrange(6)
    if type_.kind == "bool" or kind > 1:
        return Case([], one.text, one)
    other = writer.of(type_, depth - 1, tile)
    if kind == 0:
        truth = writer.test(depth - 1)
        lines = [f"if {truth.text}:", f"    {name} = {one.text}", "else:"]
        lines += [f"    {name} = {other.text}"]

        def chosen(env: Env) -> Any:
            return np.where(truth.value(env), one.value(env), other.value(env)).astype(type_.dtype)

        return Case(lines, name, Expression(name, type_, tile, chosen))
    start = writer.cast(one, type_)  # an int64, where it would be an int
    operator = writer.pick(*OPERATORS)
    turn = writer.operated(type_, operator, start, writer.cast(other, type_))
    step = turn.text.replace(start.text, name, 1)
    lines = [f"{name} = {start.text}", "for _ in range(k):", f"    {name} = {step}"]

    def repeated(env: Env) -> Any:
        found = start.value(env)
        text, function = OPERATORS[operator]
        del text
        for _ in range(env["k"]):
            both = (np.asarray(v).astype(type_.dtype) for v in (found, other.value(env)))
            found = type_.wrapped(function(*both))
        return found

    return Case(lines, name, Expression(name, type_, tile, repeated))


class Batch:
    """A kernel that computes many cases.

    Attributes:
        text: its source.
        cases: what it computes, a row of its first argument each.
    """

    def __init__(self, seed: int, count: int, depth: int = 3) -> None:
        writer = Writer(seed)
        self.cases = [case(writer, writer.random.randrange(1, depth + 1), n) for n in range(count)]
        body: list[str] = []
        for row, one in enumerate(self.cases):
            found = one.result
            if not one.expression.is_tile:
                found = f"tl.full({LANES}, {found})"
            body += [*one.lines, f"tl.store(out, ({row}, 0), {found}.astype(tl.int64))"]
        whole = "\n".join(body)
        loads = [
            f"x_{name}_{row} = tl.load(a_{name}, ({row}, 0), {LANES})"
            for name in TYPES
            for row in range(ROWS)
            if f"x_{name}_{row}" in whole
        ]
        arrays = (f"a_{n}: tl.Array[tl.{n.replace('bool', 'bool_')}, int, int]" for n in TYPES)
        scalars = (
            f"{name}: tl.Scalar[tl.{type_.name.replace('bool', 'bool_')}]"
            for name, type_ in PARAMETERS
        )
        parameters = [*arrays, *scalars, "n: int", "m: int", "size: tl.Size", "k: int"]
        lines = ["out: tl.Array[tl.int64, int, int],", *(f"{one}," for one in parameters)]
        self.text = "\n".join(
            [
                "@tilec.kernel(warps=1)",
                "def kernel(",
                *(f"    {line}" for line in lines),
                ") -> None:",
                *(f"    {line}" for line in [*loads, *body]),
                "",
            ]
        )

    def arguments(self, env: Env) -> list[Any]:
        """The kernel's arguments, all but the first."""
        from tilec.runtime import pack

        arrays = [env[name] for name in TYPES]
        for at, name in enumerate(TYPES):
            if "int4" in name:
                arrays[at] = pack(arrays[at], "s4" if name == "int4" else "u4")
        scalars = [env[name] for name, _ in PARAMETERS]
        return [*arrays, *scalars, *(int(env[name]) for name in ("n", "m", "size", "k"))]

    def expected(self, env: Env) -> Any:
        """What the kernel computes, a row each case."""
        with np.errstate(all="ignore"):
            rows = [np.asarray(one.expression.value(env)).astype(np.int64) for one in self.cases]
            return np.stack([np.broadcast_to(row, (LANES,)) for row in rows])
