"""Dense `mma` forms, and what all `mma` forms have in common.

PTX ISA 9.7.14.5.14, "Multiply-and-Accumulate Instruction: mma".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .forms import BlockScaling, Family, Form, Mma, Sparsity
from .operands import Major, Shape, metadata, product, scales
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

FLOAT8 = ("e4m3", "e5m2")
FLOAT8_6_4 = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
SM_120 = (Since.of("sm_120a", "8.7"), Since.of("sm_120f", "8.8"))


def section(shape: Shape, type_name: str) -> str:
    """The ISA section that gives the fragments of a dense shape."""
    if (shape.m, shape.k) == (8, 4):
        return f"9.7.14.5.{1 if type_name == 'f16' else 2}"
    if (shape.m, shape.k) == (16, 16):
        return f"9.7.14.5.{8 if type_name in ('f16', 'bf16', 'f64') else 9}"
    return _SECTIONS[str(shape)]


def _intrinsic_types(types: tuple[str, str, str, str]) -> str:
    """The types that LLVM's intrinsic names carry: those that tell forms apart."""
    d, a, b, c = types
    if a in FLOAT8_6_4:
        return ".".join(types)
    if a == "f16":
        return f"{d}.{c}"
    return a if a == b else f"{a}.{b}"


def mma(
    shape: Shape,
    types: tuple[str, str, str, str],
    since: tuple[Since, ...],
    section: str,
    *,
    majors: tuple[Major, Major] | None = None,
    kind: str | None = None,
    satfinite: bool = False,
    bit_op: str | None = None,
    rounding: str | None = None,
    sparsity: Sparsity | None = None,
    scaling: BlockScaling | None = None,
    in_llvm: bool = True,
) -> Mma:
    """One form of `mma` or `mma.sp`.

    Args:
        shape: logical extents.
        types: element types of D, A, B, C.
        since: targets and versions.
        section: ISA section of its fragments.
        majors: `.row`/`.col` of A and B where there is a choice (m8n8k4 on f16), else row and col.
        kind: see `Mma`; likewise the rest.
        satfinite: clamp integers.
        bit_op: `xor` or `and`.
        rounding: of f64.
        sparsity: of A.
        scaling: of A and B.
        in_llvm: whether LLVM 22 has an intrinsic for it.
    """
    layout = ".".join(majors or (Major.ROW, Major.COL))
    products = 4 if majors else 1
    stored_k = shape.k // 2 if sparsity else None
    results, operands = product(
        shape, types, products=products, kind=kind, majors=majors, stored_k=stored_k
    )
    names = ".".join((*types, scaling.type.name) if scaling else types)
    llvm_names = _intrinsic_types(types) + (f".{scaling.type.name}" if scaling else "")
    head, llvm_head, family = "mma", "mma", "mma"
    if sparsity:
        operands = (*operands, metadata(shape, sparsity.chunk))
        family += ".sp"
        head += ".sp::ordered_metadata" if sparsity.ordered else ".sp"
        llvm_head += ".sp.ordered.metadata" if sparsity.ordered else ".sp"
    if bit_op:
        llvm_head += f".{bit_op}.popc"
    qualifiers = f".kind::{kind}" if kind else ""
    llvm_qualifiers = f".kind.{kind}" if kind else ""
    if scaling:
        operands = (*operands, *scales(shape, scaling.type.name, scaling.chunks))
        family += ".block_scale"
        llvm_head += ".block.scale"
        qualifiers += f".block_scale.scale_vec::{scaling.chunks}X"
        llvm_qualifiers = f".{kind}.scale.{scaling.chunks}x"
    sat = ".satfinite" if satfinite else ""
    tail = f".{bit_op}.popc" if bit_op else f".{rounding}" if rounding else ""
    intrinsic = f"llvm.nvvm.{llvm_head}.{shape}.{layout}{llvm_qualifiers}{sat}.{llvm_names}"
    return Mma(
        ptx=f"{head}.sync.aligned.{shape}.{layout}{qualifiers}{sat}.{names}{tail}",
        family=Family(family),
        results=results,
        operands=operands,
        since=since,
        intrinsic=intrinsic if in_llvm else None,
        section=section,
        shape=shape,
        products=products,
        kind=kind,
        satfinite=satfinite,
        bit_op=bit_op,
        rounding=rounding,
        sparsity=sparsity,
        scaling=scaling,
    )


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
            yield _dense(Shape(m, 8, k), ("s32", "b1", "b1", "s32"), (since,), bit_op=bit_op)


def forms() -> Iterator[Form]:
    """Every dense form."""
    yield from _half()
    yield from _alternate()
    yield from _double()
    yield from _integer()
    yield from _bit()
