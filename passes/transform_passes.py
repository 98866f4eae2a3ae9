"""`transform.apply_registered_pass` of passes that are written in Python.

Upstream's op looks a pass up among those of C++. While its interpreter runs, an op of ours stands
for each that names another pass, and is told to apply that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.isa.errors import TilecError

from . import registry
from .base import Diagnostic, Pass, PassError, ProgramError, option_text
from .pass_options import make_pass
from .pipeline_text import MODULE
from .search import named

UPSTREAM = "transform.apply_registered_pass"
OURS = "tilec_transform.apply_pass"

_failures: list[ProgramError] = []
"""What the op could not do, for the interpreter says only that something failed."""


@contextmanager
def python_passes(root: Op | ir.Module) -> Iterator[None]:
    """Has the scripts in `root` find passes that are written in Python, while the inside runs.

    Raises:
        ProgramError: if one of them fails, or cannot work on what it is given.
    """
    op = root.operation
    found = _scripted(op)
    if not found:
        yield
        return
    _load(op.context)
    for one in found:
        _replace(one, OURS)
    _failures.clear()
    try:
        yield
    except PassError:
        if _failures:
            raise _failures[0] from None
        raise
    finally:
        for one in named(op, [OURS]):
            _replace(one, UPSTREAM)


def _scripted(op: ir.Operation) -> list[ir.Operation]:
    """The ops that apply a pass which is written in Python."""
    known = registry.names()
    found = [(one, _text(one.attributes["pass_name"])) for one in named(op, [UPSTREAM])]
    if any(name not in known for _, name in found):
        known = registry.names(installed=True)
    return [one for one, name in found if name in known]


def _text(attribute: ir.Attribute) -> str:
    return ir.StringAttr(attribute).value


def _replace(op: ir.Operation, name: str) -> None:
    """Put an op of another name in the place of `op`."""
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            name,
            results=[result.type for result in op.results],
            operands=list(op.operands),
            attributes={key: op.attributes[key] for key in op.attributes},
        )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def _apply(op: Any, results: Any, state: Any) -> None:
    """Apply the pass that the op names to each op of its handle.

    Raises:
        ProgramError: if that fails, or is not an op that the pass works on.
    """
    if len(op.operation.operands) > 1:
        message = f"options of '{_text(op.attributes['pass_name'])}' must be attributes"
        raise PassError([Diagnostic(op.location, message)])
    payload = list(state.get_payload_ops(op.operation.operands[0]))
    one = _pass(op)
    for target in payload:
        if target.operation.name == MODULE:
            one.apply(target)
        elif target.operation.name in one.anchors():
            one.apply_inside(target.operation)
        else:
            legal = ", ".join((MODULE, *one.anchors()))
            message = f"pass '{one.name}' works on {legal}, not on '{target.operation.name}'"
            note = Diagnostic(target.location, "this op", "note")
            raise PassError([Diagnostic(op.location, message, notes=(note,))])
    results.set_ops(op.operation.results[0], payload)


def _pass(op: Any) -> Pass:
    options = op.attributes.get("options")
    given = {} if options is None else {one.name: one.attr for one in ir.DictAttr(options)}
    texts = (f"{name}={{{_option(value)}}}" for name, value in given.items())
    try:
        return make_pass(_text(op.attributes["pass_name"]), " ".join(texts))
    except TilecError as error:
        raise PassError([Diagnostic(op.location, str(error))]) from None


def _option(value: ir.Attribute) -> str:
    """An option's value as a pipeline writes it."""
    match value:
        case ir.StringAttr() | ir.BoolAttr() | ir.IntegerAttr():
            return option_text(value.value)
        case ir.ArrayAttr():
            return ",".join(map(_option, value))
    return str(value)


def _load(context: ir.Context) -> None:
    """Load the op into a context, once."""
    if context.is_dialect_loaded("tilec_transform"):
        return
    from .transform_dialect import ApplyPassOp, Script, script  # noqa: PLC0415 (rarely needed)

    class Application(script.TransformOpInterface):  # type: ignore[name-defined,misc]
        """What the interpreter asks of the op."""

        @staticmethod
        def apply(op: Any, rewriter: Any, results: Any, state: Any) -> Any:  # noqa: ARG004
            try:
                _apply(op, results, state)
            except ProgramError as error:
                _failures.append(error)
            except (ir.MLIRError, TilecError) as error:
                _failures.append(PassError([Diagnostic(op.location, str(error))]))
            else:
                return script.DiagnosedSilenceableFailure.Success
            return script.DiagnosedSilenceableFailure.DefiniteFailure

        @staticmethod
        def allow_repeated_handle_operands(op: Any) -> bool:  # noqa: ARG004
            return False

    class Effects(ir.MemoryEffectsOpInterface):
        """What the op does to handles: it takes one and gives another."""

        @staticmethod
        def get_effects(op: Any, effects: Any) -> None:
            script.consumes_handle(op.op_operands, effects)
            script.produces_handle(op.results, effects)
            script.modifies_payload(effects)

    with context, ir.Location.unknown():
        Script.load()
        Application.attach(ApplyPassOp.OPERATION_NAME)
        Effects.attach(ApplyPassOp.OPERATION_NAME)
