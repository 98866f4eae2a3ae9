"""The op by which a transform script applies a pass that is written in Python.

It is there while a script runs only; `transform_passes` puts it in the place of upstream's op.
"""
# The bindings read these annotations as classes, not as text.

from tilec.ir.mlir import dialect, ext

script = dialect("transform")


class Script(ext.Dialect, name="tilec_transform"):
    """What transform scripts are given for the time that they run."""


class ApplyPassOp(Script.Operation, name="apply_pass"):
    """Applies a pass that is written in Python."""

    target: ext.Operand[script.AnyOpType]  # type: ignore[name-defined]
    result: ext.Result[script.AnyOpType]  # type: ignore[name-defined]
