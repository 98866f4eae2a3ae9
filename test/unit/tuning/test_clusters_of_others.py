"""What docs/tuning.md says of dask-jobqueue and dask-kubernetes, where these are installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tuning.md"


def code(word: str) -> str:
    """The page's Python that has a word, up to what waits for a reader."""
    fences = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    (found,) = (one for one in fences if word in one)
    return str(found).partition("input(")[0]


def test_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of a job, by dask-jobqueue; the scheduler starts, on localhost and any port."""
    jobqueue = pytest.importorskip("dask_jobqueue", reason="no dask-jobqueue")
    pytest.importorskip("cryptography", reason="no cryptography, which makes certificates")
    from distributed import Security

    made = Security.temporary()
    for name, text in (("ca", made.tls_ca_file), ("cert", made.tls_client_cert)):
        (tmp_path / f"{name}.pem").write_text(text)
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobqueue.SLURMCluster, "scale", lambda *_, **__: None)
    names: dict[str, Any] = {}
    exec(code("SLURMCluster").replace('"ib0"', '"lo"').replace("8786", "0"), names)
    try:
        script = names["cluster"].job_script()
        assert "#SBATCH -t 04:00:00" in script
        assert "--nworkers 16" in script
        assert "--tls-ca-file ca.pem --tls-cert cert.pem --tls-key key.pem" in script
        assert names["cluster"].scheduler_address.startswith("tls://")
    finally:
        names["cluster"].close()


def test_kubernetes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resource that dask-kubernetes would create, without a cluster to create it in."""
    operator = pytest.importorskip("dask_kubernetes.operator", reason="no dask-kubernetes")
    given: dict[str, Any] = {}
    monkeypatch.setattr(operator, "KubeCluster", lambda **said: given.update(said))
    exec(code("KubeCluster"), {})
    spec = given["custom_cluster_spec"]
    assert spec["kind"] == "DaskCluster"
    assert spec["metadata"]["name"] == "tilec"
    (scheduler,) = spec["spec"]["scheduler"]["spec"]["containers"]
    (worker,) = spec["spec"]["worker"]["spec"]["containers"]
    assert scheduler["args"][:2] == ["dask", "scheduler"]
    assert worker["args"][:2] == ["dask", "worker"]
    assert spec["spec"]["worker"]["replicas"] == 32
