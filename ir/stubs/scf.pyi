"""`mlir.dialects.scf`."""

from collections.abc import Sequence

from .attributes import UnitAttr
from .base import Location, Type
from .operations import (
    Block,
    BlockArgument,
    BlockArgumentList,
    InsertionPoint,
    OpOperandList,
    OpResultList,
    OpView,
    Region,
    Value,
)

class ExecuteRegionOp(OpView): ...
class IndexSwitchOp(OpView): ...

class ForOp(OpView):
    def __init__(
        self,
        lower_bound: Value | int,
        upper_bound: Value | int,
        step: Value | int,
        iter_args: Sequence[Value] | None = ...,
        *,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def lowerBound(self) -> Value: ...
    @property
    def upperBound(self) -> Value: ...
    @property
    def step(self) -> Value: ...
    @property
    def initArgs(self) -> OpOperandList: ...
    @property
    def results_(self) -> OpResultList: ...
    @property
    def region(self) -> Region: ...
    @property
    def body(self) -> Block: ...
    @property
    def induction_variable(self) -> BlockArgument: ...
    @property
    def inner_iter_args(self) -> BlockArgumentList: ...
    @property
    def unsignedCmp(self) -> UnitAttr | None: ...

class IfOp(OpView):
    def __init__(
        self,
        cond: Value,
        results_: Sequence[Type] | None = ...,
        *,
        has_else: bool = ...,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def condition(self) -> Value: ...
    @property
    def results_(self) -> OpResultList: ...
    @property
    def thenRegion(self) -> Region: ...
    @property
    def elseRegion(self) -> Region: ...
    @property
    def then_block(self) -> Block: ...
    @property
    def else_block(self) -> Block | None: ...

class WhileOp(OpView):
    @property
    def inits(self) -> OpOperandList: ...
    @property
    def results_(self) -> OpResultList: ...
    @property
    def before(self) -> Region: ...
    @property
    def after(self) -> Region: ...

class ConditionOp(OpView):
    @property
    def condition(self) -> Value: ...
    @property
    def args(self) -> OpOperandList: ...

class YieldOp(OpView):
    def __init__(
        self,
        results_: Sequence[Value],
        *,
        loc: Location | None = ...,
        ip: InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def results_(self) -> OpOperandList: ...
