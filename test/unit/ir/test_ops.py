"""`tilec.ir.ops`: what it calls by name is what upstream calls so, and what it makes verifies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

import pytest
from tilec.ir.mlir import dialect, ir
from tilec.ir.ops import arith, gpu, llvm, memref, nvvm, scf, vector
from tilec.ir.ops.shapes import Binary
from tilec.ir.types import i32, i64

PREDICATES = [
    (arith.CmpI, "arith", "CmpIPredicate", 10),
    (arith.CmpF, "arith", "CmpFPredicate", 16),
    (llvm.ICmp, "llvm", "ICmpPredicate", 10),
]


@pytest.mark.parametrize(("ours", "name", "theirs", "count"), PREDICATES)
def test_predicates_are_upstreams(ours: type[Enum], name: str, theirs: str, count: int) -> None:
    upstream = getattr(dialect(name), theirs)
    names = {one.name.lower().replace("_", ""): int(one) for one in upstream}
    assert len(ours) == count
    assert {one.name.lower().replace("_", ""): one.value for one in ours} == names


@pytest.fixture
def block() -> Iterator[ir.Block]:
    """The body of a kernel, where ops go."""
    with ir.Context() as context, ir.Location.unknown():
        context.load_all_available_dialects()
        module = ir.Module.parse(
            "gpu.module @m { gpu.func @k(%a: index, %b: memref<4x?xf32>) kernel { gpu.return } }"
        )
        (gpu_module,) = module.body.operations
        kernel = gpu_module.regions[0].blocks[0].operations[0]
        body = kernel.regions[0].blocks[0]
        with ir.InsertionPoint(body.operations[0]):
            yield body
        assert module.operation.verify()


INTEGER_OPS = [
    arith.addi, arith.subi, arith.muli, arith.divsi, arith.divui, arith.remsi, arith.remui,
    arith.andi, arith.ori, arith.xori, arith.shli, arith.shrsi, arith.shrui,
    arith.maxsi, arith.maxui, arith.minsi, arith.minui,
    llvm.add, llvm.sub, llvm.mul, llvm.and_, llvm.or_, llvm.xor, llvm.shl, llvm.lshr, llvm.smin,
]  # fmt: skip


@pytest.mark.parametrize("op", INTEGER_OPS)
def test_integers(block: ir.Block, op: Binary) -> None:
    a = llvm.constant_i32(3)
    result = op(a, a)
    assert result.type == i32()
    assert list(result.owner.operands) == [a, a]


@pytest.mark.parametrize("op", [arith.addf, arith.subf, arith.mulf, arith.divf])
def test_floats(block: ir.Block, op: Binary) -> None:
    a = arith.number(ir.F32Type.get(), 1.5)
    assert op(a, arith.negf(a)).type == ir.F32Type.get()


@pytest.mark.parametrize("predicate", list(arith.CmpI))
def test_comparisons(block: ir.Block, predicate: arith.CmpI) -> None:
    a = llvm.constant_i64(-1)
    assert f"arith.cmpi {predicate.name.lower()}," in str(arith.cmpi(predicate, a, a).owner)
    same = llvm.ICmp[predicate.name]
    assert f'llvm.icmp "{predicate.name.lower()}"' in str(llvm.icmp(same, a, a).owner)


@pytest.mark.parametrize("value", [0, -1, 1 << 63, (1 << 64) - 1, -(1 << 63), 1 << 64])
def test_constants_of_64_bits_wrap(block: ir.Block, value: int) -> None:
    attribute = llvm.constant_i64(value).owner.attributes["value"]
    assert isinstance(attribute, ir.IntegerAttr)
    assert attribute.value % (1 << 64) == value % (1 << 64)


MADE: list[tuple[str, Callable[[ir.Block], object]]] = [
    ("gpu.thread_id y", lambda b: gpu.thread_id(gpu.Dimension.Y)),
    ("gpu.block_dim x", lambda b: gpu.block_dim(gpu.Dimension.X)),
    ("gpu.block_id z", lambda b: gpu.block_id(gpu.Dimension.Z)),
    ("gpu.grid_dim x", lambda b: gpu.grid_dim(gpu.Dimension.X)),
    ("gpu.barrier", lambda b: gpu.barrier()),
    ("memref.dim", lambda b: memref.dim(b.arguments[1], b.arguments[0])),
    (
        "nvvm.shfl.sync idx",
        lambda b: nvvm.shfl_sync(nvvm.Shuffle.IDX, *[llvm.constant_i32(1)] * 2),
    ),
    ("nvvm.redux.sync umax", lambda b: nvvm.redux_sync(nvvm.Redux.UMAX, llvm.constant_i32(1))),
    ("nvvm.cp.async.wait.group 3", lambda b: nvvm.cp_async_wait_group(3)),
    ("nvvm.cp.async.commit.group", lambda b: nvvm.cp_async_commit_group()),
    ("vector.from_elements", lambda b: vector.from_elements([llvm.constant_i32(1)] * 4)),
    ("arith.index_castui", lambda b: arith.index_castui(b.arguments[0], i64())),
    (
        "cache = cg",
        lambda b: nvvm.cp_async_shared_global(
            llvm.addressof("x", llvm.pointer(3)),
            llvm.addressof("y", llvm.pointer(1)),
            None,
            nvvm.cp_async_attributes(16, nvvm.CacheModifier.CG),
        ),
    ),
]


@pytest.mark.parametrize(("text", "make"), MADE)
def test_made_ops_print_as_upstreams(
    block: ir.Block, text: str, make: Callable[[ir.Block], object]
) -> None:
    make(block)
    module = block.owner.operation.parent
    assert module is not None
    if "cache" in text:  # the symbols are there for the verifier
        top = module.regions[0].blocks[0]
        for name, space in (("x", 3), ("y", 1)):
            llvm.global_bytes(top, name, 16, space=space, alignment=16, external=True)
    assert text in str(module)


@pytest.mark.parametrize("kind", list(nvvm.Redux))
def test_every_reduction_is_one_of_nvvms(block: ir.Block, kind: nvvm.Redux) -> None:
    nvvm.redux_sync(kind, llvm.constant_i32(1))


@pytest.mark.parametrize("kind", list(nvvm.Shuffle))
def test_every_shuffle_is_one_of_nvvms(block: ir.Block, kind: nvvm.Shuffle) -> None:
    nvvm.shfl_sync(kind, llvm.constant_i32(1), llvm.constant_i32(1))


def test_branches(block: ir.Block) -> None:
    with scf.if_(arith.cmpi(arith.CmpI.EQ, block.arguments[0], arith.index(0))):
        gpu.barrier()
    branch = block.operations[len(block.operations) - 2]
    assert [op.name for op in branch.regions[0].blocks[0]] == ["gpu.barrier", "scf.yield"]


def test_pointers_and_fields(block: ir.Block) -> None:
    whole = llvm.poison(llvm.struct([i32(), llvm.pointer(1)]))
    filled = llvm.insertvalue(whole, llvm.constant_i32(7), [0])
    field = llvm.extractvalue(filled, [1], llvm.pointer(1))
    near = llvm.getelementptr(field, 12, i32())
    assert "[12]" in str(near.owner)
    far = llvm.getelementptr(near, llvm.constant_i64(1), i32())
    llvm.store(llvm.load(far, i32(), 4), near, 4)
    positions = [ir.DenseI64ArrayAttr.get([at]) for at in range(2)]
    types = [i32(), llvm.pointer(1)]
    assert [v.type for v in llvm.extract_fields(filled, positions, types)] == types
