"""Interned ops: the same is found, what differs in anything is not, and all of it verifies."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tilec.ir.creation import create
from tilec.ir.interning import EFFECT_FREE, Interner, not_interned
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, llvm, scf
from tilec.ir.types import i1, i32, i64

KERNEL = """
gpu.module @m {
  gpu.func @k(%a: index, %b: index, %c: i1) kernel {
    gpu.barrier
    gpu.return
  }
}
"""


@pytest.fixture
def kernel() -> Iterator[ir.OpView]:
    with ir.Context() as context, ir.Location.unknown():
        context.load_all_available_dialects()
        module = ir.Module.parse(KERNEL)
        (gpu_module,) = module.body.operations
        (function,) = gpu_module.regions[0].blocks[0].operations
        with ir.InsertionPoint(function.regions[0].blocks[0].operations[0]):
            yield function
        assert module.operation.verify()


def names(block: ir.Block) -> list[str]:
    return [op.name for op in block]


def test_the_same_op_is_made_once(kernel: ir.OpView) -> None:
    a, b, _ = kernel.regions[0].blocks[0].arguments
    with Interner(kernel):
        assert arith.addi(a, b) == arith.addi(a, b)
        assert arith.index(3) == arith.index(3)
    assert names(kernel.regions[0].blocks[0])[:2] == ["arith.addi", "arith.constant"]


def test_what_differs_in_anything_is_another(kernel: ir.OpView) -> None:
    a, b, _ = kernel.regions[0].blocks[0].arguments
    with Interner(kernel):
        made = [
            arith.addi(a, b),
            arith.addi(b, a),
            arith.addi(a, a),
            arith.subi(a, b),
            arith.index_cast(a, i64()),
            arith.index_cast(a, i32()),
            arith.index_castui(a, i64()),
            arith.cmpi(arith.CmpI.SLT, a, b),
            arith.cmpi(arith.CmpI.ULT, a, b),
            arith.index(1),
            arith.index(2),
            llvm.constant_i64(1),
            llvm.constant_i32(1),
            create("arith.addi", [a, b], a.type, overflowFlags=_no_wrap()),
        ]
    assert len(set(made)) == len(made)


def _no_wrap() -> ir.Attribute:
    return ir.Attribute.parse("#arith.overflow<nsw>")


def test_ops_with_effects_are_made_each_time(kernel: ir.OpView) -> None:
    pointer = llvm.poison(llvm.pointer())
    with Interner(kernel):
        assert llvm.load(pointer, i32(), 4) != llvm.load(pointer, i32(), 4)
        gpu.barrier()
        gpu.barrier()
    assert names(kernel.regions[0].blocks[0]).count("gpu.barrier") == 3


def test_none_is_undefined_where_the_program_would_not_come() -> None:
    """What is moved out of a branch must not divide, load or wait."""
    words = ("div", "rem", "load", "store", "call", "asm", "barrier", "poison")
    assert not [name for name in EFFECT_FREE if any(word in name for word in words)]


def test_out_of_branches_as_far_as_the_operands_are(kernel: ir.OpView) -> None:
    body = kernel.regions[0].blocks[0]
    a, b, c = body.arguments
    with Interner(kernel) as _, scf.if_(c):
        inner = create("arith.divui", [a, b], a.type)  # stays, being undefined for 0
        fixed = arith.muli(a, b)
        both = arith.addi(inner, fixed)
        with scf.if_(c):
            assert arith.addi(inner, fixed) == both
            deeper = arith.addi(both, arith.index(5))
    assert fixed.owner.operation.block == body
    assert both.owner.operation.block == inner.owner.operation.block != body
    assert deeper.owner.operation.block == inner.owner.operation.block


def test_branches_beside_each_other_share_only_what_stands_before_both(kernel: ir.OpView) -> None:
    body = kernel.regions[0].blocks[0]
    a, b, c = body.arguments
    found = []
    with Interner(kernel):
        for _ in range(2):
            with scf.if_(c):
                own = create("arith.divui", [a, b], a.type)
                found.append((arith.addi(own, a), arith.addi(a, b)))
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_another_place_is_not_interned(kernel: ir.OpView) -> None:
    body = kernel.regions[0].blocks[0]
    a, b, _ = body.arguments
    with Interner(kernel):
        late = arith.addi(a, b)
        with not_interned(), ir.InsertionPoint.at_block_begin(body):
            early = arith.addi(a, b)
        assert early != late
        assert arith.addi(a, b) == late


def test_nested_and_left(kernel: ir.OpView) -> None:
    a, b, _ = kernel.regions[0].blocks[0].arguments
    interner = Interner(kernel)
    with interner:
        first = arith.addi(a, b)
        with interner:
            assert arith.addi(a, b) == first
        assert arith.addi(a, b) == first
    assert arith.addi(a, b) != first
    with interner:
        assert arith.addi(a, b) == first


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_compute_the_same_and_verify(kernel: ir.OpView, seed: int) -> None:
    """Beside a run without interning: the same expressions, read back from the ops."""
    choices = random.Random(seed)
    body = kernel.regions[0].blocks[0]
    roots = list(body.arguments)
    interner = Interner(kernel)

    def expression(value: ir.Value) -> str:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return f"%{ir.BlockArgument(value).arg_number}"
        given = {name: str(owner.attributes[name]) for name in owner.attributes}
        attributes = sorted(f"{n}={text}" for n, text in given.items() if "overflow" not in n)
        inside = ", ".join(expression(operand) for operand in owner.operands)
        return f"{owner.name}({inside}){attributes}"

    def emit(depth: int, known: list[tuple[ir.Value, str]]) -> None:
        known = list(known)
        for _ in range(12):
            (a, of_a), (b, of_b) = choices.choice(known), choices.choice(known)
            match choices.randrange(6):
                case 0:
                    number = choices.randrange(3)
                    value = arith.index(number)
                    wanted = f"arith.constant()['value={number} : index']"
                case 1 | 2:
                    value, wanted = arith.addi(a, b), f"arith.addi({of_a}, {of_b})[]"
                case 3:
                    value, wanted = arith.xori(a, b), f"arith.xori({of_a}, {of_b})[]"
                case 4:
                    value = create("arith.divui", [a, b], a.type)
                    wanted = f"arith.divui({of_a}, {of_b})[]"
                case _:
                    if depth < 3:
                        with scf.if_(roots[2]):
                            emit(depth + 1, known)
                    continue
            assert expression(value) == wanted
            if len(wanted) < 400:
                known.append((value, wanted))

    with interner:
        emit(0, [(roots[0], "%0"), (roots[1], "%1")])
    assert i1() == roots[2].type


def test_constants_are_found_by_their_numbers(kernel: ir.OpView) -> None:
    makers = (arith.index, llvm.constant_i32, llvm.constant_i64)
    with Interner(kernel):
        found = [[make(number) for make in makers for number in (0, 1, -1)] for _ in range(2)]
        with not_interned():
            others = [make(0) for make in makers]
    assert found[0] == found[1]
    assert len({*found[0], *others}) == 9 + 3
    values = [ir.IntegerAttr(value.owner.attributes["value"]).value for value in found[0]]
    assert values == [0, 1, -1] * 3
    assert [str(value.type) for value in found[0]] == ["index"] * 3 + ["i32"] * 3 + ["i64"] * 3
