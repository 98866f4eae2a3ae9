"""How kernels are launched: the JSON beside the PTX, all that simulator and runtime read.

    {"target": "sm_80", "ptx": "7.0", "kernels": [{"name": "gemm", "block": [256, 1, 1],
     "dynamic_shared": 98304, "arguments": [
       {"name": "a", "kind": "memref", "type": "f16", "shape": [null, 64],
        "strides": [null, 1], "offset": 0, "space": 0},
       {"name": "n", "kind": "scalar", "type": "i32"}]}]}

A memref whose kernel was promised something of it has `"promised"`, as `Promises` says; a kernel
whose tiles the compiler chose has `"grid"`, of each axis a list of `Extent`s; one of clusters has
`"cluster"`, their CTAs along x, y and z, of which every grid is a multiple.

A kernel whose CTAs take one tile of the grid after the other has `"ctas_per_sm"`. The launch names
the grid, whose extents along x, y and z it passes as the kernel's arguments of kind `"grid"`; it
launches so many CTAs an SM along x, or as many as the grid has, whichever are fewer; with
`"cluster"` whole clusters on so many SMs, one at least, but no more than the grid has CTAs. A
kernel whose clusters take over the tiles of others has `"cluster_tiles"`, the tiles along x, y and
z that one takes at a time; it is launched with as many clusters along x as take the grid.

The launch passes each argument in order: of a memref a pointer, then an i64 for each `null` of
its shape, its strides and its offset; of a scalar its value; of a pointer itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from numbers import Integral
from typing import Any, NamedTuple

from tilec.isa import LaunchError, PtxVersion, Target
from tilec.isa import target as find_target
from tilec.isa.boxes import Im2col
from tilec.isa.limits import CTAS_ALONG_X
from tilec.isa.wording import counted

from .schema import SchemaError, check

Extents = tuple[int, int, int]
"""CTAs along x, y and z."""

_DESCRIPTIONS = 256
"""Texts of `tile.abi` whose check is remembered."""


class Promises(NamedTuple):
    """What a kernel relies on of the memory that it is given, by the attributes of its argument.

    Attributes:
        aligned: bytes of which the address is a multiple.
        sizes: of each dimension, what its size is a multiple of.
        strides: of each dimension, what its stride is a multiple of, in elements.
        disjoint: the numbers of the arguments with which it has no memory in common.
    """

    aligned: int = 1
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    disjoint: tuple[int, ...] = ()

    def json(self) -> dict[str, Any]:
        """The promises as JSON has them."""
        return {
            "aligned": self.aligned,
            "sizes": list(self.sizes),
            "strides": list(self.strides),
            **({"disjoint": list(self.disjoint)} if self.disjoint else {}),
        }


class MemRef(NamedTuple):
    """A memref argument; None in its fields stands for what the launch passes.

    Attributes:
        name: its name.
        type: element type in memory, as MLIR writes it.
        shape: extents in elements.
        strides: in elements.
        offset: in elements.
        space: address space: 0 generic, 1 global.
        promised: what the kernel relies on.
    """

    name: str
    type: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    space: int = 0
    promised: Promises = Promises()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Types of the values passed: `ptr` and `i64`s."""
        dynamic = sum(v is None for v in (*self.shape, *self.strides, self.offset))
        return ("ptr", *["i64"] * dynamic)

    def json(self) -> dict[str, Any]:
        """The argument as JSON has it."""
        return {
            "name": self.name,
            "kind": "memref",
            "type": self.type,
            "shape": list(self.shape),
            "strides": list(self.strides),
            "offset": self.offset,
            "space": self.space,
            **({"promised": self.promised.json()} if self.promised != Promises() else {}),
        }


class Scalar(NamedTuple):
    """A scalar argument, or a bare pointer.

    Attributes:
        name: its name.
        type: as MLIR writes it; `ptr` for a pointer.
    """

    name: str
    type: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The type of the value passed."""
        return (self.type,)

    def json(self) -> dict[str, Any]:
        """The argument as JSON has it."""
        kind = "pointer" if self.type == "ptr" else "scalar"
        return {"name": self.name, "kind": kind, "type": self.type}


class GridExtent(NamedTuple):
    """CTAs of the grid that a launch names, of a kernel whose CTAs take several; behind the others.

    Attributes:
        name: its name.
        axis: 0 to 2 for x to z.
    """

    name: str
    axis: int

    @property
    def parameters(self) -> tuple[str, ...]:
        """A number of CTAs."""
        return ("i32",)

    def json(self) -> dict[str, Any]:
        """The argument as JSON has it."""
        return {"name": self.name, "kind": "grid", "type": "i32", "axis": self.axis}


class TensorMap(NamedTuple):
    """A tensor map, which the launch makes of another argument; it stands after all others.

    Attributes:
        name: its name.
        type: element type of the array, as MLIR writes it.
        array: the number of the argument that it describes.
        box: what a copy spans along each dimension of the array; empty of an im2col map.
        swizzle: of the box in shared memory.
        element_strides: of each dimension every how-manieth element is copied; empty if each is.
        im2col: the box of a copy that walks pixels.
    """

    name: str
    type: str
    array: int
    box: tuple[int, ...]
    swizzle: str
    element_strides: tuple[int, ...] = ()
    im2col: Im2col | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """128 bytes by value."""
        return ("tensor_map",)

    def json(self) -> dict[str, Any]:
        """The argument as JSON has it."""
        return {
            "name": self.name,
            "kind": "tensor_map",
            "type": self.type,
            "array": self.array,
            "box": list(self.box),
            "swizzle": self.swizzle,
            **({"element_strides": list(self.element_strides)} if self.element_strides else {}),
            **({"im2col": self._walked(self.im2col)} if self.im2col else {}),
        }

    @staticmethod
    def _walked(box: Im2col) -> dict[str, Any]:
        """An im2col box as JSON has it, its corners in the array's order."""
        return {**box._asdict(), "lower": list(box.lower[::-1]), "upper": list(box.upper[::-1])}


Given = MemRef | Scalar
"""What a launch is given."""
Argument = Given | GridExtent | TensorMap


def bytes_of(type_: str) -> int:
    """Bytes of an element in memory, of a type as MLIR writes it."""
    bits = re.search(r"\d+", type_)
    return 8 if bits is None else max(8, int(bits[0])) // 8  # `index` has 64


class Extent(NamedTuple):
    """CTAs along a dimension of an argument.

    Attributes:
        argument: the number of the argument, a memref.
        dimension: of it.
        elements: how many of the dimension each CTA takes.
    """

    argument: int
    dimension: int
    elements: int

    def json(self) -> dict[str, int]:
        """The extent as JSON has it."""
        return {
            "argument": self.argument,
            "dimension": self.dimension,
            "elements": self.elements,
        }


def _shown_type(argument: Argument) -> str:
    """The type of an argument as MLIR writes it, but for what is in the JSON alone."""
    match argument:
        case MemRef():
            shape = "".join("?x" if size is None else f"{size}x" for size in argument.shape)
            return f"memref<{shape}{argument.type}>"
        case TensorMap():
            box = "x".join(map(str, argument.box))
            return f"tensor map of argument {argument.array} by {box}"
        case GridExtent():
            return f"CTAs along {'xyz'[argument.axis]}"
        case Scalar():
            return argument.type


class KernelEntry(NamedTuple):
    """How a kernel is launched.

    Attributes:
        name: its `.entry`.
        arguments: in order.
        block: threads of a CTA in x, y, z where the kernel fixes them.
        dynamic_shared: bytes of dynamic shared memory.
        grid: in x, y, z the extents whose CTAs multiply up to the axis; None where it is for the
            launch to say.
        cluster: CTAs of a cluster in x, y, z where the kernel fixes them.
        ctas_per_sm: CTAs that are launched an SM, where each takes one tile of the grid after the
            other.
        cluster_tiles: tiles along x, y and z that a cluster takes at a time, where as many clusters
            are launched as take the grid.
    """

    name: str
    arguments: tuple[Argument, ...]
    block: tuple[int, int, int] | None = None
    dynamic_shared: int = 0
    grid: tuple[tuple[Extent, ...], ...] | None = None
    cluster: tuple[int, int, int] | None = None
    ctas_per_sm: int | None = None
    cluster_tiles: Extents | None = None

    @property
    def given(self) -> list[Given]:
        """The arguments that a launch is given; the others it makes."""
        return [one for one in self.arguments if isinstance(one, MemRef | Scalar)]

    @property
    def maps(self) -> list[TensorMap]:
        """The tensor maps among the arguments."""
        return [one for one in self.arguments if isinstance(one, TensorMap)]

    def launched(self, grid: Extents, sms: int, wanted: int | None = None) -> Extents:
        """The CTAs that are launched, along x, y and z, for a grid.

        Args:
            grid: the CTAs, or tiles, that the launch names.
            sms: SMs that there are.
            wanted: those on which CTAs are to run that take one tile after the other; None for all.

        Raises:
            LaunchError: for more tiles than CTAs count, and for SMs that are none.
        """
        if wanted is not None and not _is_count(wanted):
            raise LaunchError(f"kernel '{self.name}' on {wanted!r} SMs; legal: 1 or more")
        if self.ctas_per_sm is None and self.cluster_tiles is None:
            return grid
        tiles, of_cluster = prod(grid), prod(self.cluster or ())
        if tiles > CTAS_ALONG_X:
            raise LaunchError(
                f"a grid of {grid}, {tiles} tiles; CTAs of kernel '{self.name}', which take one "
                f"after the other, count {CTAS_ALONG_X}"
            )
        if self.ctas_per_sm is None:
            steps = zip(grid, self.cluster_tiles or (1, 1, 1), strict=True)
            return of_cluster * prod(-(-extent // step) for extent, step in steps), 1, 1
        used = sms if wanted is None else min(sms, int(wanted))
        return of_cluster * min(tiles, max(1, used * self.ctas_per_sm // of_cluster)), 1, 1

    def __repr__(self) -> str:
        """One line, for a prompt."""
        return f"<kernel {self.signature}>"

    @property
    def signature(self) -> str:
        """The kernel's name and arguments in a line, as `scale(x: memref<?x64xf16>, n: i32)`."""
        arguments = (f"{one.name}: {_shown_type(one)}" for one in self.arguments)
        block = "x".join(map(str, self.block)) if self.block else "any number of"
        return f"{self.name}({', '.join(arguments)}), {block} threads"

    def ctas(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """The CTAs along x, y and z for arguments of these shapes, one at least.

        Args:
            shapes: of each argument; empty for a scalar.

        Returns:
            None if the kernel does not say.

        Raises:
            LaunchError: if there is no such argument, or it has no such dimension.
        """
        if self.grid is None:
            return None
        for number, dimension, _ in (extent for axis in self.grid for extent in axis):
            if number >= len(shapes) or dimension >= len(shapes[number]):
                raise LaunchError(
                    f"the grid of kernel '{self.name}' follows from dimension {dimension} of "
                    f"argument {number}, which does not exist"
                )
        return tuple(
            prod(max(1, -(-shapes[e.argument][e.dimension] // e.elements)) for e in axis)
            for axis in self.grid
        )

    def json(self) -> dict[str, Any]:
        """The kernel as JSON has it."""
        return {
            "name": self.name,
            "block": list(self.block) if self.block else None,
            "dynamic_shared": self.dynamic_shared,
            "arguments": [argument.json() for argument in self.arguments],
            **(
                {"grid": [[extent.json() for extent in axis] for axis in self.grid]}
                if self.grid
                else {}
            ),
            **({"cluster": list(self.cluster)} if self.cluster else {}),
            **({"ctas_per_sm": self.ctas_per_sm} if self.ctas_per_sm else {}),
            **({"cluster_tiles": list(self.cluster_tiles)} if self.cluster_tiles else {}),
        }


class Abi(NamedTuple):
    """The kernels of a module.

    Attributes:
        target: what the PTX is for.
        ptx: its version.
        kernels: in the order of the module.
    """

    target: Target
    ptx: PtxVersion
    kernels: tuple[KernelEntry, ...]

    def __repr__(self) -> str:
        kernels = "".join(f"\n  {kernel.signature}" for kernel in self.kernels)
        return f"ABI for {self.target}, PTX {self.ptx}:{kernels}"

    def __str__(self) -> str:
        document = {
            "target": self.target.name,
            "ptx": str(self.ptx),
            "kernels": [kernel.json() for kernel in self.kernels],
        }
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def parse(cls, text: str) -> Abi:
        """The ABI that `str` of one wrote.

        Raises:
            SchemaError: for what is not as `abi.schema.json` says, or names what is not there.
            TilecError: for an unknown target.
        """
        document = _loaded(text)
        check(document)
        for number, kernel in enumerate(document["kernels"]):
            _check_numbers(kernel, f"kernels[{number}]")
        return cls(
            find_target(document["target"]),
            PtxVersion.parse(document["ptx"]),
            tuple(
                KernelEntry(
                    kernel["name"],
                    tuple(map(_argument, kernel["arguments"])),
                    tuple(kernel["block"]) if kernel["block"] else None,
                    kernel["dynamic_shared"],
                    _grid(kernel["grid"]) if "grid" in kernel else None,
                    tuple(kernel["cluster"]) if "cluster" in kernel else None,
                    kernel.get("ctas_per_sm"),
                    tuple(kernel["cluster_tiles"]) if "cluster_tiles" in kernel else None,
                )
                for kernel in document["kernels"]
            ),
        )


def _loaded(text: str) -> Any:
    """What a text of JSON says.

    Raises:
        SchemaError: for what is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"not JSON: {error}") from None


def _check_numbers(kernel: Mapping[str, Any], at: str) -> None:
    """Check that arguments and dimensions that others name exist.

    Raises:
        SchemaError: for the first that does not.
    """
    arguments = kernel["arguments"]

    def array(number: int, of: str) -> Mapping[str, Any]:
        if number >= len(arguments) or arguments[number]["kind"] != "memref":
            raise SchemaError(f"{at}.{of}: argument {number} is not a memref")
        found: Mapping[str, Any] = arguments[number]
        return found

    _check_order(kernel, at)
    for number, argument in enumerate(arguments):
        name = f"arguments[{number}]"
        if argument["kind"] == "memref":
            promised = argument.get("promised", {})
            ranks = [len(argument["strides"]), *(len(promised[k]) for k in _LISTS if k in promised)]
            if any(rank not in (0, len(argument["shape"])) for rank in ranks[1:]) or (
                ranks[0] != len(argument["shape"])
            ):
                raise SchemaError(f"{at}.{name}: its shape and strides have different ranks")
            for other in promised.get("disjoint", ()):
                array(other, f"{name}.promised.disjoint")
        if argument["kind"] == "tensor_map":
            of = array(argument["array"], f"{name}.array")
            _check_map(argument, len(of["shape"]), f"{at}.{name}")
    for axis in kernel.get("grid", ()):
        for extent in axis:
            rank = len(array(extent["argument"], "grid")["shape"])
            if extent["dimension"] >= rank:
                raise SchemaError(
                    f"{at}.grid: argument {extent['argument']} has {counted(rank, 'dimension')}"
                )


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return int(value) > 0


def _check_order(kernel: Mapping[str, Any], at: str) -> None:
    """Check that what a launch is given comes first, then the grid's extents, then tensor maps.

    Of `tile.abi`, which has arguments alone, it is not known whether the grid's extents are passed.
    """
    kinds = [argument["kind"] for argument in kernel["arguments"]]
    places = [_BEHIND.get(kind, 0) for kind in kinds]
    if places != sorted(places):
        number = next(at for at, place in enumerate(places) if place > min(places[at:]))
        what = "tensor maps stand" if kinds[number] == "tensor_map" else "the grid's extents stand"
        raise SchemaError(f"{at}.arguments[{number}]: {what} after all other arguments")
    axes = [argument["axis"] for argument in kernel["arguments"] if argument["kind"] == "grid"]
    said = [name for name in ("ctas_per_sm", "cluster_tiles") if name in kernel]
    is_said = bool(said) if "name" in kernel else bool(axes)
    if len(said) > 1:
        raise SchemaError(f"{at}: 'ctas_per_sm' and 'cluster_tiles' say how many CTAs there are")
    if axes != [0, 1, 2] * is_said:
        raise SchemaError(
            f"{at}: the grid's extents are passed, along x, y and z, where 'ctas_per_sm' or "
            "'cluster_tiles' is given, and only there"
        )


_BEHIND = {"grid": 1, "tensor_map": 2}
"""What stands behind what a launch is given, by the order."""


def _check_map(map_: Mapping[str, Any], rank: int, at: str) -> None:
    """Check that what a map says of the dimensions of its array is of as many as that has."""
    walked, steps = map_.get("im2col"), map_.get("element_strides")
    corners = [] if walked is None else [(f"im2col.{n}", walked[n], 2) for n in ("lower", "upper")]
    box = [("box", map_["box"], 0)] if walked is None else []
    for name, numbers, fewer in (*box, *corners, *([("element_strides", steps, 0)] * bool(steps))):
        if len(numbers) != rank - fewer:
            raise SchemaError(f"{at}.{name}: has another rank than argument")


_LISTS = ("sizes", "strides")


def _grid(axes: Sequence[Sequence[Mapping[str, int]]]) -> tuple[tuple[Extent, ...], ...]:
    return tuple(tuple(Extent(**extent) for extent in axis) for axis in axes)


def _argument(fields: Mapping[str, Any]) -> Argument:
    if fields["kind"] == "tensor_map":
        numbers = fields["array"], tuple(fields["box"]), fields["swizzle"]
        steps, walked = tuple(fields.get("element_strides", ())), fields.get("im2col")
        if walked is not None:
            low, high = (tuple(walked[name][::-1]) for name in ("lower", "upper"))
            walked = Im2col(low, high, walked["channels"], walked["pixels"])
        return TensorMap(fields["name"], fields["type"], *numbers, steps, walked)
    if fields["kind"] == "grid":
        return GridExtent(fields["name"], fields["axis"])
    if fields["kind"] != "memref":
        return Scalar(fields["name"], fields["type"])
    return MemRef(
        fields["name"],
        fields["type"],
        tuple(fields["shape"]),
        tuple(fields["strides"]),
        fields["offset"],
        fields["space"],
        _promises(fields.get("promised", {})),
    )


def _promises(fields: Mapping[str, Any]) -> Promises:
    lists = (tuple(fields.get(name, ())) for name in ("sizes", "strides", "disjoint"))
    return Promises(fields.get("aligned", 1), *lists)


@lru_cache(maxsize=_DESCRIPTIONS)
def described(text: str, at: str) -> tuple[Argument, ...]:
    """The arguments that a text of JSON describes, as `tile-kernel-abi` writes it.

    Kernels that are tuned are compiled many times with the same.

    Args:
        text: a list of arguments.
        at: what messages call it.

    Raises:
        SchemaError: if they are not as `abi.schema.json` has them.
    """
    given = _loaded(text)
    check(given, "arguments", at)
    _check_numbers({"arguments": given}, at)
    return tuple(map(_argument, given))
