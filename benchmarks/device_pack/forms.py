"""Kernels of every instruction form that a target has, with the memory that they are run on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import tilec
from device_run.trial import Place, Run, Trial
from tilec.dialects.tile.form_program import FormKernel, form_kernel, form_program
from tilec.isa import Family, Form, Mma, Operand, PtxVersion, Target, warp_forms

KERNELS = 48
"""Kernels in one module, at most."""

SHARES = {"normal": 1 / 2, "bits": 1 / 2, "edges": 1 / 8}
"""Of a form's elements, by kind of run, where its operands are floats."""

F64_BITS = 1 << 14
"""Elements of f64 from any bits, at most: the simulator takes rationals for most of them."""


@dataclass(frozen=True)
class Module:
    """Kernels that share PTX.

    Attributes:
        name: of the file.
        ptx: the text.
        trials: its kernels.
    """

    name: str
    ptx: str
    trials: tuple[Trial, ...]


def forms_of(target: Target, words: str = "") -> list[Form]:
    """The forms that a target has and whose names hold all of some words."""
    return [
        form
        for form in warp_forms().values()
        if form.min_ptx(target) and all(word in form.ptx for word in words.split())
    ]


def variants(form: Form) -> Iterator[tuple[dict[str, int], str]]:
    """Selectors and state space of each kernel of a form; every selector takes every value."""
    if form.family in (Family.WMMA_LOAD, Family.WMMA_STORE):
        yield from (({}, space) for space in ("global", "shared"))
        return
    for run in range(max((len(s.legal) for s in form.selectors), default=1)):
        chosen = {s.name: s.legal[(run + at) % len(s.legal)] for at, s in enumerate(form.selectors)}
        yield chosen, ""


@dataclass(frozen=True)
class Group:
    """Forms whose kernels are to share a module.

    Attributes:
        name: of the module.
        version: the PTX version that it needs.
        members: form, selectors and state space of each kernel.
    """

    name: str
    version: PtxVersion
    members: tuple[tuple[Form, dict[str, int], str], ...]


def groups(chosen: Iterable[Form], target: Target) -> Iterator[Group]:
    """Forms of one family and PTX version together, `KERNELS` at most."""
    found: dict[tuple[Family, PtxVersion], list[tuple[Form, dict[str, int], str]]] = defaultdict(
        list
    )
    for form in chosen:
        found[form.family, form.require(target)] += ((form, *how) for how in variants(form))
    for (family, version), members in found.items():
        for number, start in enumerate(range(0, len(members), KERNELS)):
            some = tuple(members[start : start + KERNELS])
            yield Group(f"{family}-{version}-{number}", version, some)


def compiled(group: Group, target: Target, elements: int) -> tuple[Module, list[FormKernel]]:
    """A module of which no digest is known yet, and its kernels.

    Args:
        group: the forms.
        target: that they are compiled for.
        elements: of results, for each form.
    """
    kernels = [
        form_kernel(form, target, selectors=chosen, space=space, name=f"k{number}", ctas=elements)
        for number, (form, chosen, space) in enumerate(group.members)
    ]
    ptx = tilec.compile(form_program(kernels, target), target=target.name).ptx
    trials = tuple(
        _trial(kernel, space, elements // len(list(variants(form))))
        for kernel, (form, _, space) in zip(kernels, group.members, strict=True)
    )
    return Module(group.name, ptx, trials), kernels


def _trial(kernel: FormKernel, space: str, elements: int) -> Trial:
    product = kernel.product
    types = {} if product is None else {o.name: o for o in (*product.results, *product.operands)}
    float_ = bool(types) and types["a"].type.is_float
    shares = SHARES if float_ else {"bits": 1.0}
    if float_ and types["a"].type.name == "f64":
        shares = {"normal": 1.0, "bits": min(1.0, F64_BITS / elements)}
    places = tuple(_place(kernel, argument, types, shares) for argument in kernel.arguments)
    (result,) = (place for place in places if not place.pools)
    each = result.bytes // result.item
    runs = tuple(
        Run(kind, number, max(1, -(-int(elements * share) // each)))
        for number, (kind, share) in enumerate(shares.items())
    )
    any_nan = float_ and types["d"].type.name == "f64"
    return Trial(kernel.form.ptx, kernel.selectors, space, kernel.name, places, runs, any_nan)


def _place(kernel: FormKernel, argument: Any, operands: dict[str, Operand], shares: Any) -> Place:
    width = re.search(r"\d+", argument.element)
    assert width
    item = int(width[0]) // 8
    size = prod(argument.shape) * item
    pools = {}
    if not argument.written:
        pools = {kind: _pool(kernel.form, operands.get(argument.name), kind) for kind in shares}
    return Place(argument.name, size, item, pools)


def _pool(form: Form, operand: Operand | None, kind: str) -> str:
    if operand is not None and operand.name == "e":
        assert isinstance(form, Mma)
        assert form.sparsity
        return f"codes:{form.sparsity.chunk}"
    if operand is None or kind == "bits" or not operand.type.is_float:
        return "bits"
    if operand.name.startswith("sf"):
        kind = "normal"
    padded = operand.container == 8 and operand.type.bits < 8
    return f"{kind}:{operand.type}{'/8' if padded else ''}"
