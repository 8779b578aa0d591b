"""Changing the properties of a table: whoever dies in between leaves a table that can be read."""

from pathlib import Path

import pytest
from hudi_format.errors import FormatError, Reason
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import (
    BACKUP_FILE,
    PROPERTIES_FILE,
    holds_table,
    parse_checked_properties,
    repair_properties,
    update_properties,
    with_checksum,
)

OLD = with_checksum({"hoodie.table.name": "trips", "a": "1", "b": "2"})


class MortalStorage(LocalStorage):
    """Dies before its n-th effect."""

    left = 10**9

    def _live(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._live()
        return super().put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self._live()
        super().put(path, data)

    def delete(self, path: str) -> None:
        self._live()
        super().delete(path)


@pytest.fixture
def storage(tmp_path: Path) -> MortalStorage:
    made = MortalStorage(tmp_path)
    made.put(PROPERTIES_FILE, serialise_properties(OLD))
    return made


def test_values_are_set_and_removed_and_the_checksum_follows(storage: MortalStorage):
    new = update_properties(storage, {"a": None, "hoodie.table.name": "süd", "c": "3"}, ["Updated at 2025"])
    assert new == with_checksum({"hoodie.table.name": "süd", "b": "2", "c": "3"})
    assert parse_checked_properties(storage.read(PROPERTIES_FILE), "f") == new
    assert storage.read(PROPERTIES_FILE).startswith(b"#Updated at 2025\n")
    assert not storage.exists(BACKUP_FILE)


@pytest.mark.parametrize("effects", range(4))
def test_a_writer_that_crashes_leaves_the_old_or_the_new_properties(storage: MortalStorage, effects: int):
    storage.left = effects
    new = with_checksum({**OLD, "a": "9"})
    try:
        update_properties(storage, {"a": "9"})
    except KeyboardInterrupt:
        assert parse_checked_properties(storage.read(PROPERTIES_FILE), "f") in (OLD, new)
    storage.left = 10**9
    assert update_properties(storage, {"c": "3"}) in ({**OLD, "c": "3"}, {**new, "c": "3"})
    assert not storage.exists(BACKUP_FILE)


@pytest.mark.parametrize("broken", [None, b"", serialise_properties(OLD)[:30], b"a=\\u1"])
def test_a_broken_file_is_put_back_from_the_backup(storage: MortalStorage, broken: bytes | None):
    storage.put(BACKUP_FILE, serialise_properties(OLD))
    storage.delete(PROPERTIES_FILE)
    if broken is not None:
        storage.put(PROPERTIES_FILE, broken)
    repair_properties(storage)
    assert parse_checked_properties(storage.read(PROPERTIES_FILE), "f") == OLD
    assert not storage.exists(BACKUP_FILE)


def test_a_broken_backup_of_a_broken_file_is_refused_and_kept(storage: MortalStorage):
    storage.put(PROPERTIES_FILE, b"a=\\u1")
    storage.put(BACKUP_FILE, b"a=\\u2")
    with pytest.raises(FormatError) as caught:
        repair_properties(storage)
    assert (caught.value.reason, caught.value.file) == (Reason.PROPERTIES_INVALID, BACKUP_FILE)
    assert storage.exists(BACKUP_FILE)


def test_a_folder_without_properties_is_no_table(tmp_path: Path):
    storage = LocalStorage(tmp_path / "absent")
    assert not holds_table(storage)
    with pytest.raises(FormatError) as caught:
        update_properties(storage, {})
    assert caught.value.reason == Reason.NOT_A_TABLE
