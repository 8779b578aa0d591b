"""Tables whose keys and partition paths are not the bare values, asked by readers that look values up."""

from dataclasses import dataclass

from hudi_format.table.partition_metafile import PartitionMetafile, serialise_partition_metafile

from hudi_conformance.corpus.golden.corruption import remove, write
from hudi_conformance.corpus.golden.layout import Layout, copy_on_write
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.indexes import BLOOM, FEATURES, RECORDS, STATISTICS, spread
from hudi_conformance.corpus.golden.rides import Row, ride, rides, second
from hudi_conformance.corpus.golden.usual import deep_check, skipping

_CLASS = "org.apache.hudi.keygen.ComplexKeyGenerator"
_SPECIAL = frozenset("\"#%'*/:=?[\\]^{")
_NOON, _MIDNIGHT = "São Paulo 12:00 #1", "50% / a=b"


@dataclass(frozen=True, slots=True)
class NamedKeys(Layout):
    """A complex generator since 1.1: it names the field of its one key."""

    def key(self, row: Row) -> str:
        """`field:value`."""
        return f"id:{row['id']!s}"


@dataclass(frozen=True, slots=True)
class EncodedPaths(Layout):
    """Signs that mean something in a path are encoded."""

    def partition_path(self, value: str) -> str:
        """`%` and two hexadecimal digits for each of them."""
        return "".join(f"%{ord(sign):02X}" if sign in _SPECIAL else sign for sign in value)


def _named(version: int) -> NamedKeys:
    stated = {"hoodie.table.keygenerator.type": "COMPLEX"}
    return NamedKeys(version, True, properties=stated if version > 6 else {"hoodie.table.keygenerator.class": _CLASS})


def _encoded(version: int) -> EncodedPaths:
    return EncodedPaths(version, False, properties={"hoodie.datasource.write.partitionpath.urlencode": "true"})


@golden("v9/mor_complex_key", "A complex key generator with one key field", _named, FEATURES, also=(6, 8))
def complex_key(table: GoldenTable) -> None:
    """Stored keys are `id:value`, so are those of the record index and the bloom filters; one late update."""
    table.insert(second(1), spread(10))
    table.keep_indexes(RECORDS, BLOOM)
    table.upsert(second(2), rides(20, ("r01", "r12"), rider="second"))
    table.upsert(second(3), rides(5, ("r02",), rider="late"))
    skipping(
        table,
        "key",
        ["id", "=", "r02"],
        "a key is looked up as the table spells it",
        "DM-030 IX-055 IX-058",
        "complex-keys-unnamed",
    )
    skipping(
        table,
        "keys",
        ["id", "in", ["r01", "r12", "r11"]],
        "each value is spelt as a key",
        "DM-030 IX-055",
        "complex-keys-unnamed",
    )
    table.snapshot(
        "meta-columns", "stored keys name their field", "DM-030 MF-010", "meta-columns-never", meta_columns=True
    )
    deep_check(
        table, "the record index has the keys as they are stored", "DM-030 IX-020 IX-023", "record-index-of-partitions"
    )
    table.snapshot(
        "unconfigured",
        "keys, ordering fields and merge mode stand in the properties: a reader without options has them",
        "PR-022 MG-001",
        "mode-always-commit-time",
    )


@golden("v9/cow_encoded_paths", "Partition paths are encoded", _encoded, FEATURES, also=(6, 8))
def encoded(table: GoldenTable) -> None:
    """Two cities whose names hold slashes, colons and blanks; one is updated."""
    cities = {"oslo": _NOON, "lima": _MIDNIGHT}
    table.insert(second(1), [{**row, "city": cities[row["city"]]} for row in spread(10)])
    table.keep_indexes(STATISTICS)
    table.upsert(
        second(2), [ride("r02", 20, city=_NOON, rider="second"), ride("r12", 20, city=_MIDNIGHT, rider="second")]
    )
    skipping(
        table,
        "city",
        ["city", "=", _NOON],
        "a value leads to its encoded path",
        "DM-032 DM-031 IX-051",
        "paths-unencoded",
    )
    skipping(
        table,
        "either-city",
        ["and", ["city", "in", [_MIDNIGHT, "oslo"]], ["rider", "=", "second"]],
        "blanks and other scripts are kept in a path, signs of its own are not",
        "DM-032 IX-052",
        "paths-unencoded",
    )
    table.snapshot("snapshot", "the column keeps the value itself", "DM-032 RD-004", "oldest-base-file")
    table.slices("slices", "slices lie in encoded paths", "DM-032 SL-020", "oldest-base-file")
    table.snapshot(
        "meta-columns",
        "the partition path of a row is encoded",
        "DM-032 MF-010",
        "meta-columns-never",
        meta_columns=True,
    )
    table.as_of(
        second(1.7), "as-of-insert", "as of the insert nothing is updated", "DM-032 RD-010", "as-of-reads-everything"
    )
    deep_check(table, "statistics are filed under encoded paths", "DM-032 MT-012 MT-010", "statistics-of-first-row")


@golden("v9/cow_nested_partitions", "A partition repeats a folder's name, another has no data file", copy_on_write(9))
def nested_partitions(table: GoldenTable) -> None:
    """All are two folders deep; the metafile of the one that repeats a name is in the form of Parquet."""
    cities = {"oslo": "oslo/oslo", "lima": "lima/oslo"}
    table.insert(second(1), [{**row, "city": cities[row["city"]]} for row in spread(10)])
    table.upsert(second(2), [ride("r02", 20, city="oslo/oslo", rider="second"), ride("r12", 20, city="lima/oslo")])
    metafile = PartitionMetafile(second(1), 2)
    table.damage(remove("oslo/oslo/.hoodie_partition_metadata"))
    table.damage(
        write("oslo/oslo/.hoodie_partition_metadata.parquet", serialise_partition_metafile(metafile, "parquet"))
    )
    table.damage(write("oslo/kyiv/.hoodie_partition_metadata", serialise_partition_metafile(metafile, "properties")))
    table.snapshot("snapshot", "each row is there once", "SL-002 SL-020", "oldest-base-file")
    table.slices("slices", "slices lie in two partitions", "SL-002 SL-020", "partitions-are-one-folder-deep")
    table.snapshot(
        "filter",
        "a city is one whole path",
        "SL-020 RD-012",
        "filter-ignored",
        filter=["city", "=", "lima/oslo"],
    )
    table.incremental(
        second(1.7), None, "incremental", "the range has rows of both", "SL-020 IN-001", "range-begin-ignored"
    )
