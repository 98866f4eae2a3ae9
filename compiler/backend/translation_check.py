"""Translates in another process what might end this one: unusual operations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tilec.ir.mlir import ir, translate_to_llvm_ir
from tilec.passes.base import Diagnostic, ProgramError

_CHILD = (
    "import sys; from tilec.backend.translation_check import translate; translate(sys.stdin.read())"
)

_RESULT = "LLVM IR:\n"
"""What stands between reports and result."""


def try_translation(gpu_module: Any) -> Iterator[Diagnostic]:
    """What translating a `gpu.module` to LLVM IR reports, where that is fatal.

    MLIR's bindings take a failed translation for a module and crash. The price of asking first
    is a process, about 0.3 s.
    """
    try:
        translation(gpu_module)
    except ProgramError as error:
        yield from error.diagnostics[:1]


def translation(root: Any) -> str:
    """LLVM IR of a module, or of the `gpu.module` that it only consists of.

    What MLIR reports beside errors goes where its diagnostics go.

    Args:
        root: the op; a `gpu.module` may be given itself.

    Raises:
        ProgramError: if it cannot be translated.
    """
    op = root.operation
    unregistered = "1" if op.context.allow_unregistered_dialects else ""
    paths = os.pathsep.join(p for p in sys.path if p)
    child = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=op.get_asm(enable_debug_info=True),
        env={**os.environ, "PYTHONPATH": paths, "TILEC_UNREGISTERED": unregistered},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    printed: str = child.stdout
    reports, _, text = printed.partition(_RESULT)
    found: list[Diagnostic] = []
    for line in reports.splitlines():
        message, severity, file, at, column = json.loads(line)
        with op.context:
            where = ir.Location.file(file, at, column) if file else ir.Location.unknown()
        found.append(Diagnostic(where, message, severity))
    if child.returncode == 0:
        return text
    errors = [one for one in found if one.severity == "error"]
    raise ProgramError(
        errors or [Diagnostic(op.location, "translation to LLVM IR ended the process")]
    )


def translate(text: str) -> None:
    """Print what is reported as lines of JSON, and then the LLVM IR of a module."""
    from tilec.frontend.contexts import new_context  # noqa: PLC0415
    from tilec.passes.mlir_diagnostics import from_mlir_diagnostic  # noqa: PLC0415 (only in the child)
    from tilec.report.diagnostics import place  # noqa: PLC0415

    def tell(diagnostic: Any) -> bool:
        found = from_mlir_diagnostic(diagnostic)
        at = place(found.location)
        print(json.dumps([found.message, found.severity, *(at or ("", 0, 0))]), flush=True)
        return True

    context = new_context()
    context.allow_unregistered_dialects = bool(os.environ.get("TILEC_UNREGISTERED"))
    attached = context.attach_diagnostic_handler(tell)
    with context:
        module = ir.Module.parse(text)
        operations = list(module.body.operations)
        only = operations[0].operation if len(operations) == 1 else None
        root = only if only is not None and only.name == "gpu.module" else module.operation
        result = translate_to_llvm_ir(root)
        print(f"{_RESULT}{result}", end="")
    attached.detach()
