"""Tables whose base files are ORC, HFile or of several formats, or were bootstrapped from other files."""

from pathlib import Path

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.recipes.shapes import BOTH, FOUR, NOT_ROWS, SINCE_8, rows_of, write_query
from hudi_conformance.interop.real_tables.recipes.shapes_types import TYPES, VALUES, WITHOUT
from hudi_conformance.interop.real_tables.writer import RealTable

_FORMAT = "hoodie.table.base.file.format"
_SEVERAL = "hoodie.table.multiple.base.file.formats.enable"
_SELECTOR = "org.apache.hudi.client.bootstrap.selector."
_COLUMNS = "id,region,ts,note"
_FIRST = rows_of("('a','north',1L,'x'),('b','süd',1L,'y'),('c','north',1L,null)", _COLUMNS)
_SECOND = rows_of("('a','north',2L,'xx'),('d','süd',2L,'z')", _COLUMNS)
_SOURCE = rows_of(
    "('a','north',1L,'x',named_struct('p',1)),('b','south',1L,'y',null),"
    "('c','north',1L,null,named_struct('p',3)),('e','south',1L,'m',named_struct('p',4))",
    "id,region,ts,note,s",
)
_LATER = rows_of(
    "('a',2L,'xx',named_struct('p',11),'north'),('d',2L,'z',named_struct('p',12),'south')", "id,ts,note,s,region"
)
# Not to be had in ORC: Apache Hudi writes no decimals of few digits there.
_NARROW = ("d5", "d1", "d9")


@recipe("shapes/orc", on=SINCE_8, types=BOTH, features=("base-orc",), without=NOT_ROWS)
def orc(table: RealTable) -> None:
    """Base files in ORC."""
    table.configure({**EVENT_TIME, _FORMAT: "ORC"})
    write_query(table, _FIRST, "insert")
    write_query(table, _SECOND)


@recipe(
    "shapes/orc_types",
    on=("0.15.0 v6 mor", "1.0.2 v8 cow", "1.1.1 v9"),
    types=BOTH,
    features=("base-orc", "types"),
    without=NOT_ROWS,
)
def orc_types(table: RealTable) -> None:
    """Base files in ORC with every type that Apache Hudi writes there."""
    table.configure({**EVENT_TIME, _FORMAT: "ORC"})
    kinds = {name: text for name, text in TYPES.items() if name not in _NARROW}
    write_query(table, f"{VALUES.of(kinds)} UNION ALL {WITHOUT.of(kinds)}", "insert")


@recipe("shapes/several_formats", on=SINCE_8, types=BOTH, features=("base-orc",), without=NOT_ROWS)
def several_formats(table: RealTable) -> None:
    """Base files in Parquet, then in ORC, within one file group and beside it."""
    table.configure({**EVENT_TIME, _SEVERAL: "true"})
    write_query(table, _FIRST, "insert")
    table.configure({_FORMAT: "ORC"})
    write_query(table, _SECOND)
    write_query(table, rows_of("('e','west',3L,'new')", _COLUMNS), "insert")


@recipe("shapes/hfile", on=("0.15.0 v6", "1.1.1 v9"), types=BOTH, features=("base-hfile",), without=NOT_ROWS)
def hfile(table: RealTable) -> None:
    """Base files in HFile."""
    table.configure({**EVENT_TIME, _FORMAT: "HFILE"})
    write_query(table, _FIRST, "insert")


@recipe("shapes/bootstrapped", on=FOUR, types=BOTH, features=("bootstrap",), without=NOT_ROWS)
def bootstrapped(table: RealTable) -> None:
    """A bootstrap of meta fields only, then updates and an insert."""
    _bootstrap(table, {"hoodie.bootstrap.mode.selector": f"{_SELECTOR}MetadataOnlyBootstrapModeSelector"})
    write_query(table, _LATER)


@recipe("shapes/bootstrapped_in_full", on=FOUR, types=BOTH, features=("bootstrap",), without=NOT_ROWS)
def bootstrapped_in_full(table: RealTable) -> None:
    """A bootstrap of whole records, then updates and an insert."""
    _bootstrap(table, {"hoodie.bootstrap.mode.selector": f"{_SELECTOR}FullRecordBootstrapModeSelector"})
    write_query(table, _LATER)


@recipe("shapes/bootstrapped_by_partition", on=FOUR, types=BOTH, features=("bootstrap",), without=NOT_ROWS)
def bootstrapped_by_partition(table: RealTable) -> None:
    """A bootstrap of meta fields only in one partition and of whole records in the other, then updates."""
    options = {
        "hoodie.bootstrap.mode.selector": f"{_SELECTOR}BootstrapRegexModeSelector",
        "hoodie.bootstrap.mode.selector.regex": ".*north",
        "hoodie.bootstrap.mode.selector.regex.mode": "METADATA_ONLY",
    }
    _bootstrap(table, options)
    write_query(table, _LATER)


def _bootstrap(table: RealTable, options: dict[str, str]) -> None:
    source: Path = table.beside("source") / "files"
    table.session.sql(_SOURCE).repartition(1).write.partitionBy("region").parquet(str(source))
    table.configure(EVENT_TIME)
    simple = "org.apache.hudi.keygen.SimpleKeyGenerator"
    chosen = {
        "hoodie.bootstrap.base.path": str(source),
        "hoodie.bootstrap.parallelism": "1",
        "hoodie.bootstrap.full.input.provider": "org.apache.hudi.bootstrap.SparkParquetBootstrapDataProvider",
        "hoodie.bootstrap.keygen.class": simple,
        "hoodie.datasource.write.keygenerator.class": simple,
        **options,
    }
    nothing = table.session.read.parquet(str(source)).limit(0)
    table.write_frame(nothing, "bootstrap", **{key.replace(".", "__"): value for key, value in chosen.items()})
