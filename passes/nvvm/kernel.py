"""What the lowering of one kernel shares: target, thread index, declarations, buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import Form, Target
from tilec.isa.llvm import Call, call
from tilec.layout import LinearLayout

from ..emit import create, inline_assembly, is_zero, linear
from ..thread_index import ThreadIndex
from .registers import bitcast, i32


class _Signature:
    """The MLIR types of a call, made once a kernel.

    Attributes:
        arguments: one a register.
        results: one a register.
        positions: where each result is in a struct of them.
        result: the type of all results: none, the only one, or a struct of them.
    """

    def __init__(self, call: Call) -> None:
        self.arguments = [llvm_type(value.type) for value in call.arguments]
        self.results = [llvm_type(value.type) for value in call.results]
        self.positions = [ir.DenseI64ArrayAttr.get([at]) for at in range(len(self.results))]
        self.result = self.results[0] if self.results else None
        if len(self.results) > 1:
            fields = ", ".join(str(type_) for type_ in self.results)
            self.result = ir.Type.parse(f"!llvm.struct<({fields})>")


class Kernel:
    """One kernel under lowering.

    Attributes:
        module: its `gpu.module`.
        function: its `gpu.func`.
        target: what it is compiled for, or None for any.
        thread: its thread index.
    """

    def __init__(self, module: Any, function: Any, target: Target | None) -> None:
        self.module = module
        self.function = function
        self.target = target
        self.thread = ThreadIndex(function)
        self._places: dict[tuple[LinearLayout, str], list[Any]] = {}
        self._computed: dict[Any, Any] = {}
        self._instructions: dict[str, Call] = {}
        self._signatures: dict[str, _Signature] = {}
        self._calls: dict[tuple[str, bool], dict[str, Any]] = {}

    def places(self, layout: LinearLayout, in_dim: str) -> list[Any]:
        """`layout` applied to this thread's `lane`, `warp` or `thread` number; of type index.

        Emitted once, at the top of the kernel.
        """
        key = (layout, in_dim)
        places = self._places.get(key)
        if places is None:
            index = getattr(self.thread, in_dim)
            with self.thread.at_top(), ir.Location.unknown():
                places = self._places[key] = linear(layout, in_dim, index)
        return places

    def once(self, key: Any, values: Iterable[Any], make: Callable[[], Any]) -> Any:
        """What `make()` computes from `values`, out of all branches and loops that they are out of.

        Args:
            key: with the values, what is computed; the same gives what was computed earlier.
            values: values, or None.
            make: emits what has no effect.
        """
        found = (key, *values)
        value = self._computed.get(found)
        if value is None:
            with _outermost([known for known in found[1:] if known is not None]):
                value = self._computed[found] = make()
        return value

    def first_of_copies(self, in_dim: str, copies: int) -> Any:
        """Whether the bits `copies` of this thread's `lane` or `warp` number are zero, an i1.

        Emitted once, at the top of the kernel.
        """
        key = ("first of copies", in_dim, copies)
        if key not in self._computed:
            with self.thread.at_top(), ir.Location.unknown():
                index = getattr(self.thread, in_dim)
                self._computed[key] = is_zero(index, copies)
        return self._computed[key]

    def call_of(self, form: Form) -> Call:
        """What executes a matrix instruction on the target."""
        if form.ptx not in self._instructions:
            self._instructions[form.ptx] = call(form, target=self.target)
        return self._instructions[form.ptx]

    def call(self, call: Call, arguments: list[Any], register: Any = None) -> list[Any]:
        """Emit the call of a matrix instruction.

        Args:
            call: what `tilec.isa.llvm.call` says.
            arguments: one value each of its arguments, of the right width.
            register: type of the results, of the right width; None for the call's own.

        Returns:
            One value each of its results.
        """
        signature = self._signatures.get(call.assembly)
        if signature is None:
            signature = self._signatures[call.assembly] = _Signature(call)
        if [value.type for value in arguments] != signature.arguments:
            pairs = zip(arguments, signature.arguments, strict=True)
            arguments = [bitcast(value, type_) for value, type_ in pairs]
        value = (
            self.intrinsic(call.intrinsic, arguments, signature.result, convergent=True)
            if call.intrinsic is not None
            else inline_assembly(call.assembly, call.constraints, arguments, signature.result)
        )
        results = [value] if signature.results else []
        if len(signature.results) > 1:
            results = [
                create("llvm.extractvalue", [value], type_, position=position)
                for type_, position in zip(signature.results, signature.positions, strict=True)
            ]
        if register is None or all(type_ == register for type_ in signature.results):
            return results
        return [create("llvm.bitcast", [value], register) for value in results]

    def intrinsic(
        self, name: str, operands: list[Any], result: Any, *, convergent: bool = False
    ) -> Any:
        """Emit the call of an LLVM intrinsic.

        Args:
            name: its name, overload suffix included.
            operands: its operands.
            result: type of its result, or None.
            convergent: whether all threads that are together must take it together. LLVM does
                not know that of mma and its kin; on the call it holds.

        Returns:
            The result, if it has one.
        """
        attributes = self._calls.get((name, convergent))
        if attributes is None:
            self._declare(name, [o.type for o in operands], result)
            attributes = {
                "callee": ir.FlatSymbolRefAttr.get(name),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
                "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            }
            if convergent:
                attributes["convergent"] = ir.UnitAttr.get()
            self._calls[name, convergent] = attributes
        op = ir.Operation.create(
            "llvm.call",
            results=[] if result is None else [result],
            operands=operands,
            attributes=attributes,
        )
        return None if result is None else op.result

    def _declare(self, name: str, arguments: list[Any], result: Any) -> None:
        """Declare an intrinsic, unless the module has it."""
        block = self.module.regions[0].blocks[0]
        for op in block.operations:
            if (
                op.operation.name == "llvm.func"
                and op.operation.attributes["sym_name"].value == name
            ):
                return
        returned = "void" if result is None else str(result)
        type_ = ir.Type.parse(f"!llvm.func<{returned} ({', '.join(str(t) for t in arguments)})>")
        ir.Operation.create(
            "llvm.func",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "function_type": ir.TypeAttr.get(type_),
                "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
            },
            ip=ir.InsertionPoint.at_block_begin(block),
            loc=ir.Location.unknown(),
        )


def nesting(value: Any) -> int:
    """In how many loops and branches a value becomes known."""
    block, depth = _home(value), 0
    while block.owner.operation.name != "gpu.func":
        block, depth = block.owner.operation.block, depth + 1
    return depth


def _outermost(values: list[Any]) -> Any:
    """The insertion point, or that before the outermost op around it at which all are known."""
    homes = [_home(value) for value in values]
    point = ir.InsertionPoint.current
    while point.block not in homes and point.block.owner.operation.name != "gpu.func":
        point = ir.InsertionPoint(point.block.owner)
    return point


def _home(value: Any) -> Any:
    """The block in which a value becomes known."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def llvm_type(text: str) -> Any:
    """The MLIR type of an LLVM type as `tilec.isa.llvm` writes it."""
    match text:
        case "<2 x half>":
            return ir.VectorType.get([2], ir.F16Type.get())
        case "float":
            return ir.F32Type.get()
        case "double":
            return ir.F64Type.get()
        case "ptr":
            return ir.Type.parse("!llvm.ptr")
    if text.startswith("ptr addrspace("):
        return ir.Type.parse(f"!llvm.ptr<{text.removeprefix('ptr addrspace(').rstrip(')')}>")
    return i32() if text == "i32" else ir.IntegerType.get_signless(int(text.removeprefix("i")))
