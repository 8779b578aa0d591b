"""Tables with a column of every type that Spark has, from both of Hudi's writers, in both forms of lists."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.recipes.shapes import BOTH, FOUR, LOGS_OF_FOUR, NOT_ROWS, write_query
from hudi_conformance.interop.real_tables.writer import RealTable

_OLD_LISTS = "parquet.avro.write-old-list-structure"
_MOMENTS = "spark.sql.parquet.outputTimestampType"

# Of each column: its type, and a value.
TYPES: Mapping[str, tuple[str, str]] = {
    "b": ("boolean", "true"),
    "si": ("smallint", "2"),
    "i": ("int", "3"),
    "l": ("bigint", "4"),
    "f": ("float", "1.5"),
    "d": ("double", "2.5"),
    "d5": ("decimal(5,2)", "'-999.99'"),
    "d18": ("decimal(18,4)", "'12345678901.2345'"),
    "d38": ("decimal(38,18)", "'-12345678901234567890.123456789012345678'"),
    "d1": ("decimal(1,0)", "7"),
    "d9": ("decimal(9,9)", "'0.0001'"),
    "da": ("date", "date'2024-02-29'"),
    "t": ("timestamp", "timestamp'2024-02-29 12:34:56.123'"),
    "bi": ("binary", "X'00FF'"),
    "st": ("string", "'é z'"),
    "ai": ("array<int>", "array(1,5)"),
    "ars": ("array<struct<a:int,b:decimal(10,2)>>", "array(named_struct('a',1,'b',1.5))"),
    "mi": ("map<string,int>", "map('k',1,'z',null)"),
    "ms": ("map<string,struct<a:array<int>,d:date>>", "map('k',named_struct('a',array(1,2),'d',date'1969-12-31'))"),
    "aa": ("array<array<string>>", "array(array('q','r'),array())"),
    "s": (
        "struct<x:int,y:struct<z:string,w:array<map<string,int>>>>",
        "named_struct('x',1,'y',named_struct('z','deep','w',array(map('a',1))))",
    ),
    "am": ("array<map<string,decimal(20,3)>>", "array(map('p',2.5))"),
}
# Earlier days and moments need settings of Spark's on both sides.
_FAR = {"da": ("date", "date'1583-01-01'"), "t": ("timestamp", "timestamp'1900-01-01 00:00:00'")}


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its key, partition and time; every column null or with its value."""

    key: str
    region: str
    ts: int
    empty: bool = False

    def of(self, kinds: Mapping[str, tuple[str, str]]) -> str:
        """The query that makes it."""
        columns = (
            f"cast({'null' if self.empty else value} as {kind}) as {name}" for name, (kind, value) in kinds.items()
        )
        return f"SELECT '{self.key}' id, '{self.region}' region, {self.ts}L ts, {', '.join(columns)}"


VALUES, WITHOUT, LATER = Row("a", "north", 1), Row("n", "süd", 1, empty=True), Row("a", "north", 2)


@recipe("shapes/types", on=LOGS_OF_FOUR, types=BOTH, features=("types",), without=NOT_ROWS)
def types(table: RealTable) -> None:
    """Every type, by the writer of Avro records, in lists of two levels."""
    table.configure(EVENT_TIME)
    write_query(table, f"{VALUES.of(TYPES)} UNION ALL {WITHOUT.of(TYPES)}", "insert")
    write_query(table, LATER.of({**TYPES, **_FAR}))


@recipe("shapes/types_of_rows", on=LOGS_OF_FOUR, types=BOTH, features=("types",), without=NOT_ROWS)
def types_of_rows(table: RealTable) -> None:
    """Every type, by the writer of Spark's rows, then by that of Avro records in lists of three levels."""
    table.configure(EVENT_TIME)
    hadoop = table.session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001  py4j's door has no public name
    kinds = {**TYPES, "ai": ("array<int>", "array(1,null)")}
    hadoop.set(_OLD_LISTS, "false")
    try:
        write_query(table, f"{VALUES.of(kinds)} UNION ALL {WITHOUT.of(kinds)}", "bulk_insert")
        write_query(table, LATER.of({**kinds, **_FAR}))
    finally:
        hadoop.unset(_OLD_LISTS)


@recipe("shapes/moments_of_96_bits", on=FOUR, types=BOTH, features=("types",), without=NOT_ROWS)
def moments_of_96_bits(table: RealTable) -> None:
    """Timestamps as INT96 in the first files, as microseconds later."""
    table.configure({**EVENT_TIME, "hoodie.parquet.outputtimestamptype": "INT96"})
    table.session.conf.set(_MOMENTS, "INT96")
    try:
        query = "SELECT 'a' id, 'north' region, 1L ts, timestamp'2024-02-29 12:34:56.123456' t"
        write_query(table, f"{query} UNION ALL SELECT 'b', 'süd', 1L, null", "bulk_insert")
    finally:
        table.session.conf.set(_MOMENTS, "TIMESTAMP_MICROS")
    write_query(table, "SELECT 'c' id, 'north' region, 2L ts, timestamp'2500-02-28 12:34:56.123456' t")


@recipe("shapes/odd_names", on=FOUR, types=BOTH, features=("types",), without=NOT_ROWS)
def odd_names(table: RealTable) -> None:
    """Names with capitals, with other scripts, with an underscore first; at the top and inside."""
    table.configure(EVENT_TIME)
    first = "SELECT 'a' id, 'north' region, 1L ts, 1 `Mixed_Case`, 2 `größe`, named_struct('In_Ner', 1, 'ÿ', 2) St"
    write_query(table, f"{first}, 5 `_under` UNION ALL SELECT 'b', 'süd', 1L, 3, 4, null, 6", "insert")
    write_query(table, f"{first.replace('1L', '2L')}, 15 `_under`")
