"""Errors are shown at the user's line, with a caret under what is wrong.

In each kernel below the comment `# <- text` marks the line, and what the caret stands under.
"""

import functools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import tilec
import tilec.lang as tl

M = tl.Array[tl.float16, int, int]
V = tl.Array[tl.int32, int]
CASES: list[tuple[Callable[[], object], str]] = []


def wrong(reason: str) -> Callable[[Callable[[], object]], None]:
    """A case: a function that makes the error, and what its message says."""

    def add(make: Callable[[], object]) -> None:
        CASES.append((make, reason))

    return add


def shape_of_sum(x: tl.Tile, y: tl.Tile) -> tl.Tile:
    return x + y  # <- x + y


@dataclass
class Held:
    tile: tl.Tile


@tl.function
def halves(x: tl.Tile) -> tl.Tile:
    for _ in range(3):
        x = x.reshape(7, 2)  # <- x.reshape
    return x


def unmarked(n: int) -> int:
    if n > 3:  # <- n > 3
        return 1
    return 2


@tl.function
def endless(n: int) -> int:  # <- def
    return endless(n)


@tl.function
def some(n: int) -> int | None:  # <- def
    for i in range(n):
        if i > 3:
            return i
    return None


@tl.function
def two_shapes(n: int) -> tl.Tile:
    if n > 3:  # <- if n
        return tl.zeros(4)
    return tl.zeros(4, tl.float16)


@wrong("shapes do not match: a is 16x32 and b 16x32")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        x = tl.load(a, (0, 0), (16, 32))
        y = tl.zeros(4) if x is None else tl.dot(x, x)  # <- tl.dot
        tl.store(a, (0, 0), y)

    return k.build()


@wrong(r"shapes \(16, 32\) and \(32, 16\) do not broadcast")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        x = tl.load(a, (0, 0), (16, 32))
        shape_of_sum(x, x.T)

    return k.build()


@wrong("tl.Scalar is an annotation")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        for _ in tl.Scalar(0, n, 16):  # <- tl.Scalar
            pass

    return k.build()


@wrong(r"has 512 elements; a tile of shape \(7, 2\) has 14")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        halves(tl.load(a, (0, 0), (16, 32)))

    return k.build()


@wrong("'acc' changes its type in the loop at line .*, from float32 .16, 32. to float16 .16, 32.")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        acc = tl.zeros((16, 32))
        for _ in range(n):
            acc = acc.astype(tl.float16)  # <- acc = acc
        tl.store(a, (0, 0), acc)

    return k.build()


@wrong("'w' changes its type in the branches of the condition")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        w = tl.zeros((16, 32))
        if n > 0:  # <- if
            w = w.sum(axis=0)
        tl.store(a, (0, 0), w.astype(tl.float16))

    return k.build()


@wrong("'y' gets its value in the loop at line .*, which may run no iterations")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        for _ in range(n):
            y = tl.load(a, (0, 0), (16, 32))
        tl.store(a, (0, 0), y)  # <- y)

    return k.build()


@wrong(r"'x' is Held\(tile=float32 \[4\]\) and float32 \[4\] in the branches of the condition")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        x = tl.zeros(4)
        if n > 3:
            x = Held(x)
        tl.store(a, (0, 0), x)  # <- x

    return k.build()


@wrong("'found' changes in the loop at line .*: assign a new list to a variable instead")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        found: list[int] = []
        for _ in range(n):  # <- for
            found.append(n)
        tl.store(a, (0, 0), tl.full((1, 1), tl.float16(len(found))))

    return k.build()


@wrong("'y' has a value in one branch only of the condition")
def _() -> object:
    @tilec.kernel
    def k(a: M, n: int) -> None:
        if n > 0:
            y = tl.load(a, (0, 0), (16, 32))
        tl.store(a, (0, 0), y)  # <- y)

    return k.build()


@wrong("'the returned value' is None and intp in the branches where the kernel goes on")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        some(n)

    return k.build()


@wrong("'the returned value' changes its type in the branches of the condition at line")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        two_shapes(n)

    return k.build()


@wrong("a kernel returns nothing, not intp: tl.store it")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:  # <- def
        for _ in range(n):
            return 3  # type: ignore[return-value]
        return 3  # type: ignore[return-value]

    return k.build()


@wrong("'i' gets its value in the loop at line .*, which may run no iterations: give it one before")
def _() -> object:
    @tilec.kernel
    def k(n: int, out: V) -> None:
        for i in range(n):
            if i > 3:
                break
        tl.store(out, i, tl.zeros(4, tl.int32))  # <- i, tl

    return k.build()


@wrong("'y' changes its type in the branches of the condition at line .*, from float16")
def _() -> object:
    @tilec.kernel
    def k(n: int, a: M) -> None:
        y = tl.zeros((16, 16), tl.float16)
        for i in range(n):
            if i > 3:  # <- if i
                y = tl.zeros((16, 32), tl.float16)
                break
        tl.store(a, (0, 0), y)

    return k.build()


@wrong("no raise under a condition or in a loop of the kernel")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        for i in range(n):
            if i > 3:
                return
        raise ValueError  # <- raise

    return k.build()


@wrong("mark the function @tilec.function")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        unmarked(n)

    return k.build()


@wrong("calls nest more than 64 deep")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        endless(n)

    return k.build()


@wrong("NameError: name 'missing' is not defined")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        tl.store(a, (0, 0), missing)  # type: ignore[name-defined] # noqa: F821 # <- missing

    return k.build()


@wrong("extents of a tile must be known when the kernel is compiled")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        tl.zeros((n, 4))  # <- tl.zeros

    return k.build()


@wrong("add of int32 .32. and the float 0.5: cast the tile first")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.store(a, 0, tl.load(a, 0, 32) + 0.5)  # <- tl.load

    return k.build()


@wrong("no instruction multiplies float32: precision='tf32x3' takes three")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        x = tl.zeros((32, 32))
        x @ x  # <- x @

    return k.build()


@wrong("takes elements of its own type, not float32")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        tl.store(a, (0, 0), tl.zeros((4, 4)))  # <- tl.store

    return k.build()


@wrong("takes 2 indices, not 1")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        tl.load(a, 0, 4)  # <- tl.load

    return k.build()


@wrong(r"a is in memory: tl.load\(a, ")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        a[0, 0]  # <- a[

    return k.build()


@wrong("assertion failed: B is even, not 3")
def _() -> object:
    @tilec.kernel
    def k(B: tl.Constant[int] = 3) -> None:  # noqa: N803
        assert B % 2 == 0, f"B is even, not {B}"  # <- assert

    return k.build()


@wrong("no 3, please")
def _() -> object:
    @tilec.kernel
    def k(B: tl.Constant[int] = 3) -> None:  # noqa: N803
        if B == 3:
            raise ValueError("no 3, please")  # <- raise

    return k.build()


@wrong("an assert is checked at compile time")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        assert n > 3  # <- assert

    return k.build()


@wrong("layout 'x' is neither a linear layout")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.with_layout(tl.zeros((8, 8)), "x")  # <- tl.with_layout

    return k.build()


@wrong("'tile.dot' op 16x32x2 .* is not a whole number of instructions")
def _() -> object:  # what a pass finds
    @tilec.kernel
    def k(a: M, b: M) -> None:
        x, y = tl.load(a, (0, 0), (16, 2)), tl.load(b, (0, 0), (2, 32))
        tl.store(a, (0, 0), tl.dot(x, y, dtype=tl.float16))  # <- tl.dot

    return k.compile()


@wrong("arith.addi updates elements of type i32, i64, not i16")
def _() -> object:  # what a verifier finds
    @tilec.kernel
    def k(a: tl.Array[tl.int16, int]) -> None:
        tl.atomic_add(a, 0, tl.load(a, 0, 32))  # <- tl.atomic_add

    return k.build()


@wrong(r"indices of a are integers, not float32 \[32\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.load(a, tl.zeros(32), 32)  # <- tl.load

    return k.build()


@wrong(r"indices along dimension 0 of a tile \(16, 32\) are 16, not 32")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        tl.load(a, (tl.arange(32), 0), (16, 32))  # <- tl.load

    return k.build()


@wrong(r"the tile \(8, 32\) does not extend along dimension 0 of array a.* as in rows\[:, None\]")
def _() -> object:
    @tilec.kernel
    def k(a: tl.Array[tl.float16, int, int, int]) -> None:
        tl.load(a, (tl.arange(8), 0, 0), (8, 32))  # <- tl.load

    return k.build()


@wrong(r"indices of a tile \(16, 32\) broadcast to that shape, unlike int32 \[32, 1\]")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        tl.load(a, (tl.arange(32)[:, None], 0), (16, 32))  # <- tl.load

    return k.build()


@wrong(r"mask is a tile of truth values, as a comparison gives, not int32 \[32\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.store(a, 0, tl.load(a, 0, 32), mask=tl.arange(32))  # <- tl.store

    return k.build()


@wrong(r"the mask of a tile \(32,\) broadcasts to that shape, unlike bool \[16\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.atomic_add(a, 0, tl.load(a, 0, 32), mask=tl.arange(16) < 3)  # <- tl.atomic_add

    return k.build()


@wrong("share a byte, which no tile of indices and no mask takes apart: take the array as tl.uint8")
def _() -> object:
    @tilec.kernel
    def k(a: tl.Array[tl.int4, int, int]) -> None:
        tl.load(a, (tl.arange(8), 0), (8, 32))  # <- tl.load

    return k.build()


@wrong("the value stored in a is a tile, not 'x'")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.store(a, tl.arange(8), "x")  # <- tl.store

    return k.build()


@wrong(r"axis 2 is out of range for int32 \[32\]: -1 to 0")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.cumsum(tl.load(a, 0, 32), 2)  # <- tl.cumsum

    return k.build()


@wrong("cumsum does not take float8_e5m2: cast it first")
def _() -> object:
    @tilec.kernel
    def k(a: tl.Array[tl.float8_e5m2, int]) -> None:
        tl.cumsum(tl.load(a, 0, 32))  # <- tl.cumsum

    return k.build()


@wrong(r"the function returns bool \[32\] for int32 \[32\]: it must return what it takes")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.associative_scan(tl.load(a, 0, 32), 0, lambda x, y: x < y)  # <- tl.associative_scan

    return k.build()


@wrong("the function returns 1 value for the elements of 2 tiles")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        x = tl.load(a, 0, 32)
        tl.reduce((x, x), 0, lambda x, y, z, w: x + y)  # <- tl.reduce

    return k.build()


@wrong(r"associative_scan takes tiles of one shape, not int32 \[32\] and float32 \[16\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.associative_scan((tl.load(a, 0, 32), tl.zeros(16)), 0, max)  # <- tl.associative_scan

    return k.build()


@wrong("topk gives a power of two of 32 elements or fewer, not 3")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.topk(tl.load(a, 0, 32), 3)  # <- tl.topk

    return k.build()


@wrong(r"values are tiles of the keys' shape \(32,\), not float32 \[16\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.sort_by(tl.load(a, 0, 32), tl.zeros(16))  # <- tl.sort_by

    return k.build()


@wrong("sort takes a tile with at least one dimension, not int32")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.sort(tl.load(a, 0, 32).sum())  # <- tl.sort

    return k.build()


@wrong("slices of a power of two of elements, .*, that begin at a multiple of it.*, not by 4:12 of")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.load(a, 0, 32)[4:12]  # <- tl.load

    return k.build()


@wrong(r"index 32 is out of range for dimension 0 of int32 \[32\]")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.load(a, 0, 32)[32]  # <- tl.load

    return k.build()


@wrong("unknown order 'acquires'; legal: relaxed, acquire, release, acq_rel")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.atomic_add(a, 0, 1, sem="acquires")  # <- tl.atomic_add

    return k.build()


@wrong("atomic_xor does not take float32; legal: int, uint")
def _() -> object:
    @tilec.kernel
    def k(a: tl.Array[tl.float32, int]) -> None:
        tl.atomic_xor(a, 0, tl.zeros(32))  # <- tl.atomic_xor

    return k.build()


@wrong("compares elements of type i16, i32, i64, not f32; take the bits of floats")
def _() -> object:
    @tilec.kernel
    def k(a: tl.Array[tl.float32, int]) -> None:
        tl.atomic_cas(a, 0, 0.0, 1.0)  # <- tl.atomic_cas

    return k.build()


@wrong("needs the values to compare and to store in one shape")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.atomic_cas(a, 0, tl.arange(16), tl.arange(32))  # <- tl.atomic_cas

    return k.build()


@wrong("takes elements of its own type, not float32: cast by")
def _() -> object:
    @tilec.kernel
    def k(a: V) -> None:
        tl.atomic_xchg(a, 0, tl.zeros(32))  # <- tl.atomic_xchg

    return k.build()


@wrong("umulhi takes integers of 32 or 64 bits, not float32")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.umulhi(tl.zeros(32), 3)  # <- tl.umulhi

    return k.build()


@wrong(r"offsets of random numbers are tiles of integers, not float32 \[32\]")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.rand(3, tl.zeros(32))  # <- tl.rand

    return k.build()


@wrong("a seed is an integer, not 1.5")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.rand(1.5, tl.arange(32))  # <- tl.rand

    return k.build()


@wrong(r"isnan takes a tile of floats, not int32 \[32\]")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.isnan(tl.arange(32))  # <- tl.isnan

    return k.build()


@wrong("ddof of var is less than the 32 elements, not 32")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.var(tl.zeros(32), ddof=32)  # <- tl.var

    return k.build()


@wrong(r"join takes tiles of one type and shape, not float32 \[32\] and float32 \[16\]")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.join(tl.zeros(32), tl.zeros(16))  # <- tl.join

    return k.build()


@wrong(r"interleave takes a power of two of tiles, not \[float32 \[32\], 3\]")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.interleave(tl.zeros(32), 3)  # <- tl.interleave

    return k.build()


@wrong("mean takes a tile with at least one dimension, not intp")
def _() -> object:
    @tilec.kernel
    def k() -> None:
        tl.mean(tl.arange(4).sum() + tl.program_id(0))  # <- tl.mean

    return k.build()


@wrong("a tile made in a loop or a branch of the kernel is used outside of it, kept in an object")
def _() -> object:
    @tilec.kernel
    def k(a: V, n: int) -> None:
        kept = {0: tl.load(a, 0, 32)}
        for _ in range(n):
            kept.update({1: kept[0] + 1})
        tl.store(a, 0, kept[1])  # <- tl.store

    return k.build()


@wrong("argument 'n' has no annotation")
def _() -> object:
    @tilec.kernel
    def k(a: M, n) -> None:  # type: ignore[no-untyped-def] # <- n)
        pass

    return k


@wrong("argument 'a' is annotated <class 'str'>; legal: tl.Array")
def _() -> object:
    @tilec.kernel
    def k(a: str) -> None:  # <- a:
        pass

    return k


@wrong("a kernel is defined by def, not lambda")
def _() -> object:
    return tilec.kernel(lambda: None)


@wrong("the source of 'k' cannot be read; kernels are compiled from it")
def _() -> object:
    names = {"tilec": tilec}
    exec("@tilec.kernel\ndef k() -> None: pass", names)
    return names


@wrong("stages of a loop is a positive integer or None, not 2.5")
def _() -> object:
    @tilec.kernel
    def k(n: int, stages: tl.Constant[float] = 2.5) -> None:
        for _ in tl.range(0, n, stages=stages):  # <- for
            pass

    return k.build()


@wrong("unroll of a loop is a positive integer or None, not -2")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        for _ in tl.range(0, n, unroll=-2):  # <- for
            pass

    return k.build()


@wrong("warps of a product are two powers of two, along M and N, not 4")
def _() -> object:
    @tilec.kernel
    def k(a: M, warps: tl.Constant[int] = 4) -> None:
        x = tl.load(a, (0, 0), (16, 16))
        tl.dot(x, x, warps=warps)  # <- tl.dot

    return k.build()


@wrong("form of a product is an instruction's mnemonic, not 16")
def _() -> object:
    @tilec.kernel
    def k(a: M, form: tl.Constant[int] = 16) -> None:
        x = tl.load(a, (0, 0), (16, 16))
        tl.dot(x, x, form=form)  # <- tl.dot

    return k.build()


@wrong("unrolled while the kernel is compiled has more than 16384 iterations")
def _() -> object:
    @tilec.kernel
    def k(n: int) -> None:
        while True:  # <- while
            pass

    return k.build()


@wrong("'tile.dot' op has an accumulator of 256x256xf32, 512 registers of each of 128 threads")
def _() -> object:
    @tilec.kernel
    def k(a: M) -> None:
        x, y = tl.load(a, (0, 0), (256, 16)), tl.load(a, (0, 0), (16, 256))
        z = tl.dot(x, y)  # <- tl.dot
        tl.store(a, (0, 0), z.astype(tl.float16))

    return k.compile()


@pytest.mark.parametrize(("make", "reason"), CASES, ids=[reason[:30] for _, reason in CASES])
def test_errors_are_where_they_belong(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(tl.KernelError, match=reason) as caught:
        make()
    error = caught.value
    place = error.place
    line = linecache.getline(place.file, place.line)
    if "# <- " in line:
        mark = line.partition("# <- ")[2].strip()
        assert place.column - 1 == line.index(mark)
        first, quoted, caret = str(error).splitlines()[:3]
        assert first == f"{place.file}:{place.line}:{place.column}: error: {error.reason}"
        assert quoted.index(mark) == caret.index("^")
    else:
        assert any(word in reason for word in ("lambda", "source")), line
    assert error.__cause__ is None or isinstance(error.__cause__, NameError)


def test_calls_on_the_way_are_shown() -> None:
    with pytest.raises(tl.KernelError) as caught:
        CASES[1][0]()
    notes = [line for line in str(caught.value).splitlines() if "note: called from here" in line]
    (call,) = caught.value.calls
    assert notes == [f"{call}: note: called from here"]
    assert "shape_of_sum(x, x.T)" in linecache.getline(call.file, call.line)


UNSUPPORTED = {
    "try": "try:\n        x = 1\n    except ValueError:\n        pass",
    "with": "with open('x'):\n        pass",
    "class": "class X: pass",
    "import": "import math",
    "global": "global x",
    "del": "x = 1\n    del x",
    "a function inside a function": "def f(): pass",
    "yield": "yield 1",
    "match": "match 1:\n        case 1: pass",
    "else of a loop": "for i in range(3): pass\n    else: pass",
    "assignment to an element": "x = [1]\n    x[0] = 2",
    "assignment to an attribute": "x = 1\n    x.y = 2",
    ":=": "x = 1 and (y := 2)",
    "async": "async def f(): pass",
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_python_is_named(name: str, tmp_path: pytest.TempPathFactory) -> None:
    file = str(tmp_path / "kernels.py")  # type: ignore[operator]
    text = f"import tilec\n@tilec.kernel\ndef k() -> None:\n    {UNSUPPORTED[name]}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with pytest.raises(tl.KernelError, match=f"error: no {name}") as caught:
        exec(compile(text, file, "exec"), {"__name__": "kernels"})
    assert caught.value.place.line in (4, 5)


@pytest.mark.parametrize("arguments", ["*rest", "**rest"])
def test_unnamed_arguments_are_refused(arguments: str, tmp_path: pytest.TempPathFactory) -> None:
    file = str(tmp_path / "kernels.py")  # type: ignore[operator]
    text = f"import tilec\n@tilec.kernel\ndef k({arguments}) -> None:\n    pass\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with pytest.raises(tl.KernelError, match="arguments: name each"):
        exec(compile(text, file, "exec"), {"__name__": "kernels"})


@pytest.mark.parametrize("deep", ["- " * 900, "not " * 900, "x + " * 900])
def test_deep_expressions_are_refused(deep: str, tmp_path: pytest.TempPathFactory) -> None:
    file = str(tmp_path / "kernels.py")  # type: ignore[operator]
    text = f"import tilec\n@tilec.kernel\ndef k(x: int) -> None:\n    y = {deep}x\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with pytest.raises(tl.KernelError, match="nest more than 256 deep") as caught:
        exec(compile(text, file, "exec"), {"__name__": "kernels"})
    assert caught.value.place.line == 4


def test_outside_kernels() -> None:
    with pytest.raises(tilec.TilecError, match="no kernel is being compiled"):
        tl.zeros(4)


def test_all_that_a_pass_finds_is_shown() -> None:
    @tilec.kernel
    def k(a: M, b: M) -> None:
        x, y = tl.load(a, (0, 0), (16, 2)), tl.load(b, (0, 0), (2, 32))
        tl.store(a, (0, 0), tl.dot(x, y, dtype=tl.float16))
        tl.store(b, (0, 0), tl.dot(y.T, x.T, dtype=tl.float16))

    with pytest.raises(tl.KernelError, match="is not a whole number") as caught:
        k.compile()
    assert len(caught.value.others) == 1
    assert str(caught.value).count(": error: ") == 2
    assert "tl.dot(y.T, x.T" in str(caught.value)


@pytest.mark.parametrize("mark", [tilec.kernel, tilec.function])
@pytest.mark.parametrize("given", [functools.partial(print), print, 3])
def test_what_is_no_function_is_refused(mark: Any, given: object) -> None:
    with pytest.raises(tilec.TilecError, match="a kernel is a function defined by def, not"):
        mark(given)


@tilec.kernel
def assigns_later(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, hidden))  # noqa: F821 (it is what is tested)
    hidden = 2.0
    tl.store(x, 0, tl.full(16, hidden))


def test_a_name_that_a_kernel_assigns_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "hidden", 1.0)
    with pytest.raises(tl.KernelError, match="'hidden' is not defined"):
        assigns_later.compile()
