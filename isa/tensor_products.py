"""`tcgen05.mma`: D = A·B + D in tensor memory, issued by one thread. PTX ISA 9.7.16.10.

The mnemonic says the kind of the product and who takes part. Types, M and N are told by an
instruction descriptor (`tilec.isa.instruction_descriptor`), places in shared memory by matrix
descriptors. Where A lies, the mnemonic leaves open: the key says it by a last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from itertools import product as cross
from typing import Any

from .errors import TilecError, UnknownNameError
from .form_parts import ExecutionScope
from .instruction_class import Instruction
from .instruction_descriptor import InstructionDescriptor
from .targets import Since
from .tensor_clauses import INTEGERS, RUBIN, architectures, everywhere
from .tensor_shapes import columns, product_kind, rows

SECTION = "9.7.16.10"
A_PLACES = ("descriptor", "tensor")
"""Where A lies: in shared memory, told by a descriptor, or in tensor memory."""
PLAIN_KINDS = ("f16", "tf32", "f8f6f4", "i8")
SCALE_VECTORS = {
    "mxf8f6f4": ("", "scale_vec::1X", "block32"),
    "mxf4": ("", "scale_vec::2X", "block32"),
    "mxf4nvf4": ("scale_vec::2X", "scale_vec::4X", "block32", "block16"),
}
"""How many elements share a scale factor, as each block-scaled kind may say it."""
_OF_32 = ("scale_vec::2X", "block32")
"""Those of `mxf4nvf4` whose scale factors have no mantissa."""
_COLLECTORS = ("", "fill", "use", "lastuse", "discard")
_SHIFTING = ("", "lastuse", "discard")
"""The uses of the collector that go with `.ashift`."""
SCALED_INPUT_KINDS = ("f16", "tf32")
"""The kinds whose accumulator may be divided by a power of two first, where `SCALED_INPUT` says."""
EXPONENTS = range(16)
"""Of that power."""
BUFFERS = range(4)
"""Buffers of the collector that `.ws` names."""


@dataclass(frozen=True, slots=True)
class TensorProduct(Instruction):
    """One form of `tcgen05.mma`.

    Attributes:
        kind: `f16`, `tf32`, `f8f6f4`, `i8`, `mxf8f6f4`, `mxf4`, `mxf4nvf4`.
        group: CTAs that take part, 1 or 2.
        a: where A lies, one of `A_PLACES`.
        sparse: whether metadata of A follows.
        stationary: whether it is `.ws`.
        scaling: what follows `.block_scale`; empty also where nothing does.
    """

    kind: str = ""
    group: int = 1
    a: str = ""
    sparse: bool = False
    stationary: bool = False
    scaling: str = ""

    @property
    def mnemonic(self) -> str:
        """The instruction as printed: the key without where A lies."""
        return self.ptx.rpartition(".a::")[0]

    @property
    def scaled(self) -> bool:
        """Whether A and B come with scale factors."""
        return self.kind in SCALE_VECTORS

    @property
    def chunks(self) -> int:
        """Scale factors of a row along K, where that is not 96; 0 if there are none."""
        if not self.scaled:
            return 0
        if self.kind == "mxf8f6f4":
            return 1
        return 4 if self.scaling in ("scale_vec::4X", "block16") else 2

    @property
    def masked(self) -> bool:
        """Whether lanes of D may be left as they are (`with_lane_mask`)."""
        return not (self.scaled or self.stationary)

    @property
    def lane_words(self) -> int:
        """Words of such a mask, 32 lanes each: 128 lanes of every CTA."""
        return 4 * self.group

    @property
    def collector(self) -> tuple[str, str]:
        """The buffer of the collector that it names, such as `b0`, and what it does there.

        Both empty where it names none. PTX ISA 9.7.16.10.9, "collector_usage".
        """
        words = self.ptx.partition(".collector::")[2].partition(".")[0]
        buffer, _, use = words.partition("::")
        return buffer, use

    @property
    def completion(self) -> str:
        """It is known to be done by what `tcgen05.commit` signals."""
        return "tcgen05.commit"

    @property
    def facts(self) -> dict[str, str | int]:
        """Kind, CTAs, where A lies, types and extents that its instruction descriptor may have."""
        kind = product_kind(self.kind)
        given = {"stationary": self.stationary, "sparse": self.sparse}
        triples = [" ".join(types) for types in kind.types]
        return {
            "kind": self.kind,
            "ctas": self.group,
            "a": self.a,
            "types": ", ".join(triples),
            "m": ", ".join(map(str, rows(kind, self.group, **given))),
            "n": ", ".join(map(str, columns(kind, self.group, **given))),
            "k": kind.k * (2 if self.sparse else 1),
        }

    def describe(self, types: Sequence[str] = (), **fields: int) -> InstructionDescriptor:
        """An instruction descriptor that it may be given.

        Args:
            types: element types of D, A and B; the first legal ones by default.
            fields: other fields of the descriptor; the largest M and N by default.

        Raises:
            TilecError: if it takes no such descriptor, naming what would be legal.
        """
        kind = product_kind(self.kind)
        given = {"stationary": self.stationary, "sparse": self.sparse}
        fields.setdefault("m", rows(kind, self.group, **given)[-1])
        fields.setdefault("n", columns(kind, self.group, **given)[-1])
        if len(types) not in (0, 3):
            raise TilecError(f"{len(types)} element types; give those of D, A and B")
        d, a, b = types or kind.types[0]
        legal = {one.name for one in dataclass_fields(InstructionDescriptor)}
        for name in fields:
            if name not in legal - {"kind", "d", "a", "b", "sparse", "scale"}:
                raise UnknownNameError("field of the instruction descriptor", name, legal)
        scale = "" if not kind.scales else kind.scales[-1 if self.scaling in _OF_32 else 0]
        values: dict[str, Any] = {**fields, "sparse": self.sparse, "scale": scale}
        found = InstructionDescriptor(kind=self.kind, d=d, a=a, b=b, **values)
        found.check(self.group, **given)
        return found

    def with_lane_mask(self) -> str:
        """The operands with a mask behind the descriptor: a bit that is 1 leaves a lane of D.

        PTX ISA 9.7.16.10.9, "disable-output-lane".
        """
        return self.with_options(lanes=True)

    def with_scaled_input(self) -> str:
        """The operands with the exponent behind them, by which D is divided first."""
        return self.with_options(exponent=True)

    def with_zero_columns(self) -> str:
        """The operands of `.ws` with the mask behind them that says which columns count as 0."""
        return self.with_options(zeros=True)

    def with_options(
        self, *, lanes: bool = False, exponent: bool = False, zeros: bool = False
    ) -> str:
        """The operands with `lanes0` … behind the descriptor, `n` or `zeros` behind them all."""
        words = ", ".join(f"lanes{n}" for n in range(self.lane_words))
        whole = self.operands.replace("idesc", f"idesc, {{{words}}}") if lanes else self.operands
        return whole + ", n" * exponent + ", zeros" * zeros


def _operands(a: str, *, sparse: bool, scaled: bool) -> str:
    place = "[a]" if a == "tensor" else "adesc"
    meta = ", [meta]" if sparse else ""
    scales = ", [sfa], [sfb]" if scaled else ""
    return f"[acc], {place}, bdesc{meta}, idesc{scales}, p"


def _since(kind: str, scaling: str, *, sparse: bool) -> tuple[Since, ...]:
    if kind == "i8":
        return INTEGERS
    if kind not in SCALE_VECTORS:
        return everywhere()
    exact = scaling.startswith("scale_vec") or (sparse and kind != "mxf8f6f4")
    first = "8.7" if kind == "mxf4nvf4" else "8.6"
    if scaling.startswith("block"):
        first = "8.8"
    return architectures(first) if exact else everywhere(first)


def _make(
    kind: str,
    group: int,
    a: str,
    *,
    sparse: bool,
    scaling: str = "",
    stationary: bool = False,
    tail: str = "",
    since: tuple[Since, ...] | None = None,
) -> TensorProduct:
    scaled = kind in SCALE_VECTORS
    words = [
        "tcgen05.mma",
        "ws" * stationary,
        "sp" * sparse,
        f"cta_group::{group}",
        f"kind::{kind}",
    ]
    words += ["block_scale" * scaled, scaling, tail, f"a::{a}"]
    return TensorProduct(
        ptx=".".join(word for word in words if word),
        family="tcgen05.mma",
        operands=_operands(a, sparse=sparse, scaled=scaled),
        since=_since(kind, scaling, sparse=sparse) if since is None else since,
        section=SECTION,
        scope=ExecutionScope.CTA_PAIR if group == 2 else ExecutionScope.THREAD,
        kind=kind,
        group=group,
        a=a,
        sparse=sparse,
        stationary=stationary,
        scaling=scaling,
    )


def _collector(use: str, buffer: str = "a") -> str:
    return f"collector::{buffer}::{use}" if use else ""


def _plain() -> Iterator[TensorProduct]:
    """Without scale factors: A may be shifted by a row, and stay in the collector."""
    for kind, group, sparse, a in cross(PLAIN_KINDS, (1, 2), (False, True), A_PLACES):
        for use in _COLLECTORS:
            yield _make(kind, group, a, sparse=sparse, tail=_collector(use))
        for use in _SHIFTING if a == "tensor" else ():
            tail = ".".join(filter(None, ("ashift", _collector(use))))
            yield _make(kind, group, a, sparse=sparse, tail=tail)


def _scaled() -> Iterator[TensorProduct]:
    """With scale factors of A and B in tensor memory."""
    for kind, vectors in SCALE_VECTORS.items():
        for vector, group, sparse, a, use in cross(
            vectors, (1, 2), (False, True), A_PLACES, _COLLECTORS
        ):
            yield _make(kind, group, a, sparse=sparse, scaling=vector, tail=_collector(use))


def _stationary() -> Iterator[TensorProduct]:
    """`.ws`: B stays, in one of four buffers of the collector."""
    tails = ("", *(_collector(use, f"b{n}") for n, use in cross(BUFFERS, _COLLECTORS[1:])))
    for kind, sparse, a, tail in cross(PLAIN_KINDS, (False, True), A_PLACES, tails):
        yield _make(kind, 1, a, sparse=sparse, stationary=True, tail=tail)


def _rubin() -> Iterator[TensorProduct]:
    """B of a plain product in the collector."""
    for kind, group, a, use in cross(PLAIN_KINDS[:3], (1, 2), A_PLACES, _COLLECTORS[1:]):
        tail = _collector(use, "b")
        yield _make(kind, group, a, sparse=False, tail=tail, since=RUBIN)


def instructions() -> Iterator[Instruction]:
    """Every one."""
    yield from _plain()
    yield from _scaled()
    yield from _stationary()
    yield from _rubin()
