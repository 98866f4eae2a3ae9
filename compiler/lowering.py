"""The part of a compilation that works on MLIR: what `Compiled` imports when it needs it."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.mlir import ir
from tilec.ir.modules import clone_module
from tilec.passes.base import Diagnostic, Pass, remarks
from tilec.passes.functions import gpu_modules
from tilec.passes.pipeline import run_pipeline, verify, verify_lowered

from .backend.debug_info import add_scopes, name_file
from .backend.llvm_ir import to_llvm_ir
from .launch.abi import KernelEntry, kernels
from .options import Options
from .report.diagnostics import Source


def lower(
    module: ir.Module,
    passes: Sequence[str | Pass],
    options: Options,
    found: list[Diagnostic],
    *,
    verify_last: bool,
) -> ir.Module:
    """A copy of `module` after `passes`; their remarks go to `found`.

    Raises:
        ProgramError: for errors of the program.
    """
    lowered = clone_module(module)
    with remarks() as made:
        try:
            run_pipeline(
                lowered,
                passes,
                verify_each=options.verify_each,
                verify_last=False,
                instrumentation=options.instrumentation,
            )
            if verify_last and not options.verify_each:
                verify_lowered(lowered)
        finally:
            found += made
    return lowered


def verified_text(module: ir.Module) -> str:
    """The text of a module that nobody has verified.

    Raises:
        PassError: if it does not verify.
    """
    from .report.printing import to_text  # noqa: PLC0415 (for this only)

    verify(module)
    return to_text(module)


def llvm_ir(module: ir.Module, source: Source | None, *, lineinfo: bool) -> str:
    """LLVM IR of a program in the LLVM and NVVM dialects.

    Args:
        module: the program.
        source: the text that it comes from, if from one.
        lineinfo: keep the places of the operations.

    Raises:
        ProgramError: for operations that LLVM IR or NVPTX cannot say.
    """
    with module.context:
        if lineinfo:
            module = clone_module(module)
            add_scopes(module)
        (gpu_module,) = gpu_modules(module)
        text = to_llvm_ir(gpu_module)
    return name_file(text, source.name) if lineinfo and source else text


def launches(module: ir.Module) -> tuple[KernelEntry, ...]:
    """How each kernel of a program in the LLVM and NVVM dialects is launched."""
    with module.context:
        (gpu_module,) = gpu_modules(module)
        return tuple(kernels(gpu_module))
