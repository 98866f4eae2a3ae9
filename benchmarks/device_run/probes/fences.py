"""Where data are seen without a proxy fence: reads and writes of shared memory by both proxies.

PTX ISA 8.4, "Proxies". Each access is made many times with and without the fence, and what is read
is compared; a count of zero does not prove that the fence is not needed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..driver import Cuda
from .answer import Row
from .ptx import THREADS, Probe, module

ROUNDS = 2000
"""Of each CTA."""
CTAS_PER_SM = 2
_COLUMNS, _ROWS, _BOXES = 32, 128, 64
_BOX = 4 * _COLUMNS * _ROWS
_FENCE = "fence.proxy.async.shared::cta;"


class Case(NamedTuple):
    """A question, and the kernel that tries it.

    Attributes:
        question: in a few words.
        form: the instruction of the async proxy.
        text: PTX with the fence.
        without: PTX without it.
        loads: whether it takes a tensor map.
    """

    question: str
    form: str
    text: str
    without: str
    loads: bool


def cases() -> list[Case]:
    """What is tried."""
    load = "cp.async.bulk.tensor.2d.shared::cluster.global"
    return [
        Case(
            "generic reads of what TMA wrote",
            load,
            loads(after_wait=True, before_load=True),
            loads(after_wait=False, before_load=True),
            True,
        ),
        Case(
            "generic reads before TMA writes",
            load,
            loads(after_wait=True, before_load=True),
            loads(after_wait=True, before_load=False),
            True,
        ),
        Case(
            "generic writes after wgmma has read",
            _WGMMA,
            products(before=True, after=True),
            products(before=True, after=False),
            False,
        ),
        Case(
            "generic writes before wgmma reads",
            _WGMMA,
            products(before=True, after=True),
            products(before=False, after=True),
            False,
        ),
    ]


def loads(*, after_wait: bool, before_load: bool) -> str:
    """PTX that loads boxes into one place, and counts the words that threads read wrong.

    Thread 0 alone waits for the bytes; the others read after a barrier of the CTA.

    Args:
        after_wait: whether a fence stands between the wait and the reads.
        before_load: whether one stands between the reads and the next load.
    """
    words = [f"%w{n}" for n in range(4)]
    body = [
        f".shared .align 1024 .b8 image[{_BOX}];",
        ".shared .align 8 .b64 full;",
        ".reg .b64 %p, %map;",
        f".reg .b32 %lane, %at, %left, %phase, %box, %row, %want, %wrong, {', '.join(words)};",
        ".reg .pred %others, %done, %differs;",
        "mov.u32 %lane, %tid.x;",
        "setp.ne.u32 %others, %lane, 0;",
        "@%others bra ready;",
        "mbarrier.init.shared::cta.b64 [full], 1;",
        "ready:",
        _FENCE,
        "bar.sync 0;",
        "mov.b64 %map, map;",
        "cvta.param.u64 %map, %map;",
        "mov.u32 %wrong, 0;",
        "mov.u32 %phase, 0;",
        "mov.u32 %box, %ctaid.x;",
        "ld.param.u32 %left, [rounds];",
        "again:",
        f"and.b32 %box, %box, {_BOXES - 1};",
        f"mul.lo.u32 %row, %box, {_ROWS};",
        "@%others bra landed;",
        f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {_BOX};",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [image], [%map, {0, %row}], [full];",
        "poll:",
        "mbarrier.try_wait.parity.shared::cta.b64 %done, [full], %phase;",
        "@!%done bra poll;",
        "landed:",
        "bar.sync 0;",
        *([_FENCE] if after_wait else []),
        "mov.u32 %at, image;",
        "mad.lo.u32 %at, %lane, 16, %at;",
        f"mul.lo.u32 %want, %row, {_COLUMNS};",
        "mad.lo.u32 %want, %lane, 4, %want;",
    ]
    for first in range(0, _BOX, 16 * THREADS):
        body.append(f"ld.shared.v4.b32 {{{', '.join(words)}}}, [%at+{first}];")
        for word in words:
            body += [
                f"setp.ne.u32 %differs, {word}, %want;",
                "@%differs add.u32 %wrong, %wrong, 1;",
                "add.u32 %want, %want, 1;",
            ]
        body.append(f"add.u32 %want, %want, {4 * THREADS - 4};")
    body += [
        *([_FENCE] if before_load else []),
        "bar.sync 0;",
        "xor.b32 %phase, %phase, 1;",
        "add.u32 %box, %box, 7;",
        "sub.u32 %left, %left, 1;",
        "setp.ne.u32 %done, %left, 0;",
        "@%done bra again;",
        *_COUNTED,
    ]
    return module([".align 64 .b8 map[128]", ".u64 out", ".u32 rounds"], body)


_COUNTED = (
    "ld.param.u64 %p, [out];",
    "mov.u32 %at, %ctaid.x;",
    f"mad.lo.u32 %at, %at, {THREADS}, %lane;",
    "mad.wide.u32 %p, %at, 4, %p;",
    "st.global.b32 [%p], %wrong;",
)
"""Store the count of a thread."""

_WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
_A, _B = 64 * 32, 8 * 32


def products(*, before: bool, after: bool) -> str:
    """PTX that writes A anew each round, multiplies it by ones, and counts wrong results.

    Args:
        before: whether a fence stands between writes and the barrier before the product.
        after: whether one stands between the product's wait and the next writes.
    """
    d = [f"%d{n}" for n in range(4)]
    body = [
        f".shared .align 128 .b8 a[{_A}];",
        f".shared .align 128 .b8 b[{_B}];",
        f".reg .f32 {', '.join(d)}, %want;",
        ".reg .b64 %p, %of_a, %of_b;",
        ".reg .b32 %lane, %at, %to, %left, %one, %wrong;",
        ".reg .f16 %half;",
        ".reg .pred %done, %differs;",
        "mov.u32 %lane, %tid.x;",
        # B is ones; two halves a word, and 64 words.
        "and.b32 %at, %lane, 63;",
        "mov.u32 %to, b;",
        "mad.lo.u32 %to, %at, 4, %to;",
        "st.shared.b32 [%to], 0x3C003C00;",
        "mov.u32 %to, a;",
        "shr.u32 %at, %to, 4;",
        "cvt.u64.u32 %of_a, %at;",
        # Chunks of a row 1024 bytes apart, eight rows 128.
        f"or.b64 %of_a, %of_a, {64 << 16 | 8 << 32};",
        "mad.lo.u32 %to, %lane, 16, %to;",
        "mov.u32 %at, b;",
        "shr.u32 %at, %at, 4;",
        "cvt.u64.u32 %of_b, %at;",
        f"or.b64 %of_b, %of_b, {8 << 16 | 8 << 32};",
        "mov.u32 %wrong, 0;",
        "ld.param.u32 %left, [rounds];",
        "fence.proxy.async.shared::cta;",
        "again:",
        # A number below 64, so that sums of sixteen are exact.
        "and.b32 %at, %left, 63;",
        "cvt.rn.f16.u32 %half, %at;",
        "mov.b32 %one, {%half, %half};",
        "st.shared.v4.b32 [%to], {%one, %one, %one, %one};",
        *([_FENCE] if before else []),
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        f"{_WGMMA} {{{', '.join(d)}}}, %of_a, %of_b, 0, 1, 1, 0, 0;",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        *([_FENCE] if after else []),
        "bar.sync 0;",
        "shl.b32 %at, %at, 4;",
        "cvt.rn.f32.u32 %want, %at;",
    ]
    for register in d:
        body += [
            f"setp.neu.f32 %differs, {register}, %want;",
            "@%differs add.u32 %wrong, %wrong, 1;",
        ]
    body += [
        "sub.u32 %left, %left, 1;",
        "setp.ne.u32 %done, %left, 0;",
        "@%done bra again;",
        *_COUNTED,
    ]
    return module([".u64 out", ".u32 rounds"], body)


def probes(cuda: Cuda, target: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """A row for each question: how often what was read was wrong, with the fence and without."""
    if target != "sm_90a":
        return
    ctas = CTAS_PER_SM * cuda.limits["multiprocessors"]
    words = {True: _BOX // 4, False: 4 * THREADS}
    for case in cases():
        wrong = [_wrong(cuda, text, case.loads, ctas, rounds) for text in (case.text, case.without)]
        tried = words[case.loads] * ctas * rounds
        if wrong[0]:
            verdict = f"wrong even with a fence, {wrong[0]:,} of {tried:,} words"
        elif wrong[1]:
            verdict = f"the fence is needed: {wrong[1]:,} of {tried:,} words wrong without it"
        else:
            verdict = f"no difference without the fence in {tried:,} words"
        yield {
            "work": "probe",
            "question": case.question,
            "form": case.form,
            "verdict": verdict,
            "wrong": {"with the fence": wrong[0], "without": wrong[1]},
            "words": tried,
            "says": f"{case.question} ({case.form}): {verdict}",
        }


def _wrong(cuda: Cuda, text: str, loads_: bool, ctas: int, rounds: int) -> int:
    probe = Probe(cuda, text)
    counts = np.zeros((ctas, THREADS), np.uint32)
    out = probe.given(counts)
    values = [out, ctypes.c_uint32(rounds)]
    if loads_:
        array = np.arange(_BOXES * _ROWS * _COLUMNS, dtype=np.uint32).reshape(-1, _COLUMNS)
        described = {
            "type": "i32",
            "shape": list(array.shape),
            "strides": list(array.strides),
            "box": [_ROWS, _COLUMNS],
            "swizzle": "none",
        }
        values.insert(0, cuda.tensor_map(described, probe.given(array)))
    probe.launch(ctas, values)
    found = int(probe.result(out, counts).sum())
    probe.close()
    return found
