"""Runs a pipeline in which tilec's passes and upstream's stand side by side.

A Python pass has no name in an upstream pipeline, so the text is read here: runs of upstream
passes go to one `PassManager`, each of tilec's is applied by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from tilec.ir.mlir import ir
from tilec.ir.state import holding

from .base import Diagnostic, PassError, running
from .functions import gpu_modules
from .lowerings import to_fragments, to_registers
from .mlir_diagnostics import from_mlir_error
from .pipeline_text import PipelinePart, elements_of
from .steps import Nest, Root, Step, make_steps

if TYPE_CHECKING:
    from .instrumentation import Instrumentation


def run_pipeline(
    module: Root,
    pipeline: PipelinePart | Sequence[PipelinePart],
    *,
    verify_each: bool = False,
    verify_last: bool = True,
    instrumentation: Instrumentation | None = None,
    statistics: bool = False,
) -> None:
    """Transform `module` in place, and verify what comes out.

    Every name and option is checked before the first pass runs. What another package's pass leaves
    is always verified, so that an error names the pass that made it.

    Args:
        module: the module; or another op, and the pipeline runs on that.
        pipeline: a pipeline, a pass, or a sequence of both.
        verify_each: verify after each pass.
        verify_last: verify at the end.
        instrumentation: what to print and time.
        statistics: have upstream's passes report what they count, on standard error.

    Raises:
        PipelineError: for a pipeline that cannot be read or names what does not exist.
        PassError: if a pass finds errors, or the module does not verify.
    """
    with module.context, holding(module.context):
        steps = make_steps(
            elements_of(pipeline, anchor=module.operation.name),
            anchor=module.operation.name,
            alone=verify_each or instrumentation is not None,
            by_op=instrumentation is not None and instrumentation.by_op,
            statistics=statistics,
        )
        _run(steps, module, verify_each, instrumentation)
        if verify_last and not verify_each:
            verify(module)


def _run(
    steps: Sequence[Step | Nest],
    root: Root,
    verify_each: bool,
    instrumentation: Instrumentation | None,
) -> None:
    for step in steps:
        if isinstance(step, Nest):
            for op in list(step.ops(root)):
                _run(step.steps, op, verify_each, instrumentation)
            continue
        around = instrumentation.around(step.title, root) if instrumentation else nullcontext()
        with around, running(step.title.name, step.package):
            step.apply(root)
            if verify_each or step.package:
                _verify_after(step, root)


def verify(module: Root) -> None:
    """Verify `module`.

    Raises:
        PassError: if it does not verify.
    """
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise PassError(from_mlir_error(error)) from None


def verify_lowered(module: ir.Module) -> None:
    """Verify a verified module after passes, whose code is in `gpu.module`s.

    Each function by itself, which takes a third of the time: a symbol that an op names is looked
    up only where another package's lowering may have made the op, since what tilec's passes name
    they declare. After another package's pass the whole module has been verified.

    Raises:
        PassError: if it does not verify.
    """
    if to_fragments() or to_registers():
        verify(module)
        return
    try:
        for gpu_module in gpu_modules(module):
            for op in gpu_module.regions[0].blocks[0]:
                op.operation.verify()
    except ir.MLIRError as error:
        raise PassError(from_mlir_error(error)) from None


def _verify_after(step: Step, root: Root) -> None:
    """Verify what a pass has left.

    Raises:
        PassError: if it does not verify, with a note that names the pass, and where it is written.
    """
    try:
        root.operation.verify()
    except ir.MLIRError as error:
        from .foreign import place_of  # noqa: PLC0415 (only for an error)

        first, *rest = from_mlir_error(error)
        of = f" of {step.package}" if step.package else ""
        at = place_of(step.own) if step.own and step.package else first.location
        note = Diagnostic(at, f"pass '{step.title.name}'{of} left invalid IR", "note")
        first = replace(first, notes=(*first.notes, note))
        raise PassError([first, *rest]) from None
