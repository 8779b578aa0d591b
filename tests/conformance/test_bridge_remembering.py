"""What was read of a file counts as long as it is that file, unchanged, or one with the same bytes at the same path."""

from pathlib import Path

from hudi_conformance.bridge.remembering import Remembered, reading_anew
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
