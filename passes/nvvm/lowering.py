"""What the lowering of one kernel shares: target, thread index, declarations, computations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from tilec.ir.aliases import Attribute, Op, Type, Value
from tilec.ir.attributes import attribute
from tilec.ir.interning import Interner, active, home_of, not_interned
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import i32, integer
from tilec.isa import Form, Target
from tilec.isa.llvm import Call, call
from tilec.layout import LinearLayout

from ..emit import is_zero, linear
from ..thread_index import ThreadIndex
from .access_remarks import AccessRemarks
from .registers import bitcast

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")


class _Signature:
    """The MLIR types of a call, made once a kernel.

    Attributes:
        arguments: one a register.
        results: one a register.
        positions: where each result is in a struct of them.
        result: the type of all results: none, the only one, or a struct of them.
        common: the type that each result has, if it is one.
    """

    def __init__(self, call: Call) -> None:
        self.arguments = [llvm_type(value.type) for value in call.arguments]
        self.results = [llvm_type(value.type) for value in call.results]
        self.positions = [ir.DenseI64ArrayAttr.get([at]) for at in range(len(self.results))]
        self.common = self.results[0] if len(set(self.results)) == 1 else None
        self.result = self.results[0] if self.results else None
        if len(self.results) > 1:
            self.result = llvm.struct(self.results)


class Lowering:
    """One kernel under lowering.

    Attributes:
        module: its `gpu.module`.
        function: its `gpu.func`.
        target: what it is compiled for, or None for any.
        thread: its thread index.
        interned: what is emitted `with` it is emitted once, out of all loops and branches that
            its operands are out of.
        accesses: what is remarked of its accesses to global memory.
    """

    def __init__(self, module: Op, function: Op, target: Target | None) -> None:
        self.module = module
        self.function = function
        self.target = target
        self.thread = ThreadIndex(function)
        self.interned = Interner(function)
        self.accesses = AccessRemarks()
        self._emitted: dict[tuple[object, ...], Any] = {}
        self._answers: dict[tuple[object, Value], Any] = {}
        self._places: dict[tuple[LinearLayout, str], list[Value]] = {}
        self._firsts: dict[tuple[str, int], Value] = {}
        self._instructions: dict[str, Call] = {}
        self._signatures: dict[str, _Signature] = {}
        self._calls: dict[tuple[str, bool, Attribute | None], dict[str, Attribute]] = {}

    def once(
        self, emit: Callable[Concatenate[Lowering, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What `emit(kernel, *args)` gives, which is called once for these arguments.

        Args:
            emit: a function of a module or a class, so that nothing but the kernel and the
                arguments can make a difference; what it emits is interned.
            args: its arguments.
            kwargs: none.
        """
        key = (emit, *args)
        found: T | None = self._emitted.get(key)
        if found is None:
            token = active.set(self.interned)  # as `with self.interned`, which takes longer
            try:
                found = self._emitted[key] = emit(self, *args, **kwargs)
            finally:
                active.reset(token)
        return found

    def asked(self, question: Callable[[Value], A], value: Value) -> A:
        """What an analysis says of a value, which it is asked once: emitting changes nothing.

        Args:
            question: a function of a module.
            value: its argument.
        """
        key = question, value
        found: A | None = self._answers.get(key)
        if found is None:
            found = self._answers[key] = question(value)
        return found

    def finish(self) -> None:
        """Let go of what was emitted, some of which refers to the kernel in turn."""
        self._emitted.clear()
        self._answers.clear()

    def places(self, layout: LinearLayout, in_dim: str) -> list[Value]:
        """`layout` applied to this thread's `lane`, `warp` or `thread` number; of type index.

        Emitted once, at the top of the kernel.
        """
        key = (layout, in_dim)
        places = self._places.get(key)
        if places is None:
            with not_interned():
                index = self.thread.number(in_dim)
                with self.thread.at_top(), ir.Location.unknown():
                    places = self._places[key] = linear(layout, in_dim, index)
        return places

    def first_of_copies(self, in_dim: str, copies: int) -> Value:
        """Whether the bits `copies` of this thread's `lane` or `warp` number are zero, an i1.

        Emitted once, at the top of the kernel.
        """
        key = (in_dim, copies)
        if key not in self._firsts:
            with not_interned(), self.thread.at_top(), ir.Location.unknown():
                self._firsts[key] = is_zero(self.thread.number(in_dim), copies)
        return self._firsts[key]

    def call_of(self, form: Form) -> Call:
        """What executes a matrix instruction on the target."""
        if form.ptx not in self._instructions:
            self._instructions[form.ptx] = call(form, target=self.target)
        return self._instructions[form.ptx]

    def call(
        self, call: Call, arguments: Sequence[Value], register: Type | None = None
    ) -> list[Value]:
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
            wanted = zip(arguments, signature.arguments, strict=True)
            arguments = [bitcast(value, type_) for value, type_ in wanted]
        value = (
            self._call(call.intrinsic, arguments, signature.result, convergent=True)
            if call.intrinsic is not None
            else llvm.inline_asm(call.assembly, call.constraints, arguments, signature.result)
        )
        if value is None:
            return []
        results: list[Value] = [value]
        if len(signature.results) > 1:
            results = llvm.extract_fields(value, signature.positions, signature.results)
        if register is None or register == signature.common:
            return results
        return [llvm.bitcast(value, register) for value in results]

    def intrinsic(
        self, name: str, operands: Sequence[Value], result: Type, flags: Attribute | None = None
    ) -> ir.OpResult:
        """Emit the call of an LLVM intrinsic that has a result.

        Args:
            name: its name, overload suffix included.
            operands: its operands.
            result: type of its result.
            flags: what `fastmath` allows, if anything.
        """
        value = self._call(name, operands, result, flags, convergent=False)
        assert value is not None
        return value

    def _call(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type | None,
        flags: Attribute | None = None,
        *,
        convergent: bool,
    ) -> ir.OpResult | None:
        """Emit the call of an LLVM intrinsic; its result, if it has one.

        All threads that are together must take a convergent one together. LLVM does not know that
        of mma and its kin; on the call it holds.
        """
        key = name, convergent, flags
        attributes = self._calls.get(key)
        if attributes is None:
            self._declare(name, [o.type for o in operands], result)
            attributes = llvm.call_attributes(name, len(operands), convergent=convergent)
            if flags is not None:
                attributes["fastmathFlags"] = flags
            self._calls[key] = attributes
        return llvm.call(attributes, operands, result)

    def _declare(self, name: str, arguments: list[Type], result: Type | None) -> None:
        """Declare an intrinsic, unless the module has it."""
        block = self.module.regions[0].blocks[0]
        for op in block.operations:
            if (
                op.operation.name == "llvm.func"
                and attribute(op, "sym_name", ir.StringAttr).value == name
            ):
                return
        llvm.declare(block, name, arguments, result)


def nesting(value: Value) -> int:
    """In how many loops and branches a value becomes known."""
    block, depth = home_of(value), 0
    while block.owner.operation.name != "gpu.func":
        block, depth = block.owner.operation.block, depth + 1
    return depth


def llvm_type(text: str) -> Type:
    """The MLIR type of an LLVM type as `tilec.isa.llvm` writes it."""
    match text:
        case "<2 x half>":
            return ir.VectorType.get([2], ir.F16Type.get())
        case "float":
            return ir.F32Type.get()
        case "double":
            return ir.F64Type.get()
        case "ptr":
            return llvm.pointer()
    if text.startswith("ptr addrspace("):
        return llvm.pointer(int(text.removeprefix("ptr addrspace(").rstrip(")")))
    return i32() if text == "i32" else integer(int(text.removeprefix("i")))
