"""Runs on a Dask cluster: the same report, and a lost worker loses nothing."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.fleet import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a scheduler with two workers of their own process each."""
    distributed = pytest.importorskip("distributed", reason="Dask is an extra")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        yield local.scheduler_address


def plans(folder: Path, count: int) -> list[str]:
    names = []
    for number in range(count):
        document = sample("fragment")
        apply_edits(document, {"/memory/reserve_bytes": 4096 + number})
        names.append(str(folder / f"plan-{number}.json"))
        Path(names[-1]).write_text(json.dumps(document))
    return [*names, str(folder / "missing.json")]


def audited(capsys: Any, *arguments: str) -> tuple[int, Any, str]:
    status = run(["audit", "--format", "json", *arguments])
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    for document in report["documents"]:
        document["timings"] = sorted(document["timings"])
    return status, report, shown.err


def test_the_report_is_the_same(tmp_path: Path, address: str, capsys: Any) -> None:
    files = plans(tmp_path, 8)
    assert audited(capsys, "--dask", address, *files) == audited(capsys, *files)


def _kill_once(marker: str) -> bool:
    if Path(marker).exists():
        return False
    Path(marker).write_text("")
    time.sleep(3)  # what is sent to this worker meanwhile is lost with it
    os._exit(1)


def test_a_worker_that_is_lost_loses_nothing(tmp_path: Path, address: str, capsys: Any) -> None:
    import distributed

    files = plans(tmp_path, 30)
    with distributed.Client(address) as client:
        killing = client.submit(_kill_once, str(tmp_path / "killed"))
        assert audited(capsys, "--dask", address, *files) == audited(capsys, *files)
        assert killing.result() is False
    assert (tmp_path / "killed").exists()


def test_without_dask_or_a_cluster_it_is_said(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file, _) = plans(tmp_path, 1)
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "distributed", None)
        assert run(["audit", "--dask", "tcp://127.0.0.1:1", file]) == 2
    assert cluster.MISSING in capsys.readouterr().err
    pytest.importorskip("distributed", reason="Dask is an extra")
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    assert run(["audit", "--dask", "tcp://127.0.0.1:1", file]) == 2
    assert "There is no Dask cluster at tcp://127.0.0.1:1" in capsys.readouterr().err
