"""Where DynamoDBLocal comes from: only the recorded bytes are ever run, and what cannot be had is reported."""

from pathlib import Path

import pytest
from hudi_conformance.apache import dynamodb_local as fetching
from hudi_conformance.apache.bundles import BundleUnavailableError
from hudi_conformance.apache.dynamodb_local import Released, dynamodb_local, missing_dynamodb_local, released


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache with nothing in it."""
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path / "cache"))


def test_files_with_other_bytes_are_removed_and_refused():
    """One byte of one file is enough."""
    folder = released().folder
    folder.mkdir(parents=True)
    (folder / "DynamoDBLocal.jar").write_bytes(b"another server")
    with pytest.raises(BundleUnavailableError, match="sha256"):
        dynamodb_local()
    assert not folder.exists()


def test_a_failed_download_reports_the_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """And leaves nothing."""
    monkeypatch.setattr(fetching, "released", lambda: Released("no.such.group:nothing:9", "0" * 64))
    monkeypatch.setattr(fetching, "_ivy", lambda _: ["sh", "-c", "echo no network; exit 1"])
    assert missing_dynamodb_local() == "no.such.group:nothing:9 could not be fetched:\nno network"
    assert list((tmp_path / "cache").iterdir()) == []
