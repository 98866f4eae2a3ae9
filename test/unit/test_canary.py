"""What an upgrade of MLIR, llvmlite, numpy or ml_dtypes broke, by name.

tilec bounds its dependencies from below only. Each test here uses one thing that tilec needs of
one of them, alone, so that a red one says what is gone before anything else fails.
"""

import importlib

import numpy as np
import pytest
from tilec.ir.mlir import dialect, ext, ir, passmanager, provider
from tilec.passes.functions import _UNWRITTEN_CHIP


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


UPSTREAM_PASSES = [
    "canonicalize",
    "cse",
    "convert-scf-to-cf",
    "convert-gpu-to-nvvm",
    "convert-nvvm-to-llvm",
    "reconcile-unrealized-casts",
]

UPSTREAM_DIALECTS = ["arith", "gpu", "llvm", "math", "memref", "nvvm", "scf", "vector"]

# What tilec emits by name and generically: the op's operands, attributes and types must parse.
EMITTED = {
    "convergent calls of intrinsics": (
        "llvm.func @f(i32)\nllvm.func @g(%a: i32) {\n"
        "llvm.call @f(%a) {convergent} : (i32) -> ()\nllvm.return }"
    ),
    "inline assembly": (
        "llvm.func @g(%a: i32) {\n"
        '%0 = llvm.inline_asm has_side_effects "x $0, $1;", "=r,r" %a : (i32) -> i32\n'
        "llvm.return }"
    ),
    "cp.async with a size": (
        "llvm.func @g(%a: !llvm.ptr<3>, %b: !llvm.ptr<1>, %c: i32) {\n"
        '"nvvm.cp.async.shared.global"(%a, %b, %c) '
        "<{modifier = #nvvm<load_cache_modifier cg>, size = 16 : i32}> "
        ": (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()\nllvm.return }"
    ),
    "shuffles": (
        "llvm.func @g(%a: i32) {\n"
        "%0 = nvvm.shfl.sync bfly %a, %a, %a, %a : i32 -> i32\nllvm.return }"
    ),
    "targets of gpu modules": 'gpu.module @m [#nvvm.target<chip = "sm_90a">] {}',
}


@pytest.mark.parametrize("name", UPSTREAM_DIALECTS)
def test_dialect_has_bindings(name):
    assert dialect(name)


@pytest.mark.parametrize("name", UPSTREAM_PASSES)
def test_pass_exists(context, name):
    assert passmanager.PassManager.parse(f"any({name})")


@pytest.mark.parametrize("what", EMITTED)
def test_ir_that_tilec_emits_parses(context, what):
    assert ir.Module.parse(EMITTED[what]).operation.verify()


def test_dialects_can_be_defined_in_python(context):
    class Canary(ext.Dialect, name="canary"):
        pass

    class TextAttr(Canary.Attribute, name="text"):
        value: ir.StringAttr

    class HoldType(Canary.Type, name="hold"):
        tile: ir.RankedTensorType
        text: TextAttr

    class MakeOp(Canary.Operation, name="make"):
        made: ext.Result[HoldType]

        def verify_invariants(self):
            if "bad" in self.attributes:
                self.location.emit_error("is bad")
                return False
            return True

    Canary.load()
    text = '%0 = "canary.make"() : () -> !canary.hold<tensor<2xf32>, #canary.text<"x">>'
    module = ir.Module.parse(text)
    (op,) = module.body.operations
    assert isinstance(op, MakeOp)
    assert isinstance(op.made.type, HoldType)
    assert op.made.type.tile.maybe_downcast().value == ir.Type.parse("tensor<2xf32>")
    with pytest.raises(ir.MLIRError, match="is bad"):
        ir.Module.parse(text.replace("()", "() {bad}", 1))


def test_bindings_can_be_told_where_a_dialect_is():
    assert isinstance(ext._cext.globals.dialect_search_modules, list)


def test_a_memory_space_may_be_any_dialects_attribute(context):
    type_ = ir.Type.parse("memref<4x4xf32, #gpu.address_space<workgroup>>")
    assert type_.memory_space == ir.Attribute.parse("#gpu.address_space<workgroup>")
    assert type_.get_strides_and_offset() == ([4, 1], 0)


def test_a_target_without_a_chip_has_the_one_that_mlir_does_not_print(context):
    assert ir.Attribute.parse("#nvvm.target") == ir.Attribute.parse(
        f'#nvvm.target<chip = "{_UNWRITTEN_CHIP}">'
    )


def test_blocks_move_between_regions(context):
    module = ir.Module.parse(
        "func.func @f(%c: i1) {\nscf.if %c {\n%0 = arith.constant 1 : i32\n}\nreturn }"
    )
    (function,) = module.body.operations
    branch = function.regions[0].blocks[0].operations[0]
    with ir.InsertionPoint(branch):
        other = ir.Operation.create("scf.if", operands=branch.operands, regions=2)
    block = branch.regions[0].blocks[0]
    block.append_to(other.regions[0])
    added = block.add_argument(ir.IndexType.get(), ir.Location.unknown())
    assert added.arg_number == 0
    block.erase_argument(0)
    branch.operation.erase()
    assert module.operation.verify()


def test_modules_translate_to_llvm_ir(context):
    module = ir.Module.parse("llvm.func @f() { llvm.return }")
    llvm = dialect("llvm")
    assert "define void @f()" in llvm.translate_module_to_llvmir(module.operation)


def test_llvmlite_has_nvptx_and_the_pass_builder():
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(
        cpu="sm_90a", features="+ptx80", opt=3
    )
    module = llvm.parse_assembly(
        'target triple = "nvptx64-nvidia-cuda"\n'
        "define ptx_kernel void @k(ptr %p) { store i32 1, ptr %p\n ret void }"
    )
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    assert ".entry k" in machine.emit_assembly(module)


def test_narrow_types_of_ml_dtypes():
    import ml_dtypes

    for name, value in (
        ("bfloat16", 1.5),
        ("float8_e4m3fn", 1.5),
        ("float8_e5m2", 1.5),
        ("float8_e8m0fnu", 2.0),
        ("float6_e2m3fn", 1.5),
        ("float6_e3m2fn", 1.5),
        ("float4_e2m1fn", 1.5),
        ("int2", 1),
        ("uint2", 3),
        ("int4", 5),
        ("uint4", 5),
    ):
        assert float(np.array(value, getattr(ml_dtypes, name))) == value


def test_provider_is_named():
    assert provider() in ("mlir", "torch_mlir")
