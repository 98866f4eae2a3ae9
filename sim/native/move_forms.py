"""Loads and stores in LLVM IR: moving the data of lanes that `access_forms` has located."""

from __future__ import annotations

from collections.abc import Iterator

from tilec.isa import LANES

from . import driver
from .access_forms import APART, PLAN, TOUCHES_NOTHING, AccessText
from .lanes import BYTES, LONGS, splat

_PART = 8
"""Lanes whose vectors are taken apart, or put together, at once."""
_FEW = 4
"""The same of lanes that do not follow each other."""


class MovingText(AccessText):
    """The text of a form's function, with moving the data."""

    def _from(self, cta: str, warp: str) -> tuple[str, str]:
        """The number of the warp whose offsets are a warp's, and the bytes that they count from."""
        one = self.is_("eq", self.load("%plan", 8 * PLAN.index("rows")), 1)
        row = self.value(f"select i1 {one}, i64 0, i64 {cta}")
        number = self.op("add", self.op("mul", row, "%warps"), warp)
        memory = self.state["memory"]
        if self.form.shared:
            own = self.op("add", self.state["base"], self.op("mul", cta, self.state["stride"]))
            memory = self.at(memory, own)
        return number, memory

    def _lane_offset(self, number: str, lane: str) -> str:
        """The offset of a lane of a warp whose lanes are apart."""
        thread = self.op("add", self.op("mul", number, LANES), lane)
        return self.load(self.state["offsets"], self.op("mul", thread, 8))

    def move_in(self) -> None:
        """Load."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        type_ = f"<{LANES} x {element}>"
        items = self.load("%outs", driver.ITEMS, "ptr")
        with self.loop(self.plan["outputs"]) as n:
            entry = self.at(self.plan["table"], self.op("mul", n, 8 * len(driver.OUTPUT)))
            array = self.load(items, self.op("mul", n, 8), "ptr")
            at = self.op("mul", driver.get(self, entry, "value"), 8)
            for name, value in (("out0", self.load(array, driver.DATA, "ptr")), ("entry0", entry)):
                place = self.at("%plan", self.op("add", at, 8 * PLAN.index(name)))
                self.store("ptr", value, place)
        ctas, warps, lanes = (self.plan[n] for n in ("of_ctas", "of_warps", "of_lanes"))
        outs = [
            tuple(
                self.load("%plan", 8 * PLAN.index(f"{name}{n}"), "ptr") for name in ("out", "entry")
            )
            for n in range(form.count)
        ]
        rooms = [self._room(type_) for _ in range(form.count)]
        with self.loop(ctas) as cta, self.loop(warps) as warp:
            number, memory = self._from(cta, warp)
            first = self.first(number)
            begin = self.op("mul", self.op("add", self.op("mul", cta, warps), warp), lanes)
            with self.when(self.is_("sge", first, 0)):
                self._load_whole(self.at(memory, first), rooms)
            with self.when(self.is_("slt", first, 0)):
                for room in rooms:
                    self.do(f"store {type_} zeroinitializer, ptr {room}")
            with self.when(self.is_("eq", first, APART)):
                every = self._every(number, lanes)
                with self.when(every):
                    self._load_apart(number, memory, rooms)
                with self.when(self.value(f"xor i1 {every}, true")), self.loop(lanes) as lane:
                    offset = self._lane_offset(number, lane)
                    at = self.op("mul", lane, bytes_)
                    with self.when(self.is_("sge", offset, 0)):
                        for element_number, room in enumerate(rooms):
                            here = self.op("add", offset, element_number * bytes_)
                            self.store(element, self.load(memory, here, element), room, at)
            for (out, entry), room in zip(outs, rooms, strict=True):
                with self.when(self.is_("ne", out, "null", "ptr")):
                    to = self.at(out, self.op("mul", begin, bytes_))
                    self._put_out(to, entry, room, (cta, warp, lanes))

    def _every(self, number: str, lanes: str) -> str:
        """Whether all lanes of a warp take part, whose lanes are apart."""
        active = self.lanes("icmp sge", LONGS, self.offsets(number), splat(0))
        return self.both(self.all(active), self.is_("eq", lanes, LANES))

    def _pieces(self, number: str, memory: str) -> Iterator[tuple[int, list[str]]]:
        """Where lanes access memory, some that follow each other at a time, with their first."""
        for lane in range(0, LANES, _FEW):
            offsets = [self._lane_offset(number, str(lane + n)) for n in range(_FEW)]
            yield lane, [self.at(memory, offset) for offset in offsets]

    def _load_apart(self, number: str, memory: str, rooms: list[str]) -> None:
        """Load what does not follow each other."""
        form = self.form
        bytes_, element, count = form.bits // 8, f"i{form.bits}", form.count
        one, two, four = (f"<{n * count} x {element}>" for n in (1, 2, 4))
        for lane, places in self._pieces(number, memory):
            found = [self.value(f"load {one}, ptr {at}, align {bytes_}") for at in places]
            pairs = [self._join(one, found[n], found[n + 1], 2 * count) for n in (0, 2)]
            whole = self._join(two, pairs[0], pairs[1], 4 * count)
            for n, room in enumerate(rooms):
                chosen = ", ".join(f"i32 {n + count * k}" for k in range(_FEW))
                part = self.value(
                    f"shufflevector {four} {whole}, {four} poison, <{_FEW} x i32> <{chosen}>"
                )
                to = self.at(room, lane * bytes_)
                self.do(f"store <{_FEW} x {element}> {part}, ptr {to}, align {bytes_}")

    def _store_apart(self, number: str, memory: str, values: list[str]) -> None:
        """Store what does not follow each other."""
        form = self.form
        bytes_, element, count = form.bits // 8, f"i{form.bits}", form.count
        part = f"<{_FEW} x {element}>"
        for lane, places in self._pieces(number, memory):
            parts = [
                self.value(f"load {part}, ptr {self.at(value, lane * bytes_)}, align {bytes_}")
                for value in values
            ]
            width = _FEW
            while len(parts) > 1:
                type_ = f"<{width} x {element}>"
                width *= 2
                parts = [
                    self._join(type_, parts[n], parts[n + 1], width)
                    for n in range(0, len(parts), 2)
                ]
            for n, to in enumerate(places):
                chosen = ", ".join(f"i32 {n + _FEW * k}" for k in range(count))
                type_ = f"<{width} x {element}>"
                one = self.value(
                    f"shufflevector {type_} {parts[0]}, {type_} poison, <{count} x i32> <{chosen}>"
                )
                self.do(f"store <{count} x {element}> {one}, ptr {to}, align {bytes_}")

    def _join(self, type_: str, a: str, b: str, width: int) -> str:
        """Two vectors, one after the other."""
        order = ", ".join(f"i32 {k}" for k in range(width))
        return self.value(f"shufflevector {type_} {a}, {type_} {b}, <{width} x i32> <{order}>")

    def _load_whole(self, from_: str, rooms: list[str]) -> None:
        """Load what follows each other."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        if form.count == 1:
            type_ = f"<{LANES} x {element}>"
            found = self.value(f"load {type_}, ptr {from_}, align {bytes_}")
            self.do(f"store {type_} {found}, ptr {rooms[0]}")
            return
        wide, part = f"<{_PART * form.count} x {element}>", f"<{_PART} x {element}>"
        for lane in range(0, LANES, _PART):
            at = self.at(from_, lane * form.size)
            found = self.value(f"load {wide}, ptr {at}, align {bytes_}")
            for n, room in enumerate(rooms):
                chosen = ", ".join(f"i32 {form.count * k + n}" for k in range(_PART))
                one = self.value(
                    f"shufflevector {wide} {found}, {wide} poison, <{_PART} x i32> <{chosen}>"
                )
                self.do(f"store {part} {one}, ptr {self.at(room, lane * bytes_)}, align {bytes_}")

    def _put_out(self, to: str, entry: str, room: str, where: tuple[str, str, str]) -> None:
        """Let registers have what has been loaded."""
        form, (cta, warp, lanes) = self.form, where
        bytes_, element = form.bits // 8, f"i{form.bits}"
        type_ = f"<{LANES} x {element}>"
        merged = self.is_("eq", driver.get(self, entry, "mode"), driver.MERGED)
        single = self.is_("ne", lanes, LANES)
        with self.when(single):
            self.store(element, self.load(room, 0, element), to)
        with self.when(self.value(f"xor i1 {self.value(f'or i1 {single}, {merged}')}, true")):
            value = self.value(f"load {type_}, ptr {room}")
            self.do(f"store {type_} {value}, ptr {to}, align {bytes_}")
        with self.when(merged):
            old = self._room(type_)
            before, stride = (
                driver.place_of(self, entry, cta, warp),
                driver.get(self, entry, "of_lane"),
            )
            copy = self.state[f"copy{bytes_}"]
            self.do(f"call void {copy}(ptr {old}, ptr {before}, i64 {stride})")
            taking = self._vector(1, 8, cta, warp)
            chosen = self.value(f"icmp ne {BYTES} {taking}, zeroinitializer")
            value, kept = (self.value(f"load {type_}, ptr {x}") for x in (room, old))
            both = self.select(chosen, type_, value, kept)
            self.do(f"store {type_} {both}, ptr {to}, align {bytes_}")

    def move_out(self) -> None:
        """Store; of several threads at one place the last one wins."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        keeps = self.is_("ne", self.state["values"], "null", "ptr")
        with self.loop("%ctas") as cta, self.loop("%warps") as warp:
            number, memory = self._from(cta, warp)
            first = self.first(number)
            with self.when(self.is_("ne", first, TOUCHES_NOTHING)):
                values = [self._gather(2 + n, form.bits, cta, warp) for n in range(form.count)]
                if form.checked and not form.shared:
                    own = self.op("add", self.op("mul", cta, "%warps"), warp)
                    with self.when(keeps):
                        self._keep(values, own)
                with self.when(self.is_("sge", first, 0)):
                    self._store_whole(self.at(memory, first), values)
                apart, some = self.is_("eq", first, APART), self.variable()
                with self.when(apart):
                    every = self._every(number, str(LANES))
                    with self.when(every):
                        self._store_apart(number, memory, values)
                    with self.when(self.value(f"xor i1 {every}, true")):
                        self.do(f"store i64 1, ptr {some}")
                with self.when(self.is_("ne", self.load(some), 0)), self.loop(LANES) as lane:
                    offset = self._lane_offset(number, lane)
                    with self.when(self.is_("sge", offset, 0)):
                        for n, value in enumerate(values):
                            one = self.load(value, self.op("mul", lane, bytes_), element)
                            here = self.op("add", offset, n * bytes_)
                            self.store(element, one, memory, here)

    def _keep(self, values: list[str], number: str) -> None:
        """Keep what a warp stores, element by element of all warps."""
        form = self.form
        bytes_, type_ = form.bits // 8, f"<{LANES} x i{form.bits}>"
        all_ = self.op("mul", self.op("mul", "%ctas", "%warps"), LANES * bytes_)
        own = self.op("mul", number, LANES * bytes_)
        for n, value in enumerate(values):
            at = self.op("add", self.op("mul", all_, n), own)
            found = self.value(f"load {type_}, ptr {value}, align {bytes_}")
            to = self.at(self.state["values"], at)
            self.do(f"store {type_} {found}, ptr {to}, align {bytes_}")

    def _store_whole(self, to: str, values: list[str]) -> None:
        """Store what follows each other."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        if form.count == 1:
            type_ = f"<{LANES} x {element}>"
            found = self.value(f"load {type_}, ptr {values[0]}, align {bytes_}")
            self.do(f"store {type_} {found}, ptr {to}, align {bytes_}")
            return
        part = f"<{_PART} x {element}>"
        for lane in range(0, LANES, _PART):
            parts = []
            for value in values:
                at = self.at(value, lane * bytes_)
                parts.append(self.value(f"load {part}, ptr {at}, align {bytes_}"))
            width = _PART
            while len(parts) > 1:
                half, type_ = len(parts) // 2, f"<{width} x {element}>"
                # Elements of the one and the other in turns: in the end they are in order.
                turns = ", ".join(f"i32 {k // 2 + width * (k % 2)}" for k in range(2 * width))
                parts = [
                    self.value(
                        f"shufflevector {type_} {parts[k]}, {type_} {parts[k + half]}, "
                        f"<{2 * width} x i32> <{turns}>"
                    )
                    for k in range(half)
                ]
                width *= 2
            at = self.at(to, lane * form.size)
            self.do(f"store <{width} x {element}> {parts[0]}, ptr {at}, align {bytes_}")
