"""What was read of a file counts as long as it is that file, unchanged, or one with the same bytes at the same path.

A table counts as long as nothing below its folder changes.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_conformance.bridge.remembering import Remembered, RememberedTables, reading_anew
from hudi_format.storage import LocalStorage, Storage

NAME = "a/one.commit"


class Reader:
    """Reports what a file holds, and counts the reads."""

    def __init__(self) -> None:
        self.reads = 0
        self.remembered = Remembered(self.read)

    def read(self, storage: Storage, path: str) -> bytes:
        """The bytes."""
        self.reads += 1
        return storage.read(path)


def stored(folder: Path, data: bytes) -> LocalStorage:
    """A folder with one file."""
    storage = LocalStorage(folder)
    storage.put(NAME, data)
    return storage


def test_a_copy_is_read_once(tmp_path: Path):
    """Two copies of a table share what was made of their files, one after the other and in turn."""
    reader, one, two = Reader(), stored(tmp_path / "1", b"x"), stored(tmp_path / "2", b"x")

    assert [reader.remembered(storage, NAME) for storage in (one, one, two, one)] == [b"x"] * 4
    assert reader.reads == 1


def test_what_was_put_meanwhile_is_read(tmp_path: Path):
    """Also where it has the length of what was there, and where it is what was there before that."""
    reader, one = Reader(), stored(tmp_path / "1", b"x")
    for data in (b"x", b"y", b"x"):
        one.put(NAME, data)
        assert reader.remembered(one, NAME) == data

    assert reader.reads == 2


def test_a_file_swapped_while_it_is_read_is_not_kept(tmp_path: Path):
    """The bytes that were looked at may not be those that were read."""
    one, two = stored(tmp_path / "1", b"x"), stored(tmp_path / "2", b"x")

    class Swapping(Reader):
        def read(self, storage: Storage, path: str) -> bytes:
            """Another writer is quicker."""
            if not self.reads:
                one.put(NAME, b"y")
            return super().read(storage, path)

    reader = Swapping()

    assert [reader.remembered(storage, NAME) for storage in (one, one, two)] == [b"y", b"y", b"x"]


def test_nothing_counts_where_a_mutant_may_be_at_the_bytes(tmp_path: Path):
    """Within the block, and what is read there is not kept either."""
    reader, one = Reader(), stored(tmp_path / "1", b"x")
    with reading_anew():
        assert [reader.remembered(one, NAME) for _ in range(2)] == [b"x"] * 2
    reader.remembered(one, NAME)

    assert reader.reads == 3


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is far ahead: nothing was written just now."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**9)


class Loader:
    """Reports the bytes of a table's file, and counts the loads."""

    def __init__(self) -> None:
        self.loads = 0
        self.remembered = RememberedTables[bytes]()

    def load(self, storage: Storage) -> bytes:
        """The bytes, loaded once where nothing changes."""

        def anew() -> bytes:
            self.loads += 1
            return storage.read(NAME)

        return self.remembered(storage, anew)


@pytest.mark.usefixtures("settled")
def test_an_unchanged_table_is_loaded_once(tmp_path: Path):
    """Each of two tables that are asked in turn."""
    loader, one, two = Loader(), stored(tmp_path / "1", b"x"), stored(tmp_path / "2", b"y")

    assert [loader.load(storage) for storage in (one, two, one, two)] == [b"x", b"y", b"x", b"y"]
    assert loader.loads == 2


def _another(table: Path) -> None:
    (table / "a" / "two").write_bytes(b"")


def _folder(table: Path) -> None:
    (table / "b").mkdir()


def _other_bytes(table: Path) -> None:
    (table / NAME).write_bytes(b"y")


def _renamed(table: Path) -> None:
    (table / NAME).rename(table / "a" / "gone")
    (table / NAME).write_bytes(b"x")


def _linked(table: Path) -> None:
    os.symlink(table / NAME, table / "link")  # noqa: PTH211 - the same


CHANGES: list[Callable[[Path], None]] = [_another, _folder, _other_bytes, _renamed, _linked]


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_table_is_loaded_again(tmp_path: Path, change: Callable[[Path], None]):
    """Whatever comes, goes or changes below its folder."""
    loader, one = Loader(), stored(tmp_path / "1", b"x")
    loader.load(one)
    change(tmp_path / "1")

    assert loader.load(one) == (tmp_path / "1" / NAME).read_bytes()
    assert loader.loads == 2


def test_what_was_written_just_now_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A change within the same tick of the file system's clock would have the same time."""
    loader, one = Loader(), stored(tmp_path / "1", b"x")
    written = (tmp_path / "1" / NAME).stat().st_ctime_ns
    monkeypatch.setattr(time, "time_ns", lambda: written)

    assert [loader.load(one) for _ in range(2)] == [b"x"] * 2
    assert loader.loads == 2


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("files", [True, False])
def test_no_table_counts_under_a_mutant(tmp_path: Path, files: bool):
    """Loading asks the model, too."""
    loader, one = Loader(), stored(tmp_path / "1", b"x")
    loader.load(one)
    with reading_anew(files=files):
        loader.load(one)

    assert loader.loads == 2


def test_files_count_under_a_mutant_that_is_not_at_their_bytes(tmp_path: Path):
    """They are values of the format."""
    reader, one = Reader(), stored(tmp_path / "1", b"x")
    with reading_anew(files=False):
        assert [reader.remembered(one, NAME) for _ in range(2)] == [b"x"] * 2

    assert reader.reads == 1
