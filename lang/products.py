"""Matrix products on the tensor cores: dense, sparse, block-scaled."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from tilec.dialects.tile.attributes import PROMOTE
from tilec.isa import Product, TilecError, forms
from tilec.isa.wording import counted

from .arrangement import stack
from .dtypes import (
    DType,
    bfloat16,
    dtype_of,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int32,
    tfloat32,
)
from .elementwise import where
from .emit import flag, i64s, result, text, type_of, unit
from .mathematics import isfinite
from .shapes import zeros
from .takes import pick
from .tile import Tile

_ACCUMULATORS: dict[type[DType], tuple[type[DType], ...]] = {
    float64: (float64,),
    tfloat32: (float32,),
    float16: (float32, float16),
    bfloat16: (float32,),
}


Precision: TypeAlias = Literal["tf32", "tf32x3"]
_PRECISIONS = ("tf32", "tf32x3")


def dot(
    a: Tile,
    b: Tile,
    acc: Tile | None = None,
    *,
    dtype: Any = None,
    precision: Precision | None = None,
    form: str | None = None,
    warps: tuple[int, int] | None = None,
    promote: bool | None = None,
) -> Tile:
    """`a @ b + acc`.

    Args:
        a: MxK, or BxMxK: then it is B products.
        b: KxN, of the same element type; integers may differ in sign, floats of 8 bits in their
            type, and beside those one may be float4_e2m1fn; BxKxN beside BxMxK.
        acc: MxN, or BxMxN, of the result's element type; zero if None.
        dtype: of the result, where `acc` does not say: by default float32 of floats, float64 of
            float64, int32 of integers.
        precision: how float32 is multiplied, which no instruction does: `tf32` rounds to 10 bits of
            mantissa; `tf32x3` adds up three products of what that keeps and what it leaves, which
            is almost as exact as float32, for three times the work. Both round what is from
            2^128 - 2^116 on to infinity, and factors below 2^-113 keep fewer bits.
        form: the instruction to use, by its PTX mnemonic; else tilec chooses.
        warps: how many warps share the rows and the columns; else tilec chooses.
        promote: of floats of 8 bits, whether their sum begins at zero and is added to `acc` in
            float32, which keeps terms that the matrix instruction would lose; False by default.

    Raises:
        TilecError: for shapes and types that do not fit.
    """
    if promote not in (None, True, False):
        raise TilecError(f"promote of a product is True, False or None, not {promote!r}")
    if precision is not None:
        return _of_float32(a, b, acc, dtype, precision, form, warps)
    if isinstance(a, Tile) and a.ndim == 3:
        return _batched(a, b, acc, dtype, form, warps, promote)
    _check_matrices(a=a, b=b)
    a, b = _of_8_bits(a, b)
    if a.shape[1] != b.shape[0]:
        raise TilecError(
            f"shapes do not match: a is {a.shape[0]}x{a.shape[1]} and b {b.shape[0]}x{b.shape[1]}; "
            "b must have as many rows as a has columns"
        )
    pins = None if promote is None else {PROMOTE: flag(promote)}
    return _product("tile.dot", [a, b], acc, [], dtype, form, warps, pins)


def _of_float32(
    a: Tile,
    b: Tile,
    acc: Tile | None,
    dtype: Any,
    precision: str,
    form: str | None,
    warps: tuple[int, int] | None,
) -> Tile:
    """A product of float32 by instructions on tfloat32."""
    if precision not in _PRECISIONS:
        legal = " or ".join(map(repr, _PRECISIONS))
        raise TilecError(f"precision of a product is {legal}, not {precision!r}")
    for name, tile in (("a", a), ("b", b)):
        if not isinstance(tile, Tile) or tile.dtype is not float32:
            raise TilecError(
                f"precision says how float32 is multiplied; {name} is {tile!r}: leave it out"
            )
    left, right = a.astype(tfloat32), b.astype(tfloat32)
    if precision == "tf32":
        return dot(left, right, acc, dtype=dtype, form=form, warps=warps)
    rest = dot(_rest(a, left), right, dtype=dtype, form=form, warps=warps)
    rest = dot(left, _rest(b, right), rest, form=form, warps=warps)
    whole = dot(left, right, acc, dtype=dtype, form=form, warps=warps)
    # Infinity times a rest, which may be 0 or of another sign, says nothing.
    return whole + where(isfinite(rest), rest, 0.0)


def _rest(x: Tile, kept: Tile) -> Tile:
    """What tfloat32 leaves of float32, as tfloat32."""
    return (x - kept.astype(float32)).astype(tfloat32)


def _batched(
    a: Tile,
    b: Tile,
    acc: Tile | None,
    dtype: Any,
    form: str | None,
    warps: tuple[int, int] | None,
    promote: bool | None,
) -> Tile:
    """The products of the matrices of two stacks."""
    count = a.shape[0]
    for name, tile in (("b", b), ("acc", acc)):
        fits = isinstance(tile, Tile) and tile.ndim == 3 and tile.shape[0] == count
        if not fits and tile is not None:
            raise TilecError(
                f"{name} of a product of {counted(count, 'matrix', 'matrices')} is a tile of rank "
                "3 of as many, not "
                f"{tile!r}"
            )
    sums = [None if acc is None else pick(acc, 0, at) for at in range(count)]
    return stack(
        [
            dot(
                pick(a, 0, at),
                pick(b, 0, at),
                sums[at],
                dtype=dtype,
                form=form,
                warps=warps,
                promote=promote,
            )
            for at in range(count)
        ]
    )


def dot_sp(
    a: Tile,
    metadata: Tile,
    b: Tile,
    acc: Tile | None = None,
    *,
    dtype: Any = None,
    form: str | None = None,
    warps: tuple[int, int] | None = None,
) -> Tile:
    """`a @ b + acc` with half of `a` zero, of each four elements two.

    Args:
        a: what is stored of it, MxK/2; `tilec.runtime.compress` makes it and its metadata.
        metadata: where in each four the stored two belong, int4.
        b: KxN.
        acc: as `dot` takes it, as are the others.
        dtype: of the result.
        form: the instruction.
        warps: how many warps share the rows and the columns.

    Raises:
        TilecError: for shapes and types that do not fit.
    """
    _check_matrices(a=a, metadata=metadata, b=b)
    return _product("tile.dot_sp", [a, b], acc, [metadata], dtype, form, warps)


def dot_scaled(
    a: Tile,
    scale_a: Tile,
    b: Tile,
    scale_b: Tile,
    acc: Tile | None = None,
    *,
    form: str | None = None,
    warps: tuple[int, int] | None = None,
) -> Tile:
    """`(a · scale_a) @ (b · scale_b) + acc`, a scale factor for each 32 or 16 elements along K.

    Args:
        a: MxK, of 8 or 4 bits; `b` may be of the others.
        scale_a: a factor for each row and block of `a`, float8_e8m0fnu or float8_e4m3fn.
        b: KxN.
        scale_b: a factor for each block and column of `b`.
        acc: MxN, float32; zero if None.
        form: the instruction to use, by its PTX mnemonic; else tilec chooses.
        warps: how many warps share the rows and the columns; else tilec chooses.

    Raises:
        TilecError: for shapes and types that do not fit.
    """
    _check_matrices(a=a, scale_a=scale_a, b=b, scale_b=scale_b)
    a, b = _of_8_bits(a, b)
    return _product("tile.dot_scaled", [a, b], acc, [scale_a, scale_b], None, form, warps)


def _of_8_bits(a: Tile, b: Tile) -> tuple[Tile, Tile]:
    """A factor of 4-bit floats beside one of bytes as float8_e4m3fn, which has all its numbers."""
    eight = {float8_e4m3fn, float8_e5m2, float6_e2m3fn, float6_e3m2fn}
    if a.dtype in eight and b.dtype is float4_e2m1fn:
        return a, b.astype(float8_e4m3fn)
    if b.dtype in eight and a.dtype is float4_e2m1fn:
        return a.astype(float8_e4m3fn), b
    return a, b


def _product(
    name: str,
    factors: list[Tile],
    acc: Tile | None,
    others: list[Tile],
    dtype: Any,
    form: str | None,
    warps: tuple[int, int] | None,
    pins: dict[str, Any] | None = None,
) -> Tile:
    a, b = factors
    _check_elements(a, b)
    shape, legal = (a.shape[0], b.shape[1]), _accumulators(a.dtype)
    if acc is None:
        acc = zeros(shape, legal[0] if dtype is None else dtype_of(dtype))
    elif not isinstance(acc, Tile) or acc.shape != shape:
        raise TilecError(f"acc of a product is {shape[0]}x{shape[1]} as its result, not {acc!r}")
    if acc.dtype not in legal:
        raise TilecError(
            f"a product of {a.dtype!r} adds up in {' or '.join(map(repr, legal))}, "
            f"not {acc.dtype!r}"
        )
    attributes = dict(pins or {})
    if form is not None:
        if not isinstance(form, str):
            raise TilecError(f"form of a product is an instruction's mnemonic, not {form!r}")
        _check_signs(form, a, b)
        attributes["form"] = text(form)
    if warps is not None:
        attributes["warps"] = i64s(_grid(warps))
    for unsigned, tile in (("unsigned_a", a), ("unsigned_b", b)):
        if tile.dtype.kind == "uint":
            attributes[unsigned] = unit()
    operands = [tile.value for tile in (a, b, acc, *others)]
    return Tile(result(name, operands, type_of(acc.dtype, shape), attributes), acc.dtype, shape)


def _check_signs(name: str, a: Tile, b: Tile) -> None:
    """Check that the form takes integers as they are; what else it is, the op checks."""
    from tilec.dialects.tile.signs import check_signs  # noqa: PLC0415 (imports MLIR)

    form = forms().get(name)
    if isinstance(form, Product) and a.dtype.kind in ("int", "uint"):
        check_signs(form, [side for side, t in (("a", a), ("b", b)) if t.dtype.kind == "uint"])


def _grid(warps: Any) -> tuple[int, ...]:
    found = warps if isinstance(warps, (list, tuple)) else ()
    if len(found) != 2 or any(n not in (1, 2, 4, 8, 16, 32) for n in found):
        raise TilecError(f"warps of a product are two powers of two, along M and N, not {warps!r}")
    return tuple(int(n) for n in found)


def _check_matrices(**tiles: Tile) -> None:
    for name, tile in tiles.items():
        if not isinstance(tile, Tile) or tile.ndim != 2:
            raise TilecError(f"{name} of a product is a tile of rank 2, not {tile!r}")


def _accumulators(dtype: type[DType]) -> tuple[type[DType], ...]:
    if dtype.kind in ("int", "uint"):
        return (int32,)
    return _ACCUMULATORS.get(dtype, (float32, float16))


def _check_elements(a: Tile, b: Tile) -> None:
    integers = {a.dtype.kind, b.dtype.kind} <= {"int", "uint"} and a.dtype.bits == b.dtype.bits
    narrow = a.dtype.kind == b.dtype.kind == "float" and a.dtype.bits == b.dtype.bits == 8
    if a.dtype is not b.dtype and not integers and not narrow:
        raise TilecError(
            f"a product takes elements of one type, not {a.dtype!r} and {b.dtype!r}: cast one"
        )
    if a.dtype is float32:
        raise TilecError(
            "no instruction multiplies float32: precision='tf32x3' takes three of tfloat32, "
            "precision='tf32' one; or cast to tl.bfloat16, tl.float16 or tl.float64"
        )
    if a.dtype.kind == "bool" or (a.dtype.kind in ("int", "uint") and a.dtype.bits > 8):
        raise TilecError(f"a product takes integers of 4 or 8 bits, not {a.dtype!r}")
