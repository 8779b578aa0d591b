"""Columns whose default is another than null, in tables where what holds its default says nothing."""

from collections.abc import Callable

from hudi_model.creation import version_9_properties
from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.layout import Layout, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import Row, second

_COLUMNS = (
    Field("id", "string"),
    Field("ts", "int64"),
    Field("name", "string", "unknown"),
    Field("price", "string"),
    Field("seats", "int32", 4),
)

_BY_DEFAULT = ("what holds its default says nothing", "defaults-are-null defaults-overwrite")
_BY_NULL = ("a null says nothing, another default counts", "partial-payload-knows-defaults defaults-overwrite")


def _layout(version: int, payload: str) -> Layout:
    """A table as the releases of its version leave it where it is made with this payload class."""
    named = {"hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{payload}"}
    by_payload = {"hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000"}
    stated: dict[int, dict[str, str]] = {
        6: named,
        8: {**named, **by_payload, "hoodie.record.merge.mode": "CUSTOM"},
        9: version_9_properties(payload, "ts"),
    }
    return merge_on_read(
        version, schema=Schema(_COLUMNS), partition_by=None, groups_per_partition=1, properties=stated[version]
    )


def _each_version(payload: str) -> Callable[[Callable[[GoldenTable], None]], Callable[[GoldenTable], None]]:
    """Register a recipe for tables of versions 6, 8 and 9."""

    def register(write: Callable[[GoldenTable], None]) -> Callable[[GoldenTable], None]:
        word = payload.removesuffix("AvroPayload").lower()
        for version in (6, 8, 9):
            title = f"{payload} where columns have defaults, in version {version}"
            golden(f"v{version}/mor_defaults_{word}", title, _layout(version, payload), ("payload",))(write)
        return write

    return register


def _row(key: str, place: int, name: str, price: str | None, seats: int) -> Row:
    return {"id": key, "ts": place, "name": name, "price": price, "seats": seats}


def _write(table: GoldenTable) -> None:
    table.insert(second(1), [_row(key, 10, f"{key} first", "10", 2) for key in "abcd"])
    table.upsert(second(2), [_row("b", 20, "unknown", None, 6), _row("c", 20, "c second", "20", 4)])
    table.upsert(second(3), [_row("d", 30, "unknown", None, 4), _row("a", 5, "late", None, 4)])


@_each_version("OverwriteNonDefaultsWithLatestAvroPayload")
def overwrite_non_defaults(table: GoldenTable) -> None:
    """Names are "unknown" by default, seats 4, prices null: updates with each of them, and a late one."""
    _write(table)
    stated, kills = _BY_DEFAULT
    table.snapshot("snapshot", stated, "PL-003 MG-023" if table.version == 9 else "PL-003", kills)


@_each_version("PartialUpdateAvroPayload")
def partial_update(table: GoldenTable) -> None:
    """Names are "unknown" by default, seats 4, prices null: updates with each of them, and a late one."""
    _write(table)
    stated, kills = _BY_DEFAULT if table.version == 9 else _BY_NULL
    table.snapshot("snapshot", stated, "PL-004 MG-023" if table.version == 9 else "PL-004", kills)
