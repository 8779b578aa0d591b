"""TLC's classes are mapped from an archive where a JVM can make one, and nothing depends on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hudi_conformance.verification.tla import class_archive, tlc
from hudi_conformance.verification.tla.class_archive import sharing_options
from hudi_conformance.verification.tla.manifest import Run
from hudi_conformance.verification.tla.tlc import run_tlc, tlc_jar

SPECS = Path(__file__).resolve().parents[2] / "specs" / "tla"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for what may be made again; what was made elsewhere is not remembered."""
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path))
    sharing_options.cache_clear()
    yield tmp_path
    sharing_options.cache_clear()


def true_time() -> Run:
    """A run that ends at once."""
    small = (("Generator", '"shared"'), ("MaxNow", "2"), ("Wait", "0"))
    return Run("a name", "TrueTime", "MCTrueTime.cfg", None, constants=small)


def test_the_archive_is_made_once_and_whole(cache: Path):
    """A second process finds it, and never a part of it."""
    options = sharing_options(tlc_jar())
    made = [path for path in cache.rglob("*") if path.is_file()]

    assert [f"-XX:SharedArchiveFile={made[0]}"] == list(options[1:])
    assert len(made) == 1
    sharing_options.cache_clear()
    before = made[0].stat().st_mtime_ns
    assert sharing_options(tlc_jar()) == options
    assert made[0].stat().st_mtime_ns == before


@pytest.mark.slow
def test_tlc_runs_alike_with_a_broken_archive(cache: Path):
    """What a JVM cannot map it does without."""
    accepted = run_tlc(SPECS, true_time())
    archive = next(cache.rglob("*.jsa"))
    archive.write_bytes(b"no archive")

    assert run_tlc(SPECS, true_time()).finding == accepted.finding


def test_tlc_runs_where_no_archive_can_be_made(cache: Path, monkeypatch: pytest.MonkeyPatch):
    """A Java without the tool for it says so by its exit code alone."""
    monkeypatch.setattr(class_archive, "_java", lambda *_: None)

    assert sharing_options(tlc.tlc_jar()) == ()
    assert run_tlc(SPECS, true_time()).fault is None
    assert not list(cache.rglob("*.jsa"))
