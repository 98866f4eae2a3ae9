"""A pack: written here, run with the simulator after a CUDA driver, its verdicts and its files.

What the GPU gives is compared with digests; a wrong digest, a wrong kernel and a driver that is too
old are told apart, and the first wrong element is named with its bits.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tilec.isa import form as find_form

FORMS = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    "ldmatrix.sync.aligned.m8n8.x2.trans.b16",
)
ELEMENTS = 2048


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from device_pack.write import write

    where = tmp_path_factory.mktemp("packs") / "pack"
    chosen = [find_form(name) for name in FORMS]
    write(
        where,
        "sm_90a",
        chosen=chosen,
        elements=ELEMENTS,
        kernels=[],
        suite=[],
        with_programs=False,
        jobs=1,
        say=lambda _: None,
    )
    return where


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "pack")


def run(folder, library, capsys, *more):
    from device_run.main import main

    out = folder / "results.json"
    status = main(folder, ["--sections", "forms", "--out", str(out), *more], library)
    return status, json.loads(out.read_text()), capsys.readouterr().out


def change(folder, edit):
    """Change the trials of all modules."""
    modules = json.loads((folder / "forms.json").read_text())
    for module in modules:
        for trial in module["trials"]:
            edit(module, trial)
    (folder / "forms.json").write_text(json.dumps(modules))


def test_all_forms_are_right(copied, library, capsys):
    status, document, said = run(copied, library, capsys)
    assert status == 0, said
    rows = document["rows"]
    assert [row["form"] for row in rows] == sorted(FORMS, key=[r["form"] for r in rows].index)
    for row in rows:
        assert row["wrong"] == []
        assert row["gpu"] == "Simulator"
        assert row["versions"]["cuda_driver"] == "13.0"
        # Kernels of all selectors together, normal numbers and any bits.
        assert row["elements"] >= ELEMENTS / 2
    assert f"{len(FORMS)} of {len(FORMS)} forms as simulated" in said
    assert library.allocated == 0


def test_a_wrong_element_is_named(copied, library, capsys):
    """A GPU that adds in another order: the same PTX, with operand A of another row."""
    text = next(copied.glob("forms/mma-8.0-0.ptx"))
    ptx = text.read_text()
    first = ptx.index("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    start, end = (ptx.index(c, first) for c in "{;")
    body = ptx[start:end]
    operands = [group.strip() for group in body.split("}")]
    a = operands[1].strip(", \n\t{").split(",")
    swapped = body.replace(operands[1], operands[1].replace(a[0], a[1], 1))
    broken = ptx[:start] + swapped + ptx[end:]

    class Broken(type(library)):
        """Loads the broken module in place of the right one."""

        def _cuModuleLoadDataEx(self, module, given, *rest):  # noqa: N802
            if given.value.decode() == ptx:
                given.value = broken.encode()
            return super()._cuModuleLoadDataEx(module, given, *rest)

    status, document, said = run(copied, Broken(), capsys)
    assert status == 1
    bad = [row for row in document["rows"] if row["wrong"]]
    assert [row["form"] for row in bad] == [FORMS[0]]
    normal = next(found for found in bad[0]["wrong"] if found["kind"] == "normal")
    # Rows 0 to 7 are those that a[0] holds.
    assert normal["cta"] == 0
    assert normal["element"] == 0
    a, b, c = (
        np.frombuffer(bytes.fromhex(normal["inputs"][n]), t)
        for n, t in zip("abc", ("f2", "f2", "f4"), strict=True)
    )
    product = a.reshape(16, 16)[0].astype(float) @ b.reshape(16, 8)[:, 0].astype(float) + c[0]
    want, got = (np.array(int(normal[n], 16), "u4").view("f4") for n in ("want", "got"))
    assert abs(want - product) < 1e-4
    assert abs(got - product) > 1e-4
    assert f"element 0: {normal['got']}, not {normal['want']}" in said


def test_a_digest_that_the_simulator_denies(copied, library, capsys):
    def edit(_, trial):
        if trial["form"] == FORMS[1]:
            trial["runs"][0]["digests"][-1] ^= 1

    change(copied, edit)
    status, document, said = run(copied, library, capsys)
    assert status == 1
    (bad,) = (row for row in document["rows"] if row["wrong"])
    assert bad["wrong"][0]["blocks"][0] == 1
    assert "not from the simulator beside the GPU" in said


def test_modules_too_new_for_the_driver(copied, library, capsys):
    library.driver = 12000  # takes PTX 8.0
    status, document, said = run(copied, library, capsys)
    assert status == 0
    left_out = {row["form"] for row in document["rows"] if "skipped" in row}
    assert left_out == {FORMS[3]}  # .sp::ordered_metadata came with 8.5
    assert "PTX 8.5 is newer than the driver's, CUDA 12.0" in said


def test_a_gpu_of_another_architecture(copied, library, capsys):
    from device_run.main import main

    library.target = "sm_80"
    assert main(copied, [], library) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: the pack is for sm_90a, and Simulator is an sm_80: ")


def test_another_stream_of_random_numbers(copied, library, capsys):
    about = json.loads((copied / "pack.json").read_text())
    about["pools"]["bits"] ^= 1
    (copied / "pack.json").write_text(json.dumps(about))
    status, document, _ = run(copied, library, capsys)
    assert status == 1
    assert "random numbers differ" in document["rows"][0]["failure"]


def test_out_of_memory_is_said_of_every_module(copied, library, capsys):
    library.faults["cuMemAlloc_v2"] = 2
    status, document, said = run(copied, library, capsys)
    assert status == 1
    modules = {path.stem for path in copied.glob("forms/*.ptx")}
    assert {row["failure"] for row in document["rows"]} == {
        f"{module}: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY" for module in modules
    }
    assert said.count("FAILED: ") == len(modules)
    assert library.allocated == 0


def test_time_is_kept(copied, library, capsys):
    status, document, said = run(copied, library, capsys, "--minutes", "0")
    assert status == 0
    assert {row["skipped"] for row in document["rows"]} == {"out of time"}
    modules = [path.stem for path in copied.glob("forms/*.ptx")]
    assert f"left out: {len(modules)}, the first: out of time" in said
    assert f"plan: 0 of {len(modules)} entries" in said
    assert f"no time for {len(modules)} of forms: " in said
    assert {one["entry"] for one in document["plan"]} == set(modules)


def test_the_command_without_a_driver(copied):
    """The pack's own tilec is what runs; without a driver one line says so."""
    code = (
        "import sys, runpy; sys.argv = ['run_device.py']\n"
        "try: runpy.run_path('run_device.py', run_name='__main__')\n"
        "finally:\n"
        "  import tilec, tilec.sim, tilec.runtime.cuda; print(tilec.__file__, tilec.sim.__file__)\n"
        "  print([m for m in sys.modules if 'mlir' in m or 'llvmlite' in m])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copied, capture_output=True, text=True, check=False
    )
    first, heavy = done.stdout.splitlines()
    assert first == f"{copied}/tilec/__init__.py {copied}/tilec/sim/__init__.py"
    assert heavy == "[]"
    if done.returncode:
        assert done.stderr.startswith("error: no CUDA driver")
        assert done.stderr.count("\n") == 1


ENTRIES = """
import json, os, sys, time
numbers = [int(n) for n in sys.argv[sys.argv.index("--entries") + 1].split(",")]
out = open(sys.argv[sys.argv.index("--out") + 1], "w")
def say(**line):
    print(json.dumps(line), file=out, flush=True)
for n in numbers:
    say(begin=n)
    say(row={"a": n}, entry=n)
    if n == 1:
        print('{"row": ', end="", file=out, flush=True)
        PROGRAM
    say(end=n, seconds=0.5)
"""
"""Stands for the pack's program: its second entry fails."""


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("raise SystemExit('error: a fault')", r"exit 1: error: a fault"),
        ("time.sleep(60)", r"ended after \d s without a word"),
        ("os.kill(os.getpid(), 9)", r"exit -9: "),
    ],
)
def test_an_entry_that_fails_takes_no_other_along(tmp_path, monkeypatch, program, failure):
    from device_run import entries
    from device_run.plan import Entry

    monkeypatch.setattr(entries, "PATIENCE", 1.5)
    (tmp_path / "run_device.py").write_text(ENTRIES.replace("PROGRAM", program))
    plan = [Entry("forms", name, 0, 0.0) for name in ("one", "two", "three")]
    plan.append(Entry("runtime", "last", 1, 0.0, alone=True))
    rows = {}
    lines = entries.run_apart(tmp_path, plan, range(4), 100.0, "forms,runtime")
    ended = [(entry.name, spent) for entry, spent in entries.collected(plan, lines, rows)]
    assert ended == [("one", 0.5), ("three", 0.5), ("last", 0.5)]
    (said,) = (row["failure"] for row in rows["forms"] if "failure" in row)
    assert re.match(f"two: {failure}", said)
    assert [row["a"] for row in rows["forms"] if "a" in row] == [0, 1, 2]
    assert rows["runtime"] == [{"a": 3}]
    assert [path.name for path in tmp_path.iterdir()] == ["run_device.py"]


def test_the_deadline_ends_a_process(tmp_path, monkeypatch):
    from device_run import entries
    from device_run.plan import Entry

    monkeypatch.setattr(entries, "GRACE", 0.5)
    (tmp_path / "run_device.py").write_text(ENTRIES.replace("PROGRAM", "time.sleep(60)"))
    plan = [Entry("forms", str(n), 0, 0.0) for n in range(3)]
    lines = list(entries.run_apart(tmp_path, plan, range(3), 0.5, "forms"))
    assert lines[-2]["row"]["failure"] == "1: ended after 1 s"
    assert lines[-1] == {"left_out": 2}


def test_a_process_that_does_not_start_is_told_once(tmp_path):
    from device_run import entries
    from device_run.plan import Entry

    (tmp_path / "run_device.py").write_text("raise SystemExit('no numpy')")
    plan = [Entry("forms", str(n), 0, 0.0) for n in range(3)]
    lines = list(entries.run_apart(tmp_path, plan, range(3), 9.0, "forms"))
    assert lines[0]["row"]["failure"] == "0: exit 1: no numpy\n"
    assert lines[1:] == [{"left_out": 1}, {"left_out": 2}]


def test_unknown_sections_are_refused(copied, library, capsys):
    from device_run.main import main

    with pytest.raises(SystemExit) as stopped:
        main(copied, ["--sections", "froms"], library)
    assert stopped.value.code == 2
    assert "unknown section 'froms'" in capsys.readouterr().err
