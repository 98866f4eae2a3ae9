"""Random programs of products of a warpgroup, right as the ISA orders them.

Several accumulators are in flight at once; loops carry them, also in flight, branches hold some of
the products. What fences and waits give back is known as it is written down, apart from tilec.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_FORM = '{form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D'
_HEAD = """!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @k(%ma: memref<64x64xf16>, %mb: memref<8x64xf16>, %out: memref<?x8xf32>, %way: i32)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %true = arith.constant true
    %zero_32 = arith.constant 0 : i32
    %cond = arith.cmpi ne, %way, %zero_32 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    tile.async_copy %ma[%c0, %c0] to %a[%c0, %c0] shape [64, 64] {vector = 8}
        : memref<64x64xf16> to !A
    tile.async_copy %mb[%c0, %c0] to %b[%c0, %c0] shape [8, 64] {vector = 8}
        : memref<8x64xf16> to !B
    tile.async_commit
    tile.async_wait 0
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
"""

SPARE = " // spare"
"""After a fence beside which another does the same."""


@dataclass
class Accumulator:
    """An accumulator.

    Attributes:
        value: its present name.
        age: groups closed since the last product in it; None if none is in flight.
    """

    value: str
    age: int | None = None


@dataclass
class Writer:
    """Writes a program.

    Attributes:
        random: what decides.
        lines: so far.
        accumulators: those that there are.
    """

    random: random.Random
    lines: list[str] = field(default_factory=list)
    accumulators: list[Accumulator] = field(default_factory=list)
    names: int = 0

    def name(self) -> str:
        """A new value."""
        self.names += 1
        return f"%v{self.names}"

    def fence(self, one: Accumulator, remark: str = "") -> None:
        """A fence of an accumulator."""
        fenced = self.name()
        self.lines.append(f"{fenced} = tile.wgmma_fence {one.value} : !D{remark}")
        one.value = fenced

    def product(self, one: Accumulator) -> None:
        """A product, after a fence where one is needed, and at times a spare one."""
        if one.age is None:
            spare = self.random.random() < 0.2
            for _ in range(1 + spare):
                self.fence(one, SPARE * spare)
        at = self.random.choice(("%c0", "%c16", "%c32", "%c48"))
        result = self.name()
        self.lines.append(
            f"{result} = tile.wgmma %a[%c0, {at}], %b[%c0, {at}], {one.value} if %true {_FORM}"
        )
        one.value, one.age = result, 0

    def commit(self) -> None:
        """Close the group."""
        self.lines.append("tile.wgmma_commit")
        for one in self.accumulators:
            if one.age is not None:
                one.age += 1

    def wait(self, pending: int) -> None:
        """Wait, and take back what it covers."""
        done = [a for a in self.accumulators if a.age is not None and a.age > pending]
        if not done:
            return
        names = [self.name() for _ in done]
        given = ", ".join(one.value for one in done)
        types = ", ".join("!D" for _ in done)
        self.lines.append(f"{', '.join(names)} = tile.wgmma_wait {pending} {given} : {types}")
        for one, name in zip(done, names, strict=True):
            one.value, one.age = name, None

    def settle(self) -> None:
        """Let nothing be in flight."""
        if any(one.age == 0 for one in self.accumulators):
            self.commit()
        self.wait(0)

    def steps(self, count: int) -> None:
        """Some products, groups and waits."""
        for _ in range(count):
            self.product(self.random.choice(self.accumulators))
            if self.random.random() < 0.7:
                self.commit()
            if self.random.random() < 0.4:
                self.wait(self.random.choice((0, 1)))

    def loop(self) -> None:
        """A loop that carries all accumulators, at rest or one of them in flight."""
        flight = self.random.random() < 0.5
        self.settle()
        if flight:  # turns: who is awaited in a round was issued in the round before
            self.product(self.accumulators[0])
            self.commit()
        starts = [one.value for one in self.accumulators]
        arguments = [self.name() for _ in starts]
        results = [self.name() for _ in starts]
        carried = ", ".join(f"{a} = {s}" for a, s in zip(arguments, starts, strict=True))
        types = ", ".join("!D" for _ in starts)
        self.lines.append(
            f"{', '.join(results)} = scf.for %i{results[0][1:]} = %c0 to %c3 step %c1 "
            f"iter_args({carried}) -> ({types}) {{"
        )
        for one, argument in zip(self.accumulators, arguments, strict=True):
            one.value = argument
        if flight:
            if len(self.accumulators) > 1:
                self.accumulators.append(self.accumulators.pop(0))
                self.product(self.accumulators[0])
                self.commit()
                self.wait(1)
            else:
                self.product(self.accumulators[0])
                self.commit()
        else:
            self.steps(self.random.randint(1, 3))
            self.settle()
        self.lines.append(f"scf.yield {', '.join(a.value for a in self.accumulators)} : {types}")
        self.lines.append("}")
        for one, result in zip(self.accumulators, results, strict=True):
            one.value = result

    def branch(self) -> None:
        """A product on one way, or on both, and perhaps its wait."""
        self.settle()
        one = self.random.choice(self.accumulators)
        before, result = one.value, self.name()
        self.lines.append(f"{result} = scf.if %cond -> (!D) {{")
        self.product(one)
        self.commit()
        self.wait(0)
        self.lines += [f"scf.yield {one.value} : !D", "} else {"]
        one.value = before
        if self.random.random() < 0.5:
            self.product(one)
            self.commit()
            self.wait(0)
        self.lines += [f"scf.yield {one.value} : !D", "}"]
        one.value, one.age = result, None


def chained() -> list[str]:
    """A loop of products in one accumulator, each round awaited."""
    writer = Writer(random.Random(0))
    writer.lines.append("%v0 = tile.accumulator : !D")
    writer.accumulators.append(one := Accumulator("%r"))
    writer.lines.append("%d = scf.for %i = %c0 to %c3 step %c1 iter_args(%r = %v0) -> (!D) {")
    writer.fence(one)
    one.age = 0
    writer.product(one)
    writer.product(one)
    writer.settle()
    writer.lines += [f"scf.yield {one.value} : !D", "}"]
    one.value = "%d"
    return _finished(writer)


def program(seed: int) -> list[str]:
    """The lines of a program, which is right."""
    writer = Writer(random.Random(seed))
    for _ in range(writer.random.randint(1, 3)):
        name = writer.name()
        writer.lines.append(f"{name} = tile.accumulator : !D")
        writer.accumulators.append(Accumulator(name))
    for _ in range(writer.random.randint(2, 3)):
        writer.random.choice((lambda: writer.steps(2), writer.loop, writer.branch))()
    writer.settle()
    return _finished(writer)


def _finished(writer: Writer) -> list[str]:
    """The program around what a writer wrote, which stores the accumulators."""
    writer.lines += [
        "%thread = gpu.thread_id x",
        "%warp = arith.shrui %thread, %c5 : index",
    ]
    for number, one in enumerate(writer.accumulators):
        first = 64 * number
        writer.lines += [
            f"%first{number} = arith.constant {first} : index",
            f"%sixteen{number} = arith.muli %warp, %c16 : index",
            f"%row{number} = arith.addi %first{number}, %sixteen{number} : index",
            f"%part{number} = tile.warp_part {one.value} column 0 : !D -> !P",
            f"tile.store %part{number}, %out[%row{number}, %c0] : !P, memref<?x8xf32>",
        ]
    return [*_HEAD.splitlines(), *writer.lines, "gpu.return", "}", "}"]


def without(lines: list[str], number: int) -> list[str]:
    """A program without the fence or the wait on a line: what it gave back is what it took."""
    results, _, given = lines[number].partition(" = ")
    values = [word.strip(",") for word in given.partition(" :")[0].split() if word[0] == "%"]
    renamed = dict(zip(results.split(", "), values, strict=True))
    kept = [*lines[:number], *lines[number + 1 :]]
    return [_renamed(line, renamed) for line in kept]


def _renamed(line: str, names: dict[str, str]) -> str:
    words = line.replace(",", " ,").replace(")", " )").replace("(", "( ").split(" ")
    text = " ".join(names.get(word, word) for word in words)
    return text.replace(" ,", ",").replace(" )", ")").replace("( ", "(")


def two_at_once(threads: int, columns: int) -> str:
    """Two accumulators of so many columns in flight at once, both of which are stored."""
    name = f"m64n{columns}k16"
    form = f'{{form = "wgmma.mma_async.sync.aligned.{name}.f32.f16.f16.a::descriptor"}}'
    lines = [
        '!A = memref<64x64xf16, #tile.shared<"128B">>',
        '!B = memref<256x64xf16, #tile.shared<"128B">>',
        f'!D = !tile.frag<tensor<64x{columns}xf32>, #tile.layout<"{name} d f32">>',
        '!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>',
        'gpu.module @m [#nvvm.target<chip = "sm_90a">] {',
        "gpu.func @k(%out: memref<?x8xf32>) kernel attributes "
        f"{{known_block_size = array<i32: {threads}, 1, 1>}} {{",
        "%a = tile.alloc_shared : !A",
        "%b = tile.alloc_shared : !B",
        "%true = arith.constant true",
        "%c0 = arith.constant 0 : index",
        "%thread = gpu.thread_id x",
        "%c5 = arith.constant 5 : index",
        "%row = arith.shrui %thread, %c5 : index",
    ]
    for n in "12":
        lines += [f"%z{n} = tile.accumulator : !D", f"%f{n} = tile.wgmma_fence %z{n} : !D"]
    for n in "12":
        lines.append(
            f"%d{n} = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f{n} if %true {form} : !A, !B, !D"
        )
    lines += ["tile.wgmma_commit", "%w1, %w2 = tile.wgmma_wait 0 %d1, %d2 : !D, !D"]
    for n in "12":
        for at in range(0, columns, 8):
            lines += [
                f"%p{n}_{at} = tile.warp_part %w{n} column {at} : !D -> !P",
                f"tile.store %p{n}_{at}, %out[%row, %c0] : !P, memref<?x8xf32>",
            ]
    return "\n".join([*lines, "gpu.return", "}", "}"])
