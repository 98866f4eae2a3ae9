"""Tries in another process what might end this one: the translation of unusual operations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tilec.ir.mlir import ir, translate_to_llvm_ir
from tilec.passes.base import Diagnostic

_CHILD = (
    "import sys; from tilec.backend.translation_check import translate; translate(sys.stdin.read())"
)


def try_translation(gpu_module: Any) -> Iterator[Diagnostic]:
    """What translating a `gpu.module` to LLVM IR reports, where that is fatal.

    MLIR's bindings take a failed translation for a module and crash. The price of asking first
    is a process, about 0.3 s.
    """
    child = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=gpu_module.get_asm(enable_debug_info=True),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if child.returncode == 0:
        return
    reports = [json.loads(line) for line in child.stdout.splitlines()]
    for message, file, line, column in reports[:1]:
        with gpu_module.context:
            yield Diagnostic(ir.Location.file(file, line, column), message)
    if not reports:
        yield Diagnostic(gpu_module.location, "translation to LLVM IR ended the process")


def translate(text: str) -> None:
    """Translate the only operation of `text`, and print what is reported as lines of JSON."""
    from tilec.frontend.contexts import new_context  # noqa: PLC0415
    from tilec.passes.mlir_diagnostics import from_mlir_diagnostic  # noqa: PLC0415 (only in the child)
    from tilec.report.diagnostics import place  # noqa: PLC0415

    def tell(diagnostic: Any) -> bool:
        at = place(from_mlir_diagnostic(diagnostic).location)
        print(json.dumps([diagnostic.message, *(at or ("", 0, 0))]), flush=True)
        return True

    context = new_context()
    attached = context.attach_diagnostic_handler(tell)
    with context:
        module = ir.Module.parse(text)
        translate_to_llvm_ir(module.body.operations[0].operation)
    attached.detach()
