"""No exception but the engine's own leaves a public function, whatever lies in storage and whatever storage answers."""

import contextlib
import errno
import inspect
import os
import random
import tempfile
import warnings
from dataclasses import fields
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import hudi_spark
import pyarrow as pa
import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, TableDefinition, UnsupportedFeature, create_arrow, read_arrow, services_arrow
from hudi_spark.testing import TableServices
from odd_tables import (
    GOLDEN,
    ODD_KEYS,
    ODD_TEXTS,
    TABLES,
    copied,
    with_odd_bytes,
    with_odd_metadata,
    with_property,
)
from public_calls import CALLS, READS, refusal

# The path of a damaged file is one that is there.
_DAMAGED = {"BASE_FILE_CORRUPT", "LOG_CONTENT_CORRUPT", "TIMELINE_FILE_CORRUPT"}
_CODES = (errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ESTALE)


def test_every_public_function_is_called():
    """What takes the path of a table, and every service. Others are types; `load` and `save` need Spark."""
    public = [name for name in hudi_spark.__all__ if "path" in _parameters(getattr(hudi_spark, name))]
    assert set(public) == {
        *("check_table", "create_arrow", "explain", "read_arrow", "read_batches", "read_changes", "read_incremental"),
        *("read_stream", "services_arrow", "write_arrow"),
        *("load", "save"),
    }
    services = {name for name in vars(TableServices) if not name.startswith("_")} - {"writer", "run"}
    assert services <= set(CALLS)


def _parameters(one: Any) -> frozenset[str]:
    return frozenset(inspect.signature(one).parameters) if inspect.isfunction(one) else frozenset()


@pytest.mark.parametrize("damage", [with_odd_metadata, with_odd_bytes], ids=["metadata", "bytes"])
@pytest.mark.parametrize("seed", range(24))
def test_damage_is_answered_or_refused(seed: int, damage: Any, tmp_path: Path):
    """Pages, footers, schemas with a field twice, values of other types; `make soak` tries more seeds."""
    source = random.Random(seed)  # noqa: S311 - damage, not secrets
    copy = copied(source.choice(TABLES), tmp_path)
    where = damage(source, copy)
    for name in source.sample(sorted(CALLS), 6):
        error = refusal(name, copy)
        if isinstance(error, HudiError):
            assert str(copy) in str(error), where
            if error.reason in _DAMAGED and error.file:
                assert Path(error.place).exists(), f"{name}, {where}: {error}"


@pytest.mark.slow
@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("table", ["v9/apache_mor_event_time", "v6/apache_cow_upserts"])
def test_odd_properties_are_answered_or_refused(table: str, key: str, tmp_path: Path):
    copy, names = copied(table, tmp_path), sorted(CALLS)
    for number, value in enumerate(ODD_TEXTS):
        with_property(copy, key, value)
        refusal("read_arrow", copy)
        refusal(names[(number * 7 + len(key)) % len(names)], copy)


class Faulty(LocalStorage):
    """A storage whose call of a number, and every one after it, fails; `seen` counts them."""

    seen = 0

    def __init__(self, base: Path, number: int, code: int) -> None:
        super().__init__(base)
        self.number, self.code = number, code

    def resolve(self, path: str) -> str:
        """Every way to a file comes by here."""
        place = super().resolve(path)
        Faulty.seen += 1
        if Faulty.seen > self.number:
            raise OSError(self.code, os.strerror(self.code), place)
        return place


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_storage_that_fails_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The path, what the system says, and what to do; nothing that is read comes out short."""
    table = "v9/apache_mor_event_time"

    def request(number: int, code: int) -> tuple[Path, HudiError | None, int]:
        copy = copied(table, tmp_path / f"{number}")
        monkeypatch.setattr("hudi_spark.read.queries.open_storage", lambda *_: Faulty(copy, number, code))
        Faulty.seen = 0
        error = refusal(name, copy)
        monkeypatch.undo()
        return copy, error if isinstance(error, HudiError) else None, Faulty.seen

    calls = request(10**9, 0)[2]
    for step, number in enumerate(sorted({0, 1, 2, calls // 3, calls // 2, max(calls - 2, 0)})):
        code = _CODES[step % len(_CODES)]
        copy, error, _ = request(number, code)
        if error is not None and error.reason == "STORAGE_FAILED":
            assert os.strerror(code) in str(error)
            assert str(copy) in str(error)
            assert error.hint
            assert isinstance(error, OSError)
            assert error.errno == code
        elif name in READS and number == 0:
            pytest.fail(f"{name} answers {error} where nothing can be read")


def test_a_read_that_fails_in_the_middle_is_no_damaged_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """At every call: the same rows, or the fault; never BASE_FILE_CORRUPT, NOT_A_TABLE or fewer rows."""
    copy = copied("v9/apache_mor_event_time", tmp_path)
    expected = read_arrow(copy)
    for number in range(200):
        Faulty.seen = 0
        monkeypatch.setattr(
            "hudi_spark.read.queries.open_storage", lambda *_, number=number: Faulty(copy, number, errno.EMFILE)
        )
        try:
            rows = read_arrow(copy)
        except HudiError as error:
            assert (error.reason, error.hint) == ("STORAGE_FAILED", "raise the limit of open files (ulimit -n)")  # noqa: PT017
            continue
        assert rows.sort_by(_order(rows)).equals(expected.sort_by(_order(expected)))
        if Faulty.seen <= number:
            return
    pytest.fail("the read never came to its end")


def _order(rows: pa.Table) -> list[tuple[str, str]]:
    return [(name, "ascending") for name in rows.column_names if not pa.types.is_nested(rows.schema.field(name).type)]


def test_a_folder_that_is_a_file_and_one_that_is_not_there_are_named(tmp_path: Path):
    """The whole path, also where a relative one was given."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "nothing"):
        for name in READS:
            error = refusal(name, place)
            assert isinstance(error, HudiError)
            assert str(place) in str(error)


_OTHER_TYPES = (
    *(None, 1, 1.5, True, b"x", ("a",), ["a"], {"a": 1}, {1: 2}, object(), float("nan"), "", date(2026, 1, 1)),
    *(lambda: 1, 10**30),
)


def test_arguments_of_other_types_are_taken_or_refused(tmp_path: Path):
    """Of every public function and service, one at a time; of a definition, too."""
    copy = copied("v9/cow_upserts", tmp_path)
    base: dict[str, Any] = {"path": copy, "begin": "earliest", "checkpoint": tmp_path / "checkpoint"}
    functions = [getattr(hudi_spark, name) for name in hudi_spark.__all__ if name not in {"load", "save"}]
    calls = [(one, base) for one in functions if "path" in _parameters(one) and "definition" not in _parameters(one)]
    services = services_arrow(copy)
    calls += [(services.cluster, {}), (services.drop_old_partitions, {}), (services.clean, {})]
    calls += [(partial(_defined, tmp_path), {"schema": pa.schema({"id": pa.string()}), "record_key": ("id",)})]
    for call, given in calls:
        names = inspect.signature(call).parameters if call in functions or not given else _FIELDS
        for name in names:
            for value in _OTHER_TYPES:
                needed = {key: one for key, one in given.items() if key in names}
                with contextlib.suppress(HudiError, UnsupportedFeature), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**{**needed, name: value})


_FIELDS = tuple(one.name for one in fields(TableDefinition))


def _defined(folder: Path, **given: Any) -> None:
    place = Path(tempfile.mkdtemp(dir=folder)) / "t"
    create_arrow(place, TableDefinition(**{"name": "t", **given}))


@pytest.mark.parametrize(
    "schema",
    [
        *({"name": 1}, {"type": "record", "name": "r", "fields": [1]}, {"type": "record", "name": "r", "fields": "x"}),
        *([("id", "string")], pa.field("id", pa.string()), pa.table({"id": ["a"]}), '{"type": "record"}'),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_schema_that_is_none_is_refused_by_what_it_is(schema: Any, tmp_path: Path):
    with pytest.raises(
        HudiError, match=r"SCHEMA_INCOMPATIBLE.*is no Avro record with named fields.*give an Arrow schema"
    ):
        create_arrow(tmp_path / "t", TableDefinition("t", schema, record_key=("id",)))
    assert not (tmp_path / "t").exists()


def test_golden_tables_are_there():
    for table in TABLES:
        assert (GOLDEN / table / "table").is_dir(), table
