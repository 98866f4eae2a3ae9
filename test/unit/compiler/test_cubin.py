"""ptxas and nvdisasm: which one is taken, for which target, and what they report."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tilec.backend import cubin
from tilec.backend.cubin import AssemblerError, assemble, disassemble, find_ptxas
from tilec.isa import TARGETS, target

PTX = """.version {version}
.target {target}
.address_size 64
.visible .entry one(.param .u64 p) {{ .shared .align 4 .b8 s[1024]; .reg .b32 r; .reg .b64 q;
  ld.param.u64 q, [p]; ld.shared.u32 r, [s]; st.global.u32 [q], r; bar.sync 0; ret; }}
.visible .entry two() {{ ret; }}
"""


@pytest.fixture
def fresh() -> Iterator[None]:
    """Tools looked for again, before and after."""
    cubin.tools.cache_clear()
    yield
    cubin.tools.cache_clear()


def test_resources() -> None:
    made = assemble(PTX.format(version="7.0", target="sm_80"), target("sm_80"))
    assert made.cubin[:4] == b"\x7fELF"
    assert set(made.resources) == {"one", "two"}
    one = made.resources["one"]
    assert one.static_shared == 1024
    assert one.registers >= 4
    assert one.spill_stores == one.spill_loads == one.stack == 0


@pytest.mark.skipif(not cubin.tools("nvdisasm"), reason="there is no nvdisasm")
def test_machine_code() -> None:
    made = assemble(PTX.format(version="7.0", target="sm_80"), target("sm_80"))
    assert "BAR.SYNC" in disassemble(made.cubin)


def test_spills_are_reported() -> None:
    count = 64
    body = "".join(f"ld.volatile.global.u32 r{i}, [q+{4 * i}];\n" for i in range(count))
    body += "".join(f"st.volatile.global.u32 [q+{4 * i}], r{i};\n" for i in reversed(range(count)))
    registers = "".join(f".reg .b32 r{i};\n" for i in range(count))
    text = (
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) .maxnreg 24 {\n.reg .b64 q;\n"
        f"{registers}ld.param.u64 q, [p];\n{body}ret;\n}}\n"
    )
    used = assemble(text, target("sm_80")).resources["k"]
    assert used.spill_stores > 0
    assert used.spill_loads > 0
    assert used.stack > 0


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_is_assembled(name: str) -> None:
    version = max(TARGETS[name].min_ptx, TARGETS["sm_75"].min_ptx)
    assemble(PTX.format(version=version, target=name), target(name))


def test_refusal_is_quoted() -> None:
    text = PTX.format(version="7.0", target="sm_80").replace("bar.sync 0", "bar.sinc 0")
    with pytest.raises(AssemblerError, match=r"ptxas rejects the module:\n.*module.ptx, line 5"):
        assemble(text, target("sm_80"))


@pytest.mark.usefixtures("fresh")
def test_nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(cubin, "find_spec", lambda _: None)
    with pytest.raises(AssemblerError, match="pip install nvidia-cuda-nvcc"):
        find_ptxas(target("sm_80"))
    with pytest.raises(AssemblerError, match="pip install nvidia-cuda-nvdisasm"):
        disassemble(b"")


@pytest.mark.usefixtures("fresh")
def test_newest_that_knows_the_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two assemblers, the newer without the older target's successor."""

    def install(folder: str, release: str, *architectures: str) -> str:
        path = tmp_path / folder / "ptxas"
        path.parent.mkdir(parents=True)
        listed = ",".join(f"'{a}'" for a in architectures)
        path.write_text(
            f'#!{shutil.which("sh")}\nif [ "$1" = --version ]; then\n'
            f'echo "Cuda compilation tools, release {release}, V{release}.1"\nelse\n'
            f'echo "Allowed values: {listed}"\nfi\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    old = install("path", "12.9", "sm_70", "sm_90", "sm_90a", "sm_101a")
    new = install("nvidia/cu/bin", "13.5", "sm_75", "sm_90", "sm_110a", "sm_120f")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))

    class Spec:
        submodule_search_locations = (str(tmp_path / "nvidia"),)

    monkeypatch.setattr(cubin, "find_spec", lambda _: Spec)

    def chosen(name: str) -> tuple[str, str]:
        tool, architecture = find_ptxas(target(name))
        return tool.path, architecture

    assert chosen("sm_90") == (new, "sm_90")
    assert chosen("sm_90a") == (old, "sm_90a")
    assert chosen("sm_70") == (new, "sm_75")
    assert chosen("sm_101a") == (new, "sm_110a")
    with pytest.raises(
        AssemblerError, match=r"no installed ptxas knows sm_100a; the newest is 13.5"
    ):
        find_ptxas(target("sm_100a"))
