"""`tile.try_cancel` and `tile.query_cancel`. PTX ISA 9.7.13.17, 9.7.13.18."""

from __future__ import annotations

from tilec.dialects.tile.ops.launch_control import RESPONSE_BYTES, QueryCancelOp, TryCancelOp
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32, i64

from ..fragments.expansion import Expansion, Values
from .addresses import advance
from .barriers import address_in_shared, barrier_address
from .instructions import emit_instruction


def ask(op: TryCancelOp, expansion: Expansion) -> list[Values]:
    """`tile.try_cancel`."""
    place = _place(expansion.one(op.responses), op.place)
    bar = barrier_address(expansion.one(op.barriers), op.index)
    emit_instruction(op.mnemonic, {"dst": place, "bar": bar})
    return []


def query(op: QueryCancelOp, expansion: Expansion) -> list[Values]:
    """`tile.query_cancel`: one assembly, since LLVM has no registers of 128 bits."""
    place = _place(expansion.one(op.responses), op.place)
    code = (
        "{ .reg .b128 answer; .reg .pred p; ld.shared.b128 answer, [$4]; "
        f"{op.mnemonic} p, answer; selp.u32 $0, 1, 0, p; "
        "mov.u32 $1, 0; mov.u32 $2, 0; mov.u32 $3, 0; "
        f"@p {op.FIRST} {{$1, $2, $3, _}}, answer; }}"
    )
    words = ir.Type.parse("!llvm.struct<(i32, i32, i32, i32)>")
    said = llvm.inline_asm(code, "=&r,=&r,=&r,=&r,r,~{memory}", [place], words)
    fields = [llvm.extractvalue(said, [number], i32()) for number in range(4)]
    zero = llvm.constant_i32(0)
    there = arith.cmpi(arith.CmpI.NE, fields[0], zero)
    index = ir.IndexType.get()
    found: list[Values] = [[there]]
    found += [[arith.index_castui(field, index)] for field in fields[1:]]
    return found


def _place(responses: Value, place: Value) -> Value:
    """The address of a response."""
    return address_in_shared(
        advance(responses, arith.index_castui(place, i64()), RESPONSE_BYTES * 8)
    )
