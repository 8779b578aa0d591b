"""Files of data that were listed and are gone when they are read."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hudi_format.base import stored_file
from hudi_format.base.files import base_file_footer, read_base_file
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage
from hudi_spark import (
    DamagedLogWarning,
    HudiError,
    TableDefinition,
    create_arrow,
    read_arrow,
    read_batches,
    read_changes,
    services_arrow,
    write_arrow,
)

SCHEMA: Final = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64())])


class _Losing(LocalStorage):
    """A storage that loses a file before it is read for the nth time."""

    left = 0

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self.left -= 1
        if self.left == 0:
            Path(self.resolve(path)).unlink()
        return super().read_range(path, offset, length)


def _table(folder: Path, table_type: Any) -> Path:
    path = folder / "table"
    keys: Any = {"record_key": ("id",), "partition_by": ("city",), "ordering": ("ts",)}
    create_arrow(str(path), TableDefinition("t", SCHEMA, table_type=table_type, **keys))
    for ts in (1, 2):
        write_arrow(str(path), pa.table({"id": ["a"], "city": ["oslo"], "ts": [ts]}, schema=SCHEMA), "upsert")
    return path


_READS: Final[dict[str, Callable[[LocalStorage, str], object]]] = {
    "rows": read_base_file,
    "matching rows": lambda storage, path: read_base_file(storage, path, filter=pc.field("ts") > 0),
    "footer": base_file_footer,
}


@pytest.mark.parametrize("what", _READS)
@pytest.mark.parametrize("number", [1, 2])
def test_a_base_file_that_goes_while_it_is_read_is_missing(
    tmp_path: Path, what: str, number: int, monkeypatch: pytest.MonkeyPatch
):
    """Not corrupt: who reads plans again, and nobody looks for damage. A large file is read in several ranges."""
    if number > 1:
        monkeypatch.setattr(stored_file, "SMALL", 0)
    table = _table(tmp_path, "COPY_ON_WRITE")
    path = next((table / "oslo").glob("*.parquet"))
    storage = _Losing(table)
    storage.left = number
    with pytest.raises(FormatError) as caught:
        _READS[what](storage, str(path.relative_to(table)))
    assert caught.value.reason == "BASE_FILE_MISSING"
    assert not path.exists()


def test_a_base_file_of_the_metadata_table_that_goes_is_missing(tmp_path: Path):
    """Of an HFile, too."""
    table = _table(tmp_path, "COPY_ON_WRITE")
    path = next((table / ".hoodie/metadata/files").glob("*.hfile"))
    storage = _Losing(table)
    storage.left = 1
    with pytest.raises(FormatError) as caught:
        read_base_file(storage, str(path.relative_to(table)))
    assert caught.value.reason == "BASE_FILE_MISSING"


@pytest.mark.parametrize("state", ["COMPLETED", "REQUESTED", None])
def test_a_file_that_a_clean_took_after_the_plan_is_not_retained(tmp_path: Path, state: str | None):
    """A clean that has completed, or is under way; where no clean took it, the file is missing."""
    table = _table(tmp_path, "COPY_ON_WRITE")
    batches = read_batches(table)
    read = max((table / "oslo").glob("*.parquet"), key=lambda path: path.name.rpartition("_")[2])
    write_arrow(table, pa.table({"id": ["a"], "city": ["oslo"], "ts": [3]}, schema=SCHEMA), "upsert")
    if state is None:
        read.unlink()
    else:
        services_arrow(table).clean(
            {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
        )
    if state == "REQUESTED":
        for path in (table / ".hoodie/timeline").glob("*_*.clean"):
            path.unlink()
    assert not read.exists()
    with pytest.raises(HudiError) as caught:
        batches.read_all()
    assert caught.value.reason == ("BASE_FILE_MISSING" if state is None else "RANGE_NOT_RETAINED")
    # What is missing stays the cause, where a clean is the reason.
    assert state is None or getattr(caught.value.__cause__, "reason", None) == "BASE_FILE_MISSING"


def test_a_log_that_goes_before_it_is_read_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """LOG_FILE_MISSING, with its path, also where it was listed."""
    table = _table(tmp_path, "MERGE_ON_READ")
    log = next((table / "oslo").glob(".*.log.*"))

    def losing(read: Callable[..., bytes]) -> Callable[..., bytes]:
        def lost(storage: LocalStorage, path: str, *more: int) -> bytes:
            if path.endswith(log.name):
                raise FileNotFoundError(path)
            return read(storage, path, *more)

        return lost

    for name in ("read", "read_range"):
        monkeypatch.setattr(LocalStorage, name, losing(getattr(LocalStorage, name)))
    with pytest.raises(HudiError) as caught:
        read_arrow(table)
    assert (caught.value.reason, caught.value.file) == ("LOG_FILE_MISSING", str(log.relative_to(table)))


@pytest.mark.parametrize("version", [6, 9])
def test_a_log_of_which_no_byte_is_left_is_warned_of_and_not_compacted_without_a_word(tmp_path: Path, version: int):
    """As a torn one is; the empty log of a writer that failed right away, which no commit counts, is none."""
    path = tmp_path / "table"
    create_arrow(
        path,
        TableDefinition("t", SCHEMA, "MERGE_ON_READ", version, record_key=("id",), ordering=("ts",)),
    )
    for ts in (1, 2):
        write_arrow(path, pa.table({"id": ["a"], "city": ["oslo"], "ts": [ts]}, schema=SCHEMA), "upsert")
    log = next(path.glob(".*.log.*"))
    failed = log.with_name(log.name.replace(".log.1_", ".log.2_"))
    failed.touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_arrow(path).column("ts").to_pylist() == [2]
    log.write_bytes(b"")
    with pytest.warns(DamagedLogWarning, match="no byte is left of the") as caught:
        assert read_arrow(path).column("ts").to_pylist() == [1]
    assert [str(one.message).count(log.name) for one in caught] == [1]
    with pytest.warns(DamagedLogWarning, match="no byte is left of the"):
        services_arrow(path, configs={"hoodie.compact.inline.max.delta.commits": "1"}).run("compaction")


def test_a_change_log_of_which_no_byte_is_left_is_warned_of(tmp_path: Path):
    """Its changes are in no other file."""
    path = tmp_path / "table"
    configs = {"hoodie.table.cdc.enabled": "true"}
    create_arrow(path, TableDefinition("t", SCHEMA, record_key=("id",), ordering=("ts",), configs=configs))
    for ts in (1, 2):
        write_arrow(path, pa.table({"id": ["a"], "city": ["oslo"], "ts": [ts]}, schema=SCHEMA), "upsert")
    (log,) = path.glob(".*.cdc")
    assert read_changes(path, "earliest").num_rows == 2
    log.write_bytes(b"")
    with pytest.warns(DamagedLogWarning, match="no byte is left of the"):
        assert read_changes(path, "earliest").num_rows == 1
