"""Dense `mma` forms without block scaling. PTX ISA 9.7.14.5.14."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .mma import FLOAT8, FLOAT8_6_4, SM_120, Mma, mma
from .operands import Major, Shape
from .targets import Since

_SECTIONS = {
    # of PTX ISA 8.7 to 9.2; 9.4 numbers the chapter 9.7.16
    "m8n8k16": "9.7.14.5.3",
    "m8n8k32": "9.7.14.5.4",
    "m8n8k128": "9.7.14.5.5",
    "m16n8k4": "9.7.14.5.6",
    "m16n8k8": "9.7.14.5.7",
    "m16n8k32": "9.7.14.5.10",
    "m16n8k64": "9.7.14.5.11",
    "m16n8k128": "9.7.14.5.12",
    "m16n8k256": "9.7.14.5.13",
}


def section(shape: Shape, type_name: str) -> str:
    """The ISA section that gives the fragments of a dense shape."""
    if (shape.m, shape.k) == (8, 4):
        return f"9.7.14.5.{1 if type_name == 'f16' else 2}"
    if (shape.m, shape.k) == (16, 16):
        return f"9.7.14.5.{8 if type_name in ('f16', 'bf16', 'f64') else 9}"
    return _SECTIONS[str(shape)]


def _dense(
    shape: Shape,
    types: tuple[str, str, str, str],
    since: tuple[Since, ...],
    *,
    majors: tuple[Major, Major] | None = None,
    kind: str | None = None,
    satfinite: bool = False,
    bit_op: str | None = None,
    rounding: str | None = None,
    intrinsic_since: int = 0,
) -> Mma:
    """One dense form, unscaled; arguments as of `mma`."""
    return mma(
        shape,
        types,
        since,
        section(shape, types[1]),
        majors=majors,
        kind=kind,
        satfinite=satfinite,
        bit_op=bit_op,
        rounding=rounding,
        # LLVM 22 has no rounding modifier on the f64 intrinsics.
        in_llvm=rounding is None,
        intrinsic_since=intrinsic_since,
    )


def _half() -> Iterator[Mma]:
    """f16 multiplicands."""
    volta = (Since.of("sm_70", "6.4"),)
    for majors in cross(Major, Major):
        for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
            yield _dense(Shape(8, 8, 4), (d, "f16", "f16", c), volta, majors=majors)
    for k, since in ((8, Since.of("sm_75", "6.5")), (16, Since.of("sm_80", "7.0"))):
        for acc in ("f16", "f32"):
            yield _dense(Shape(16, 8, k), (acc, "f16", "f16", acc), (since,))


def _alternate() -> Iterator[Mma]:
    """bf16, tf32 and the 8-, 6- and 4-bit floats."""
    ampere = (Since.of("sm_80", "7.0"),)
    for type_, ks in (("bf16", (8, 16)), ("tf32", (4, 8))):
        for k in ks:
            yield _dense(Shape(16, 8, k), ("f32", type_, type_, "f32"), ampere)
    for a, b in cross(FLOAT8, FLOAT8):
        for k, acc in cross((16, 32), ("f16", "f32")):
            first = "8.4" if (k, acc) == (32, "f32") else "8.7"
            yield _dense(Shape(16, 8, k), (acc, a, b, acc), (Since.of("sm_89", first),))
    for a, b in cross(FLOAT8_6_4, FLOAT8_6_4):
        for acc in ("f16", "f32"):
            yield _dense(Shape(16, 8, 32), (acc, a, b, acc), SM_120, kind="f8f6f4")


def _double() -> Iterator[Mma]:
    """f64; without a rounding qualifier PTX means `.rn`, which is the form listed here."""
    rows = [((8, 4), "sm_80", "7.0"), *(((16, k), "sm_90", "7.8") for k in (4, 8, 16))]
    for ((m, k), target, ptx), rounding in cross(rows, ("rn", "rz", "rm", "rp")):
        since = (Since.of(target, ptx),)
        yield _dense(Shape(m, 8, k), ("f64",) * 4, since, rounding=rounding)


def _integer() -> Iterator[Mma]:
    """8- and 4-bit integers, signs in every mix."""
    for bits, small, large in ((8, 16, (16, 32)), (4, 32, (32, 64))):
        shapes = [(Shape(8, 8, small), Since.of("sm_75", "6.5"))]
        shapes += [(Shape(16, 8, k), Since.of("sm_80", "7.0")) for k in large]
        for (shape, since), a, b, sat in cross(shapes, "su", "su", (False, True)):
            types = ("s32", f"{a}{bits}", f"{b}{bits}", "s32")
            yield _dense(shape, types, (since,), satfinite=sat)


def _bit() -> Iterator[Mma]:
    """Single bits."""
    for m, k in ((8, 128), (16, 128), (16, 256)):
        xor = Since.of("sm_75" if m == 8 else "sm_80", "7.0")
        for bit_op, since in (("xor", xor), ("and", Since.of("sm_80", "7.1"))):
            # LLVM 22 asks sm_80 of m8n8k128 under xor, which sm_75 has.
            late = 80 if xor.target == "sm_75" and bit_op == "xor" else 0
            yield _dense(
                Shape(m, 8, k),
                ("s32", "b1", "b1", "s32"),
                (since,),
                bit_op=bit_op,
                intrinsic_since=late,
            )


def forms() -> Iterator[Mma]:
    """Every dense form."""
    yield from _half()
    yield from _alternate()
    yield from _double()
    yield from _integer()
    yield from _bit()
