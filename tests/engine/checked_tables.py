"""Sound tables of every sort that the engine wrote, copied for each damage, and what a check says of them."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq
from hudi_format.base.files import write_base_file
from hudi_format.names import TimelineFileName, timeline_file_name
from hudi_format.table.properties import parse_properties, serialise_properties
from hudi_format.table.table_properties import with_checksum
from hudi_format.timeline import plans
from hudi_spark import check_table, services_arrow
from hudi_spark.keys.bucket_index import RULES_FOLDER
from written_tables import Written, rows

PLAIN = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
LOGS = {**PLAIN, "hoodie.parquet.small.file.limit": "0"}
INDEXED = {
    **LOGS,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
SOON = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}


BASE, LOG = "north/*.parquet", "north/.*.log.*"
"""Files of one partition."""


def mor(path: Path, version: int = 9) -> None:
    """Base files, logs of rows and of deletes, and a write that nobody completed."""
    table = Written(path, "MERGE_ON_READ", version, configs=LOGS)
    table.write("upsert", rows(range(6)))
    table.write("upsert", rows([0, 1], ts=2, price=2.0))
    table.write("delete", rows([4], ts=3))


def in_ring(path: Path) -> None:
    """Keys in the file groups that rings name, some of logs alone."""
    ring = {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
    table = Written(path, "MERGE_ON_READ", configs={**LOGS, **ring, "hoodie.bucket.index.num.buckets": "3"})
    table.write("bulk_insert", rows(range(12)))
    table.write("upsert", rows([0, 1, 20, 21], ts=2, price=2.0))


def in_buckets(path: Path) -> None:
    """Keys in buckets, whose numbers the table keeps by rules."""
    rules = path / RULES_FOLDER / "00000000000000.hashing_config"
    table = Written(path, "MERGE_ON_READ", configs={**LOGS, "hoodie.index.type": "BUCKET"})
    rules.parent.mkdir(parents=True)
    rules.write_text('{"expressions": "^nor,2", "defaultBucketNumber": 3, "rule": "regex"}')
    table.write("upsert", rows(range(12)))
    table.write("upsert", rows([0, 1, 20, 21], ts=2, price=2.0))


def cow(path: Path) -> None:
    """Two slices of each file group."""
    table = Written(path, configs=PLAIN)
    table.write("upsert", rows(range(6)))
    table.write("upsert", rows(range(6), ts=2, price=2.0))


def indexed(path: Path) -> None:
    """A metadata table with statistics and a record index."""
    table = Written(path, "MERGE_ON_READ", configs=INDEXED)
    table.write("upsert", rows(range(6)))
    table.write("upsert", rows([0, 1], ts=2, price=2.0))


def planned(path: Path) -> None:
    """A compaction that waits, and a savepoint."""
    mor(path)
    services = services_arrow(path, configs=LOGS)
    services.savepoint()
    assert services.schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})


def served(path: Path) -> None:
    """A compaction, a clustering and a clean that have completed."""
    mor(path)
    services = services_arrow(path, configs=LOGS)
    assert services.run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    assert services.cluster()
    versions = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
    assert services.clean(versions)


def archived(path: Path, version: int = 9) -> None:
    """A history of several files."""
    table = Written(path, "COPY_ON_WRITE", version, configs=PLAIN)
    for number in range(8):
        table.write("upsert", rows(range(4), ts=number))
        if number > 4:
            services_arrow(path, configs=PLAIN).archive(SOON)


def archived_6(path: Path) -> None:
    """A history that is a log."""
    archived(path, 6)


def mor_6(path: Path) -> None:
    """Logs that are named after their slice."""
    mor(path, 6)


@cache
def _made(make: Callable[[Path], None]) -> Path:
    path = Path(mkdtemp(prefix="checked-")) / "table"
    make(path)
    return path


def copied(make: Callable[[Path], None], folder: Path) -> Path:
    """A copy of a table that is made once."""
    return Path(shutil.copytree(_made(make), folder / "table"))


def clauses(table: Path, *, deep: bool = False) -> set[tuple[str, str]]:
    """What a check finds, without places."""
    return {(one.clause, one.severity) for one in check_table(table, deep=deep)}


def some(table: Path, pattern: str, number: int = 0) -> Path:
    """A file of a table."""
    return sorted(path for path in table.glob(pattern) if not path.name.endswith(".crc"))[number]


def timeline_of(table: Path, pattern: str, number: int = 0) -> Path:
    """A file of the timeline."""
    return some(table, f".hoodie/timeline/{pattern}", number)


def cut(path: Path, left: int = 40) -> None:
    """The file ends early."""
    path.write_bytes(path.read_bytes()[:left])


def emptied(path: Path) -> None:
    """The file is there, and empty."""
    path.write_bytes(b"")


def replaced(path: Path, old: bytes, new: bytes) -> None:
    """Some bytes of a file are others."""
    data = path.read_bytes()
    assert old in data, path
    path.write_bytes(data.replace(old, new))


def renamed(path: Path, old: str, new: str) -> None:
    """A file has another name."""
    assert old in path.name, path
    path.rename(path.with_name(path.name.replace(old, new)))


def with_byte(path: Path, place: int, value: int) -> None:
    """One byte of a file is another."""
    data = bytearray(path.read_bytes())
    data[place] = value
    path.write_bytes(data)


def one_byte_short(path: Path) -> None:
    """The last byte of a file is lost."""
    path.write_bytes(path.read_bytes()[:-1])


def set_properties(table: Path, **properties: str | None) -> None:
    """A table with other properties, whose checksum holds; `__` stands for a dot."""
    changes = {f"hoodie.{key.replace('__', '.')}": value for key, value in properties.items()}
    file = table / ".hoodie/hoodie.properties"
    merged = {**parse_properties(file.read_bytes(), file.name), **changes}
    kept = {key: value for key, value in merged.items() if value is not None}
    file.write_bytes(serialise_properties(with_checksum(kept)))


def edited_rows(path: Path, column: str, value: str | None) -> None:
    """A base file whose first row has another value in a column; the footer says of keys what it said."""
    opened = pq.ParquetFile(path)
    table, keys = opened.read(), _footer(opened)
    values = pa.array([value, *table.column(column).to_pylist()[1:]], pa.string())
    table = table.set_column(table.schema.get_field_index(column), table.schema.field(column), values)
    path.write_bytes(write_base_file(table, keys["parquet.avro.schema"], extra_keys=keys))


def reordered_maps(path: Path, column: str) -> None:
    """A base file whose maps in a column have their entries the other way round."""
    opened = pq.ParquetFile(path)
    table, keys = opened.read(), _footer(opened)
    place, field = table.schema.get_field_index(column), table.schema.field(column)
    values = pa.array([one[::-1] for one in table.column(column).to_pylist()], field.type)
    table = table.set_column(place, field, values)
    path.write_bytes(write_base_file(table, keys["parquet.avro.schema"], extra_keys=keys))


def without_column(path: Path, column: str) -> None:
    """A base file that lacks a column."""
    opened = pq.ParquetFile(path)
    keys = _footer(opened)
    path.write_bytes(
        write_base_file(opened.read().drop_columns([column]), keys["parquet.avro.schema"], extra_keys=keys)
    )


def _footer(opened: pq.ParquetFile) -> dict[str, str]:
    metadata = opened.schema_arrow.metadata or opened.metadata.metadata
    return {key.decode(): text.decode() for key, text in metadata.items() if not key.startswith(b"ARROW")}


def instant_of(table: Path, number: int) -> str:
    """When an action was requested, of those that have completed."""
    return timeline_of(table, "*_*.*", number).name.split("_")[0]


def completion_of(table: Path, number: int) -> str:
    """When an action completed."""
    return timeline_of(table, "*_*.*", number).name.split("_")[1].split(".")[0]


def oldest_archived(table: Path) -> str:
    """The first instant of the history."""
    return timeline_of(table, "history/*.parquet").name.split("_")[0]


def put_action(table: Path, name: TimelineFileName, data: bytes = b"") -> None:
    """One more file on the timeline."""
    (table / ".hoodie" / "timeline" / timeline_file_name(name, 2)).write_bytes(data)


def requested_compaction(table: Path, instant: str) -> None:
    """One more plan with the groups of the one that waits."""
    plan = timeline_of(table, "*.compaction.requested").read_bytes()
    put_action(table, TimelineFileName(instant, "compaction", "REQUESTED"), plan)


def clean_plan() -> bytes:
    """A clean that has nothing to do."""
    return plans.serialise_cleaner_plan(plans.CleanerPlan())


def brought_back(table: Path) -> None:
    """A file that a clean deleted is there again."""
    file = timeline_of(table, "*_*.clean")
    result = plans.parse_clean_metadata(file.read_bytes(), file.name)
    partition, cleaned = next(item for item in result.partition_metadata.items() if item[1].success_delete_files)
    (table / partition / cleaned.success_delete_files[0].rpartition("/")[2]).write_bytes(b"")


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to which table, and the clauses that it breaks."""

    break_: Callable[[Path], None]
    make: Callable[[Path], None]
    clauses: set[str]

    def __str__(self) -> str:
        return self.break_.__name__


@dataclass(frozen=True, slots=True)
class Damages:
    """Those of a module."""

    cases: list[Damage] = field(default_factory=list)

    def breaks(
        self, *clauses: str, of: Callable[[Path], None]
    ) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
        """A function that damages a table of a sort, and so breaks these clauses and no other."""

        def noted(damage: Callable[[Path], None]) -> Callable[[Path], None]:
            self.cases.append(Damage(damage, of, set(clauses)))
            return damage

        return noted


def badly_damaged(folder: Path) -> Path:
    """A table of which a base file is cut and a log lost, and a footer says less than the rows."""
    table = copied(mor, folder)
    cut(some(table, BASE))
    some(table, LOG).unlink()
    edited_rows(some(table, "süd/*.parquet"), "_hoodie_record_key", "zz")
    assert {clause for clause, _ in clauses(table, deep=True)} >= {"BF-004", "RD-018", "BF-002"}
    return table
