"""Whole kernels in a pack: right as simulated, and a wrong or changing result is told."""

from __future__ import annotations

from itertools import islice

import pytest


class Pack:
    """A pack in memory."""

    target = "sm_90a"

    def __init__(self, pairs):
        from device_run.programs import described

        self.fields = [described(program) for program, _ in pairs]
        self.texts = {program.file: ptx for program, ptx in pairs}

    def read(self, name):
        return self.fields

    def text(self, name):
        return self.texts[name]


@pytest.fixture(scope="module")
def pairs():
    """Of the examples `mma` and `warp_gemm`."""
    from device_pack.programs import programs

    return list(islice(programs("sm_90a"), 2))


def test_examples_are_right(cuda, library, pairs):
    from device_run.programs import run

    rows = list(run(cuda, Pack(pairs)))
    assert [row["program"] for row in rows] == ["mma", "warp_gemm"]
    assert [row["wrong"] for row in rows] == [[], []]
    assert library.allocated == 0


def test_a_wrong_kernel_is_told(cuda, library, pairs):
    """The GPU is given bf16's instruction in place of f16's."""
    from device_run.programs import run

    load = library._cuModuleLoadDataEx

    def loading(module, text, *rest):
        text.value = text.value.replace(b".f32.f16.f16.f32", b".f32.bf16.bf16.f32")
        return load(module, text, *rest)

    library._cuModuleLoadDataEx = loading
    (row,) = run(cuda, Pack(pairs[:1]))
    (wrong,) = row["wrong"]
    assert wrong["message"].startswith("mma: 128 of 128 elements differ; first: element 0: 0x")
    assert wrong["elements"] == list(range(64))


def test_a_result_that_changes_is_told(cuda, library, pairs):
    from device_run.programs import REPEATS, run

    launch = library._cuLaunchKernel
    runs = []

    def racing(*arguments):
        status = launch(*arguments)
        runs.append(1)
        if len(runs) == 3:
            result = max(library._arrays)  # the last that was allocated: D
            library._arrays[result][4] ^= 1
        return status

    library._cuLaunchKernel = racing
    (row, right) = run(cuda, Pack(pairs))
    assert f"{REPEATS} runs gave 2 results" in row["wrong"][0]["message"]
    assert "1 of 128 elements differ" in row["wrong"][0]["message"]
    assert "first: element 1: " in row["wrong"][0]["message"]
    assert row["wrong"][0]["elements"] == [1]
    assert right["wrong"] == []
