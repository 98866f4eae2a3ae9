"""What `tile-layout` shows: one operand of one form, and who holds which of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tilec.isa import LANES, Form, Operand, Selector, TilecError
from tilec.isa.lazy import cached_property
from tilec.layout import Fragment, any_fragment_of
from tilec.layout.fragments import has_fragment
from tilec.layout.lookup import types_of

Place = tuple[int, ...]
"""Coordinates of an element, in the order of `LayoutView.axes`."""


class Slot(NamedTuple):
    """Where a lane keeps an element: bits `low` to `high` of a register.

    Of what a warpgroup holds, `lane` counts its threads.
    """

    lane: int
    register: int
    low: int
    high: int

    def json(self) -> dict[str, Any]:
        """As data."""
        return {"lane": self.lane, "register": self.register, "bits": [self.low, self.high]}


@dataclass(frozen=True)
class LayoutView:
    """An operand, and of one that an `mma` reads by selectors, their values.

    Attributes:
        form: the instruction form.
        operand: its operand.
        selection: the value of each selector that the operand depends on.
    """

    form: Form
    operand: Operand
    selection: dict[str, int]

    @classmethod
    def of(cls, form: Form, name: str, selectors: dict[str, int]) -> LayoutView:
        """The view of operand `name`.

        Args:
            form: the form.
            name: the operand.
            selectors: `selector`, `byte_id`, `thread_id` where given.

        Raises:
            TilecError: for a selector that the operand has not, or a value that is not legal.
        """
        own = cls.selectors(form, name)
        for given in selectors:
            if given not in own:
                flag = given.replace("_", "-")
                raise TilecError(f"operand {name} of {form.ptx} does not depend on --{flag}")
        selection = {}
        for given, selector in own.items():
            value = selectors.get(given, selector.legal[0])
            if value not in selector.legal:
                raise TilecError(
                    f"{selector.name} {value} is not legal for {form.ptx}; "
                    f"legal: {', '.join(map(str, selector.legal))}"
                )
            selection[selector.name] = value
        return cls(form, form.operand(name), selection)

    @classmethod
    def of_all(cls, form: Form, selectors: dict[str, int]) -> dict[str, LayoutView]:
        """A view of every operand, each with those selectors that it depends on.

        Raises:
            TilecError: for a selector that none has, or a value that is not legal.
        """
        views, used = {}, set()
        for name in form.operand_names:
            own = {key: n for key, n in selectors.items() if key in cls.selectors(form, name)}
            views[name] = cls.of(form, name, own)
            used |= set(own)
        for key in selectors:
            if key not in used:
                raise TilecError(f"no operand of {form.ptx} depends on --{key.replace('_', '-')}")
        return views

    @staticmethod
    def selectors(form: Form, name: str) -> dict[str, Selector]:
        """The selectors that an operand depends on, by name without the operand's side."""
        side = f"_{name[-1]}"
        return {s.name.removesuffix(side): s for s in form.selectors_of(name)}

    @cached_property
    def layout(self) -> Fragment | None:
        """(register, lane) -> place; None where the ISA does not define it or no register holds it.

        Of a warpgroup (register, lane, warp) -> place.
        """
        if not has_fragment(self.operand):
            return None
        return any_fragment_of(self.form, self.operand.name)

    @property
    def open(self) -> str:
        """Why it has no layout."""
        if not self.operand.threads:
            return (
                f"no register holds operand {self.operand.name}: it lies in {self.operand.storage}"
            )
        return "the ISA does not define which elements a register holds"

    @property
    def holder(self) -> str:
        """What a number of a thread counts: lanes of a warp, threads of a warpgroup."""
        return "lane" if self.operand.threads <= LANES else "thread"

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Names of an element's coordinates."""
        if self.layout is None:
            return ("row", "col")
        return tuple(n for n in self.layout.out_sizes if n not in (*self.selection, "product"))

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """How far each coordinate goes."""
        if self.layout is None:
            return (self.operand.rows, self.operand.cols)
        return tuple(self.layout.out_sizes[axis] for axis in self.axes)

    @property
    def products(self) -> int:
        """Independent products of the warp, each with an operand of its own."""
        return self.layout.out_sizes.get("product", 1) if self.layout else 1

    @property
    def shape(self) -> str:
        """The shape as the mnemonic writes it."""
        found = re.search(r"\.(m\d+n\d+(?:k\d+)?)\.", self.form.ptx)
        return found[1] if found else str(self.form.facts["shape"])

    @property
    def sparse(self) -> bool:
        """Whether the form's A is sparse."""
        return self.form.sparsity is not None

    def held(self, lane: int) -> list[Place | None]:
        """The elements of a lane, low to high; None for one that this selection ignores."""
        layout = self._defined()
        names = list(layout.out_sizes)
        found: list[Place | None] = []
        for index in range(self.operand.elements):
            at = {"register": index, "lane": lane % LANES, "warp": lane // LANES}
            held = layout(**{name: at[name] for name in layout.in_sizes})
            place = dict(zip(names, held, strict=True))
            chosen = all(place[name] == value for name, value in self.selection.items())
            found.append(tuple(place[axis] for axis in self.axes) if chosen else None)
        return found

    def slot(self, lane: int, index: int) -> Slot:
        """Where element `index` of a lane lies."""
        register, at = divmod(index, self.operand.per_register)
        low = at * self.operand.container
        return Slot(lane, register, low, low + self.operand.container - 1)

    def holders(self, place: Sequence[int]) -> list[Slot]:
        """Who holds an element: one slot, or one for each product of the warp.

        Raises:
            TilecError: if there is no such element.
        """
        index_of = self._index_of
        if len(place) != len(self.axes) or any(
            not 0 <= at < end for at, end in zip(place, self.extents, strict=True)
        ):
            written = ",".join(map(str, place))
            raise TilecError(
                f"no element {written} in operand {self.operand.name} of {self.form.ptx}: "
                f"it is {','.join(self.axes)} in {'×'.join(map(str, self.extents))}"
            )
        where = dict(zip(self.axes, place, strict=True)) | self.selection
        if self.products == 1:
            found = [index_of(**where)]
        else:
            found = [index_of(**where, product=product) for product in range(self.products)]
        return [self.slot(lane + LANES * sum(warp), index) for index, lane, *warp in found]

    def in_registers(self, lane: int, register: int | None) -> list[tuple[Slot, Place | None]]:
        """What a lane holds, in one register or in all.

        Raises:
            TilecError: if there is no such lane or register.
        """
        self._defined()
        threads, holder = self.operand.threads, self.holder
        if not 0 <= lane < threads:
            group = "warp" if threads <= LANES else "warpgroup"
            raise TilecError(f"no {holder} {lane}: a {group} has {holder}s 0 to {threads - 1}")
        last = self.operand.registers - 1
        if register is not None and not 0 <= register <= last:
            raise TilecError(
                f"no register {register} in operand {self.operand.name} of {self.form.ptx}: "
                f"each {holder} holds 0 to {last}"
            )
        slots = ((self.slot(lane, i), place) for i, place in enumerate(self.held(lane)))
        return [(s, place) for s, place in slots if register is None or s.register == register]

    def everything(self) -> Iterator[tuple[Slot, Place | None]]:
        """Every element of every lane."""
        for lane in range(self.operand.threads):
            yield from self.in_registers(lane, None)

    def json(self) -> dict[str, Any]:
        """The map as data: `lanes` lists each lane's elements low to high, null where ignored.

        Of what a warpgroup holds, `lanes` has a list for each of its threads.
        Metadata is listed by bits, `[row, bit]` for each bit of the register; scale factors
        by bytes, `[row or col, chunk]`.
        """
        metadata = self.operand.name == "e"
        return {
            "form": self.form.mnemonic() if self.form.a_kind else self.form.ptx,
            "shape": self.shape,
            "operand": self.operand.name,
            "type": types_of(self.form, self.operand.name)[0],
            "sparse": self.sparse,
            "bits": 1 if metadata else self.operand.container,
            "registers": self.operand.registers,
            "lanes": self.layout and [self._listed(n) for n in range(self.operand.threads)],
        }

    def _listed(self, lane: int) -> list[list[int] | None] | None:
        places = self.held(lane)
        if all(place is None for place in places):
            return None
        if self.operand.name == "e":
            width = self.operand.container
            return [[p[0], p[1] * width + b] if p else None for p in places for b in range(width)]
        if self.operand.name == "sfb":
            return [[p[1], p[0]] if p else None for p in places]
        return [list(p) if p else None for p in places]

    @cached_property
    def _index_of(self) -> Fragment:
        """Place -> (register, lane), or (register, lane, warp)."""
        return self._defined().left_inverse()

    def _defined(self) -> Fragment:
        """The layout; raises LayoutError if there is none, saying why."""
        return any_fragment_of(self.form, self.operand.name)
