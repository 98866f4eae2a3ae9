"""Line information: the places of a program's operations as LLVM's debug locations."""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir, passmanager
from tilec.ir.visits import visit
from tilec.report.diagnostics import SOURCE, place

# Lines without DWARF: what nvcc's -lineinfo asks of LLVM too. LLVM does not let debug locations
# change the code that it generates.
_SCOPES = "builtin.module(ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly})"


def add_scopes(module: Any) -> None:
    """Make each function of `module` a scope, without which translation drops the locations.

    Args:
        module: a `builtin.module` in the LLVM and NVVM dialects. The pass refuses to run inside
            a `gpu.module`, but finds the functions of one.
    """
    with module.context:
        _place_calls(module)
        passmanager.PassManager.parse(_SCOPES).run(module.operation)


def _place_calls(module: Any) -> None:
    """Give calls without a place line 0 of no file: LLVM wants one that it may inline by."""
    nowhere = ir.Location.file("", 0, 0)

    def look(op: Any) -> Any:
        if op.name == "llvm.call" and place(op.location) is None:
            op.location = nowhere
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)


def name_file(llvm_ir: str, name: str) -> str:
    """LLVM IR whose debug locations are in the file `name` where the program was given as text."""
    escaped = name.replace("\\", r"\5C").replace('"', r"\22")
    return llvm_ir.replace(f'!DIFile(filename: "{SOURCE}",', f'!DIFile(filename: "{escaped}",')
