"""From the LLVM dialect to LLVM IR that llvmlite's LLVM reads.

Two LLVMs meet here: MLIR's is newer. `llvm_22` says what it prints differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tilec.ir.mlir import ir, rewrite, translate_to_llvm_ir
from tilec.ir.visits import visit
from tilec.passes.base import Diagnostic, ProgramError, walk

from .llvm_22 import for_llvm_22
from .tensor_maps import pass_by_value
from .translation_check import try_translation

TRIPLE = "nvptx64-nvidia-cuda"
DATA_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
"""Of NVPTX with 64-bit pointers, in LLVM 22."""

_OUTSIDE_FUNCTIONS = frozenset(
    f"llvm.{name}"
    for name in ("func", "mlir.global", "mlir.alias", "comdat", "module_flags", "linker_options")
)
_NO_NVPTX = {
    "llvm.intr.exp": "llvm.intr.exp2 of x·log2(e)",
    "llvm.intr.exp10": "llvm.intr.exp2 of x·log2(10)",
    "llvm.intr.log": "nvvm's lg2.approx times ln(2)",
    "llvm.intr.log10": "nvvm's lg2.approx times log10(2)",
    "llvm.intr.log2": "nvvm's lg2.approx",
    "llvm.intr.pow": "exp2 and lg2.approx",
}
_APPROXIMATE = frozenset({"llvm.intr.sin", "llvm.intr.cos", "llvm.intr.tanh"})
# NVVM ops that were seen to translate. Others may be macros for PTX, at which translation ends the
# process unless `convert-nvvm-to-llvm` has expanded them.
_TRANSLATES = re.compile(
    r"nvvm\.(read\.ptx\.sreg\..*|barrier(\..*)?|bar\.warp\.sync|cp\.async\."
    r"(shared\.global|commit\.group|wait\.group|mbarrier\.arrive)|shfl\.sync|redux\.sync|"
    r"vote\.sync|ldmatrix|stmatrix|mma\.sync|wmma\..*|memory\.barrier|fence\..*|"
    r"elect\.sync|cluster\.(arrive(\.relaxed)?|wait)|griddepcontrol|setmaxregister|cp\.async\.bulk\.(commit\.group|wait_group)|convert\..*|wgmma\.(fence\.aligned|commit\.group\.sync\.aligned|wait\.group\.sync\.aligned))"
)

_FLAGS = re.compile(r"\n!llvm\.module\.flags = !\{(.*)\}")
_DEBUG_VERSION = re.compile(r'\n(!\d+) = !\{i32 \d+, !"Debug Info Version", .*')

_DOUBTFUL = (*_NO_NVPTX, *_APPROXIMATE, "llvm.call_intrinsic")
"""Operations of the LLVM dialect that need a closer look."""
_USUAL = tuple(
    f"nvvm.{name}"
    for name in (
        *(
            f"read.ptx.sreg.{what}.{d}"
            for what in ("tid", "ntid", "ctaid", "nctaid")
            for d in "xyz"
        ),
        *("barrier", "bar.warp.sync", "shfl.sync", "redux.sync"),
        *("cp.async.shared.global", "cp.async.commit.group", "cp.async.wait.group"),
        *("cluster.arrive", "cluster.wait"),
        *("elect.sync", "griddepcontrol", "setmaxregister", "fence.proxy", "fence.mbarrier.init"),
        *("cp.async.bulk.commit.group", "cp.async.bulk.wait_group"),
    )
)
"""Operations of NVVM that most kernels are made of; all of them translate."""


def to_llvm_ir(gpu_module: Any) -> str:
    """LLVM IR of a `gpu.module` in the LLVM and NVVM dialects, before any optimisation.

    Its functions' debug locations are kept if they are scopes of them.

    Raises:
        ProgramError: for operations that LLVM IR or NVPTX cannot say.
    """
    faults: list[Diagnostic] = []
    risky = False
    for op in gpu_module.regions[0].blocks[0].operations:
        name = op.operation.name
        if name not in _OUTSIDE_FUNCTIONS:
            faults.append(Diagnostic(op.location, f"'{name}' is outside a function"))
            continue
        if name == "llvm.func":
            pass_by_value(op.operation)
        if _is_usual(op.operation):
            continue
        names = _names(op.operation)
        if doubtful := set(filter(_is_doubtful, names)):
            faults += _faults(op.operation, doubtful)
        risky = risky or any(map(_is_risky, names))
    if risky and not faults:
        faults = list(try_translation(gpu_module.operation))
    if faults:
        raise ProgramError(faults)
    text = without_unused_flags(translate_to_llvm_ir(gpu_module.operation))
    return _for_nvptx(for_llvm_22(text))


def _is_usual(function: Any) -> bool:
    """Whether a function has only operations that need no closer look, which MLIR finds quickly."""
    legal = rewrite.ConversionTarget(function.context)
    legal.add_legal_dialect("llvm")
    legal.add_illegal_op(*_DOUBTFUL)
    legal.add_legal_op(*_USUAL)
    unfolded = rewrite.ConversionConfig()
    unfolded.folding_mode = rewrite.DialectConversionFoldingMode.NEVER
    with function.context:
        nothing = rewrite.RewritePatternSet().freeze()
    try:
        rewrite.apply_full_conversion(function, legal, nothing, unfolded)
    except ir.MLIRError:
        return False
    return True


def _names(function: Any) -> set[str]:
    """The names of the operations in a function, its own among them."""
    found: set[str] = set()
    advance = ir.WalkResult.ADVANCE

    def look(op: Any) -> Any:
        found.add(op.name)
        return advance

    visit(function, look)
    return found


def _is_risky(name: str) -> bool:
    """Whether the translation of operations called `name` may end the process."""
    return name == "llvm.call_intrinsic" or (
        name.startswith("nvvm.") and not _TRANSLATES.fullmatch(name)
    )


def _is_doubtful(name: str) -> bool:
    """Whether an operation called `name` may be a fault."""
    legal = name.startswith(("llvm.", "nvvm."))
    return not legal or name in _NO_NVPTX or name in _APPROXIMATE


def _faults(function: Any, names: set[str]) -> Iterator[Diagnostic]:
    """Which of the operations called `names` must reach neither the translation nor NVPTX.

    Either would end the process.
    """
    for op in walk(function):
        name = op.operation.name
        if name in names and (fault := _fault(op, name)):
            yield Diagnostic(op.location, fault)


def _fault(op: Any, name: str) -> str | None:
    if name in _NO_NVPTX:
        return f"'{name}' has no lowering on NVPTX; write {_NO_NVPTX[name]}"
    if name not in _APPROXIMATE:
        return f"'{name}' is not lowered to the LLVM dialect"
    if "afn" not in str(op.attributes["fastmathFlags"]):
        return f"'{name}' exists on NVPTX only as an approximation; allow it by fastmath<afn>"
    return None


def without_unused_flags(text: str) -> str:
    """A module without the flag "Debug Info Version", where it has no debug locations.

    LLVM verifies a module with the flag as it reads it, for the sake of its debug information: 3 %
    of its time. MLIR has verified the module already.
    """
    if " !DI" in text:
        return text
    functions, end, metadata = text.rpartition("\n}")
    if (flag := _DEBUG_VERSION.search(metadata)) is None:
        return text
    node, metadata = flag[1], metadata.replace(flag[0], "")
    flags = _FLAGS.search(metadata)
    if flags is not None:
        others = [one for one in flags[1].split(", ") if one != node]
        line = f"\n!llvm.module.flags = !{{{', '.join(others)}}}" if others else ""
        metadata = metadata.replace(flags[0], line)
    return f"{functions}{end}{metadata}"


def _for_nvptx(text: str) -> str:
    """A module that says what it is for."""
    head, newline, rest = text.partition("\n\n")
    return f'{head}\ntarget datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"{newline}{rest}'
