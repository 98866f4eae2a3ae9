"""An assembler that hangs, dies, lies or cannot be run is an error, and leaves nothing after."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tilec.backend import cubin, external_tools
from tilec.backend.cubin import AssemblerError, assemble, disassemble, tools
from tilec.isa import target

PTX = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
ANSWERS = """\
#!/bin/sh
echo "$1" >> {folder}/asked
case "$1" in
--version) echo "release 99.0, V99.0.1"; exit;;
--help) echo "'sm_80'"; exit;;
esac
for last; do :; done
{work}
"""
WORK = {
    "hangs": ("sleep 600", "did not finish within 1 s"),
    "hangs with children": ("sleep 600 & sleep 600 & wait", "did not finish within 1 s"),
    "is killed": ("kill -9 $$", "was ended by SIGKILL"),
    "crashes": ("kill -SEGV $$", "was ended by SIGSEGV"),
    "gives nothing": ("exit 0", "gave 0 bytes, which are not a cubin"),
    "gives a text": ("echo 'no cubin is of these words, though they are long enough' > $last; "
                     "echo 'no cubin is of these words' >> $last", "a file that is not a cubin"),
    "gives another's": ("cat /bin/sh > $last", "a file that is not a cubin"),
    "gives a part": ("cat {folder}/part > $last", "a cubin that is cut off after"),
    "refuses without a word": ("exit 3", "exit code 3"),
    "says no text": ("printf '\\377\\376' >&2; exit 1", "ptxas rejects the module"),
}  # fmt: skip


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forgets the tools that were found."""
    for one in (cubin.tools, cubin._known):
        one.cache_clear()
    yield
    for one in (cubin.tools, cubin._known):
        one.cache_clear()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh: None) -> Callable[..., Path]:
    """Puts a tool on PATH, alone."""
    real = tools("ptxas")
    part = assemble(PTX, target("sm_80")).cubin[:200] if real else b""
    for one in (cubin.tools, cubin._known):
        one.cache_clear()
    (tmp_path / "part").write_bytes(part)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(cubin, "find_spec", lambda _: None)
    monkeypatch.setattr(external_tools, "PATIENCE", 1.0)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()

    def make(work: str, name: str = "ptxas", text: str = ANSWERS) -> Path:
        path = tmp_path / name
        path.write_text(text.format(folder=tmp_path, work=work.format(folder=tmp_path)))
        path.chmod(0o755)
        return path

    return make


@pytest.mark.parametrize("name", WORK)
def test_what_an_assembler_may_do(name: str, install: Callable[..., Path], tmp_path: Path) -> None:
    work, message = WORK[name]
    if name == "gives a part" and not (tmp_path / "part").stat().st_size:
        pytest.skip("no ptxas to make a cubin")
    install(work)
    start = time.monotonic()
    with pytest.raises(AssemblerError) as caught:
        assemble(PTX, target("sm_80"))
    assert message in str(caught.value)
    assert time.monotonic() - start < 30
    assert list((tmp_path / "tmp").iterdir()) == []


def test_version_is_asked_once(install: Callable[..., Path], tmp_path: Path) -> None:
    install("exit 3")
    for _ in range(3):
        with pytest.raises(AssemblerError):
            assemble(PTX, target("sm_80"))
    asked = (tmp_path / "asked").read_text().split()
    assert asked.count("--version") == 1
    assert asked.count("--help") == 1


@pytest.mark.parametrize("text", ["no program", "#!/no/such/interpreter\n", ""])
def test_what_cannot_be_run_is_not_installed(text: str, install: Callable[..., Path]) -> None:
    install("", text=text)
    with pytest.raises(AssemblerError, match="ptxas is not installed"):
        assemble(PTX, target("sm_80"))


def test_a_tool_that_does_not_answer_is_not_installed(
    install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cubin, "ANSWERS_WITHIN", 0.5)
    install("", text="#!/bin/sh\nsleep 600\n")
    with pytest.raises(AssemblerError, match="ptxas is not installed"):
        assemble(PTX, target("sm_80"))


def test_a_disassembler_that_hangs_is_ended(install: Callable[..., Path]) -> None:
    install("sleep 600", name="nvdisasm")
    with pytest.raises(AssemblerError, match="nvdisasm did not finish within 1 s"):
        disassemble(b"cubin")


def test_children_end_with_the_tool(install: Callable[..., Path], tmp_path: Path) -> None:
    install("sleep 600 & echo $! > {folder}/child; wait")
    with pytest.raises(AssemblerError, match="did not finish"):
        assemble(PTX, target("sm_80"))
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        if _state(child) == "Z":  # it has ended, and nobody has asked yet how
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the assembler's child goes on")


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
