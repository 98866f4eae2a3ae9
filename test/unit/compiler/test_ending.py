"""A command that is told to end does, whatever it is at, and leaves nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import itertools, os, sys
from tilec.ending import end_on_signals, undone
end_on_signals()
def work():
    print("works", flush=True)
    sum(itertools.repeat(0, 10**15))  # as a library that asks Python nothing
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def told(code: str, number: int, *words: str) -> int:
    """How a process ends that is told to once it says that it works."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, *words], stdout=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    assert process.stdout.readline() == "works\n"
    process.send_signal(number)
    try:
        process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode


@pytest.mark.parametrize("number", SIGNALS)
def test_amid_a_library(number: int) -> None:
    assert told("work()", number) == -number


@pytest.mark.parametrize("number", SIGNALS)
def test_what_is_to_be_undone_is(number: int, tmp_path: Path) -> None:
    file = tmp_path / "half"
    code = (
        "file = sys.argv[1]\n"
        "open(file, 'w').close()\n"
        "with undone(lambda: os.unlink(file)):\n"
        "    print('works', flush=True)\n"
        "    import time; time.sleep(100)\n"
    )
    assert told(code, number, str(file)) == 128 + number
    assert not file.exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_amid_a_library_behind_what_was_undone(number: int) -> None:
    assert told("with undone(print): pass\nwork()", number) == -number


STOPPING = """
import tempfile, time
from pathlib import Path
tempfile.tempdir = sys.argv[1]
def stopping(function):
    def call(*given, **options):
        function(*given, **options)
        print("works", flush=True)
        time.sleep(100)
    return call
"""
MADE = {
    "a folder": (
        "from tilec.tools.files import made_folder as do\nPath.mkdir = stopping(Path.mkdir)\n"
    ),
    "a reproducer": (
        "from tilec.report.reproducer import reproducible\n"
        "do = lambda path: reproducible(path, str)\nPath.write_text = stopping(Path.write_text)\n"
    ),
    "what a reduction tries": (
        "from tilec.reduction.interest import Command\n"
        "do = lambda _: Command(['true'])('text')\nPath.write_text = stopping(Path.write_text)\n"
    ),
}


@pytest.mark.parametrize("what", MADE)
def test_what_was_just_made_goes(what: str, tmp_path: Path) -> None:
    code = STOPPING + MADE[what] + "with do(os.path.join(sys.argv[1], 'made')): pass"
    assert told(code, signal.SIGTERM, str(tmp_path)) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())
