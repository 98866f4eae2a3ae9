"""Matrix products."""

from __future__ import annotations

from typing import Any

from tilec.isa import TilecError

from .dtypes import DType, bfloat16, dtype_of, float16, float32, float64, int32, tfloat32
from .emit import i64s, result, text, type_of, unit
from .shapes import zeros
from .tile import Tile

_ACCUMULATORS: dict[type[DType], tuple[type[DType], ...]] = {
    float64: (float64,),
    tfloat32: (float32,),
    float16: (float32, float16),
    bfloat16: (float32,),
}


def dot(
    a: Tile,
    b: Tile,
    acc: Tile | None = None,
    *,
    dtype: Any = None,
    form: str | None = None,
    warps: tuple[int, int] | None = None,
) -> Tile:
    """`a @ b + acc`, on the tensor cores.

    Args:
        a: MxK.
        b: KxN, of the same element type; integers may differ in sign.
        acc: MxN, of the result's element type; zero if None.
        dtype: of the result, where `acc` does not say: float32 of floats, float64 of float64,
            int32 of integers.
        form: the instruction to use, by its PTX mnemonic; else tilec chooses.
        warps: how many warps share the rows and the columns; else tilec chooses.

    Raises:
        TilecError: for shapes and types that do not fit.
    """
    for name, tile in (("a", a), ("b", b)):
        if not isinstance(tile, Tile) or tile.ndim != 2:
            raise TilecError(f"{name} of a dot is a tile of rank 2, not {tile!r}")
    if a.shape[1] != b.shape[0]:
        raise TilecError(
            f"shapes do not fit: a is {a.shape[0]}x{a.shape[1]} and b {b.shape[0]}x{b.shape[1]}; "
            "b has as many rows as a has columns"
        )
    _check_elements(a, b)
    shape = (a.shape[0], b.shape[1])
    if acc is None:
        acc = zeros(shape, _accumulators(a.dtype)[0] if dtype is None else dtype_of(dtype))
    elif not isinstance(acc, Tile) or acc.shape != shape:
        raise TilecError(f"acc of a dot is {shape[0]}x{shape[1]} as its result, not {acc!r}")
    legal = _accumulators(a.dtype)
    if acc.dtype not in legal:
        raise TilecError(
            f"a dot of {a.dtype!r} adds up in {' or '.join(map(repr, legal))}, not {acc.dtype!r}"
        )
    attributes: dict[str, Any] = {}
    if form is not None:
        attributes["form"] = text(form)
    if warps is not None:
        attributes["warps"] = i64s(warps)
    for name, tile in (("unsigned_a", a), ("unsigned_b", b)):
        if tile.dtype.kind == "uint":
            attributes[name] = unit()
    operands = [a.value, b.value, acc.value]
    value = result("tile.dot", operands, type_of(acc.dtype, shape), attributes)
    return Tile(value, acc.dtype, shape)


def _accumulators(dtype: type[DType]) -> tuple[type[DType], ...]:
    if dtype.kind in ("int", "uint"):
        return (int32,)
    return _ACCUMULATORS.get(dtype, (float32, float16))


def _check_elements(a: Tile, b: Tile) -> None:
    integers = {a.dtype.kind, b.dtype.kind} <= {"int", "uint"} and a.dtype.bits == b.dtype.bits
    narrow = a.dtype.kind == b.dtype.kind == "float" and a.dtype.bits == b.dtype.bits == 8
    if a.dtype is not b.dtype and not integers and not narrow:
        raise TilecError(
            f"a dot takes elements of one type, not {a.dtype!r} and {b.dtype!r}: cast one"
        )
    if a.dtype is float32:
        raise TilecError(
            "no instruction multiplies float32: cast to tl.tfloat32 (10 bits of mantissa), "
            "tl.bfloat16 or tl.float16, or to tl.float64"
        )
    if a.dtype.kind == "bool" or (a.dtype.kind in ("int", "uint") and a.dtype.bits > 8):
        raise TilecError(f"a dot takes integers of 4 or 8 bits, not {a.dtype!r}")
