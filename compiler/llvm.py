"""From the LLVM dialect to LLVM IR that llvmlite's LLVM reads.

Two LLVMs meet here: MLIR's is newer. `_for_llvm_22` is the one place where what it prints is
adapted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tilec.mlir import ir, translate_to_llvm_ir
from tilec.passes.base import Diagnostic, ProgramError

from .literals import for_llvm_22
from .trial import try_translation

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
    r"convert\..*|wgmma\.(fence\.aligned|commit\.group\.sync\.aligned|wait\.group\.sync\.aligned))"
)

_CONSTANT = re.compile(r"\d\.\d|inf|nan|f0x")
"""What a line with a floating-point constant has in it, and few others have."""


def to_llvm_ir(gpu_module: Any, *, debug: bool = False) -> str:
    """LLVM IR of a `gpu.module` in the LLVM and NVVM dialects, before any optimisation.

    Args:
        gpu_module: the module.
        debug: keep debug locations, if its functions are scopes of them.

    Raises:
        ProgramError: for operations that LLVM IR or NVPTX cannot say.
    """
    operation = gpu_module.operation
    faults: list[Diagnostic] = []
    risky = False

    harmless: set[str] = set()

    def look(op: Any) -> Any:
        nonlocal risky
        name = op.name
        if name in harmless:
            return ir.WalkResult.ADVANCE
        if fault := _fault(op, name):
            faults.append(Diagnostic(op.location, fault))
        elif name == "llvm.call_intrinsic" or (
            name.startswith("nvvm.") and not _TRANSLATES.fullmatch(name)
        ):
            risky = True
        elif name not in _APPROXIMATE:  # the others' names say it all
            harmless.add(name)
        return ir.WalkResult.ADVANCE

    def look_into(op: Any) -> Any:
        if op.name == "gpu.module":
            return ir.WalkResult.ADVANCE
        if op.name not in _OUTSIDE_FUNCTIONS:
            faults.append(Diagnostic(op.location, f"'{op.name}' stands outside a function"))
        else:
            op.walk(look)
        return ir.WalkResult.SKIP

    operation.walk(look_into, ir.WalkOrder.PRE_ORDER)
    if risky and not faults:
        faults = list(try_translation(operation))
    if faults:
        raise ProgramError(faults)
    return _for_llvm_22(translate_to_llvm_ir(operation), debug=debug)


def _fault(op: Any, name: str) -> str | None:
    """Why `op` must not reach the translation, or NVPTX, either of which would end the process."""
    if not name.startswith(("llvm.", "nvvm.")):
        return f"'{name}' is not lowered to the LLVM dialect"
    if name in _NO_NVPTX:
        return f"'{name}' has no lowering on NVPTX; write {_NO_NVPTX[name]}"
    if name in _APPROXIMATE and "afn" not in str(op.attributes["fastmathFlags"]):
        return f"'{name}' exists on NVPTX only as an approximation; allow it by fastmath<afn>"
    return None


def _with_constants(text: str) -> str:
    """The text with the constants of floating-point types as LLVM 22 reads them."""
    done, parts = 0, []
    for found in _CONSTANT.finditer(text):
        if found.start() < done:
            continue  # a further one of a line
        first = text.rfind("\n", 0, found.start()) + 1
        last = text.find("\n", found.end())
        parts += [text[done:first], for_llvm_22(text[first:last])]
        done = last
    return "".join([*parts, text[done:]])


def _for_llvm_22(text: str, *, debug: bool) -> str:
    """What MLIR's LLVM prints, as LLVM 22 reads it and NVPTX needs it."""
    # With the flag "Debug Info Version", without which it ignores debug locations, LLVM aborts
    # on a wrong intrinsic signature.
    if not debug:
        flags = r"\n!llvm\.module\.flags = .*|\n!\d+ = .*\"Debug Info Version\".*"
        text = re.sub(flags, "", text)
    # LLVM knows its own intrinsics' attributes; the newer ones have words that it does not.
    text = re.sub(r"(\ndeclare .*@llvm\..*?) #\d+(?=\n)", r"\1", text)
    uses = Counter(re.findall(r"#\d+", text))
    text = re.sub(r"\nattributes (#\d+) .*", lambda m: m[0] if uses[m[1]] > 1 else "", text)
    text = _with_constants(text)
    # The LLVM dialect cannot say `convergent` of inline assembly, which may hold a warp's
    # matrix instruction or barrier.
    if " asm sideeffect " in text:
        text = re.sub(
            r"( asm sideeffect .*\))((?: #\d+)?(?:, !.*)?)$", r"\1 convergent\2", text, flags=re.M
        )
    head, newline, rest = text.partition("\n\n")
    return f'{head}\ntarget datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"{newline}{rest}'
