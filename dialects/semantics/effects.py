"""What an op does besides giving results: to which resource, through which operand."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from tilec.dialects.tile.dialect import SharedAttr, TensorAttr
from tilec.ir.mlir import ir


class Resource(Enum):
    """What ops read and write."""

    GLOBAL = "global memory"
    SHARED = "shared memory"
    LOCAL = "local memory"
    """A thread's own."""
    COPIES = "asynchronous copies"
    """Those in flight, and the groups that they are counted in."""
    ACCUMULATORS = "accumulators in flight"
    """Registers that asynchronous products read and write."""
    TENSOR = "tensor memory"
    """128 lanes of columns of an SM, of which products, loads and stores are asynchronous."""
    BARRIERS = "barriers"
    """Where threads wait for each other, and the phases of barriers in shared memory."""
    OUTSIDE = "anything else"
    """What leaves the kernel: printing, traps, clocks."""


MEMORIES = (Resource.GLOBAL, Resource.SHARED, Resource.LOCAL)
"""Resources that a memref of upstream's ops may point to."""


class Access(Enum):
    """What is done to a resource."""

    READ = "reads"
    WRITE = "writes"
    ALLOCATE = "allocates"
    ORDER = "orders"
    """Others' accesses before it come before others' accesses after it."""


class Touch(NamedTuple):
    """An effect as a declaration says it.

    Attributes:
        access: what is done.
        resource: to what; None for the memory that the operand points to.
        operand: number of the operand through which it is done, or None.
        asynchronous: whether it may be done only after the op, until something waits for it.
    """

    access: Access
    resource: Resource | None = None
    operand: int | None = None
    asynchronous: bool = False

    def of(self, op: ir.Operation | ir.OpView) -> Effect:
        """The effect of one op that is declared so."""
        value = None if self.operand is None else op.operands[self.operand]
        resource = self.resource
        if resource is None:
            assert value is not None
            resource = resource_of(value.type)
        return Effect(self.access, resource, value, self.asynchronous)


class Effect(NamedTuple):
    """An effect of one op.

    Attributes:
        access: what is done.
        resource: to what.
        value: the memref through which it is done; None where any of the resource may be meant.
        asynchronous: whether it may be done only after the op.
    """

    access: Access
    resource: Resource
    value: ir.Value | None = None
    asynchronous: bool = False


def resource_of(type_: ir.Type) -> Resource:
    """The memory that values of a memref or pointer type point to; global where none is named."""
    space = getattr(type_, "memory_space", None)
    if space is None:
        return Resource.GLOBAL
    if isinstance(space, SharedAttr):
        return Resource.SHARED
    if isinstance(space, TensorAttr):
        return Resource.TENSOR
    if isinstance(space, ir.IntegerAttr):
        return _NUMBERED.get(int(space.value), Resource.GLOBAL)
    text = str(space)
    return next((found for name, found in _NAMED.items() if name in text), Resource.GLOBAL)


def is_shared_array(type_: ir.Type) -> bool:
    """Whether a memref is in shared memory as upstream has it, not in `#tile.shared`."""
    return isinstance(type_, ir.MemRefType) and (
        resource_of(type_) is Resource.SHARED and not isinstance(type_.memory_space, SharedAttr)
    )


def address_space(type_: ir.Type) -> int:
    """NVVM's number of the space that a memref points into; 0 where it names none."""
    space = getattr(type_, "memory_space", None)
    if isinstance(space, ir.IntegerAttr):
        return int(space.value)
    resource = resource_of(type_)
    return next((number for number, found in _NUMBERED.items() if found is resource), 0)


_NUMBERED = {3: Resource.SHARED, 5: Resource.LOCAL}
"""Address spaces of NVVM."""
_NAMED = {"workgroup": Resource.SHARED, "private": Resource.LOCAL}
"""`#gpu.address_space`."""


def reads(operand: int) -> Touch:
    """Reads the memory that an operand points to."""
    return Touch(Access.READ, None, operand)


def writes_to(operand: int) -> Touch:
    """Writes the memory that an operand points to."""
    return Touch(Access.WRITE, None, operand)


def updates(operand: int) -> tuple[Touch, Touch]:
    """Reads and writes the memory that an operand points to."""
    return reads(operand), writes_to(operand)


ALLOCATES_SHARED = Touch(Access.ALLOCATE, Resource.SHARED)
"""Sets shared memory aside, uninitialised."""
ANY_MEMORY = tuple(
    Touch(access, resource) for access in (Access.READ, Access.WRITE) for resource in MEMORIES
)
"""Reads and writes memory, not known which."""
ORDERS_MEMORY = tuple(
    Touch(Access.ORDER, resource) for resource in (Resource.GLOBAL, Resource.SHARED)
)
"""A fence: the accesses of one thread."""
FINDS = Touch(Access.READ, Resource.OUTSIDE)
"""Finds what no operand says: who executes it, or, of what orders memory, others' writes."""
MEETS = (*ORDERS_MEMORY, Touch(Access.ORDER, Resource.BARRIERS))
"""A barrier, at which threads wait for each other."""
