"""The part of a compilation that works on MLIR: what `Compiled` imports when it needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilec.isa import Target, TilecError
from tilec.isa import target as find_target
from tilec.passes.base import Diagnostic, Pass, ProgramError, remarks
from tilec.passes.check_target import set_target
from tilec.passes.functions import gpu_modules, is_kernel, target_of
from tilec.passes.pipeline import run_pipeline, verify
from tilec.passes.upstream.outline_functions import outline_functions

from .backend.debug_info import add_scopes, name_file
from .backend.llvm_ir import to_llvm_ir
from .compiled import Options
from .frontend.contexts import new_context
from .frontend.parsing import parse
from .launch.abi import Kernel, kernels
from .report.diagnostics import Source
from .report.printing import to_text

DEFAULT_TARGET = "sm_80"
"""The target of a program that names none: the first with `cp.async`, and `mma` on bf16 and f64."""


def load(
    source: str | Any,
    *,
    target: str | None = None,
    name: str = "<string>",
    context: Any = None,
) -> tuple[Any, Target]:
    """The module that a compilation starts from, and its target.

    Args:
        source: MLIR text or an `ir.Module`, which is copied.
        target: as `compile` takes it.
        name: what messages call a text.
        context: the `ir.Context` that a text is parsed in; a new one if None.

    Raises:
        ProgramError: if it does not verify, or is no program: one `gpu.module` with a kernel.
        TilecError: for an unknown target.
    """
    override = find_target(target) if target else None
    if isinstance(source, str):
        module = parse(Source(name, source), context or new_context())
    else:
        module = source.operation.clone()
        verify(module)
    with module.context:
        outline_functions(module)
    return module, _aim(module, override)


def lower(
    module: Any,
    passes: Sequence[str | Pass],
    options: Options,
    found: list[Diagnostic],
    *,
    verify_last: bool,
) -> Any:
    """A copy of `module` behind `passes`; their remarks go to `found`.

    Raises:
        ProgramError: for errors of the program.
    """
    lowered = module.operation.clone()
    with remarks() as made:
        try:
            run_pipeline(
                lowered,
                passes,
                verify_each=options.verify_each,
                verify_last=verify_last,
                instrumentation=options.instrumentation,
            )
        finally:
            found += made
    return lowered


def verified_text(module: Any) -> str:
    """The text of a module that nobody has verified.

    Raises:
        PassError: if it does not verify.
    """
    verify(module)
    return to_text(module)


def llvm_ir(module: Any, source: Source | None, *, lineinfo: bool) -> str:
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
            module = module.operation.clone()
            add_scopes(module)
        (gpu_module,) = gpu_modules(module)
        text = to_llvm_ir(gpu_module, debug=lineinfo)
    return name_file(text, source.name) if lineinfo and source else text


def launches(module: Any) -> tuple[Kernel, ...]:
    """How each kernel of a program in the LLVM and NVVM dialects is launched."""
    with module.context:
        (gpu_module,) = gpu_modules(module)
        return tuple(kernels(gpu_module))


def _aim(module: Any, override: Target | None) -> Target:
    """Give the only `gpu.module` of `module` its target.

    Raises:
        ProgramError: unless there is exactly one, with a kernel and a target that exists.
    """
    found = list(gpu_modules(module))
    if not found:
        raise _error(module.operation.location, "the program has no gpu.module")
    if len(found) > 1:
        raise _error(found[1].location, "a second gpu.module; a program has one, PTX being one")
    gpu_module = found[0]
    marked = [op for op in gpu_module.regions[0].blocks[0].operations if is_kernel(op)]
    if not marked:
        raise _error(
            gpu_module.location, "the gpu.module has no kernel: a gpu.func marked 'kernel'"
        )
    for kernel in marked:
        if not kernel.regions[0].blocks:
            raise _error(kernel.location, "the kernel has no body")
    try:
        target = override or target_of(gpu_module) or find_target(DEFAULT_TARGET)
    except TilecError as error:
        raise _error(gpu_module.location, str(error)) from None
    with module.context:
        set_target(gpu_module, target)
    return target


def _error(location: Any, message: str) -> ProgramError:
    return ProgramError([Diagnostic(location, message)])
