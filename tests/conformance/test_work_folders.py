"""Where a run's tables lie: in memory where there is enough of it, never where somebody said otherwise."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hudi_conformance.runner import work_folders
from hudi_conformance.runner.work_folders import work_folder


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that counts as memory, and nobody who has said where temporary files go."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(work_folders, "_MEMORY", tmp_path)
    return tmp_path


def _offering(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(work_folders.os, "statvfs", lambda _: SimpleNamespace(f_bavail=size, f_frsize=1))


def test_a_run_works_in_memory_and_leaves_nothing_there(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offering(monkeypatch, 4 << 30)
    with work_folder("run-") as folder:
        assert Path(folder).parent == memory
        Path(folder, "table").mkdir()
    assert list(memory.iterdir()) == []


def test_the_little_memory_of_a_container_is_left_alone(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offering(monkeypatch, 64 << 20)
    with work_folder("run-") as folder:
        assert Path(folder).parent != memory


def test_who_says_where_temporary_files_go_is_obeyed(
    memory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _offering(monkeypatch, 4 << 30)
    configured = tmp_path_factory.mktemp("configured")
    monkeypatch.setenv("TMPDIR", str(configured))
    with work_folder("run-") as folder:
        assert Path(folder).parent != memory


def test_a_machine_without_such_a_folder_has_the_usual_one(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_folders, "_MEMORY", memory / "absent")
    with work_folder("run-") as folder:
        assert Path(folder).is_dir()
