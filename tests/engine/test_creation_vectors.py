"""Properties of tables that Apache Hudi made by the same options.

`apache_properties/vectors.json` holds options by name, and for each table version what its release (0.15.0, 1.0.2,
1.1.1) wrote: the properties of the table `plain`, and in what every other one differs from it; null where it refused.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import parse_properties
from hudi_spark import HudiError, TableDefinition, UnsupportedFeature
from hudi_spark.testing import Effects, create_table

VECTORS: Mapping[str, Any] = json.loads(
    (Path(__file__).parent / "apache_properties" / "vectors.json").read_text("utf-8")
)
TYPES = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64()}
SCHEMA = pa.schema([(name, TYPES[kind]) for name, kind in (one.split() for one in VECTORS["columns"].split(", "))])
CREATE_SCHEMA = "hoodie.table.create.schema"
PAYLOAD = "hoodie.compaction.payload.class"
PARTITIONS = "hoodie.table.partition.fields"
GENERATOR = ("hoodie.table.keygenerator.type", "hoodie.table.keygenerator.class")
UNIT = "hoodie.keygen.timebased.timestamp.type"
PATTERN = "hoodie.keygen.timebased.output.dateformat"
MERGING = ("hoodie.record.merge.mode", "hoodie.record.merge.strategy.id", PAYLOAD, "hoodie.table.legacy.payload.class")

# What differs in all versions, and why.
DIFFERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "two_parts_spaces": ("blanks around names are left out", (PARTITIONS, "hoodie.table.recordkey.fields")),
    "gentype_COMPLEX": ("a type that was requested is taken", GENERATOR),
    "gentype_GLOBAL_DELETE": ("a type that was requested is taken", (*GENERATOR, PARTITIONS)),
    "custom_two": ("custom generators keep what their timestamps are", (UNIT, PATTERN)),
    "pay_compaction_key": ("the table's own name of an option is accepted", MERGING),
    "mode_old_key": ("the table's own name of an option is accepted", MERGING),
}
# Version 6 loses what these name: no later write would know it.
DIFFERS_IN_6: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{name: ("what the column counts is kept", (UNIT,)) for name in VECTORS["options"] if name.startswith("stamp")},
    **{
        name: ("a payload class that was requested is kept", (PAYLOAD,))
        for name in VECTORS["options"]
        if name.startswith(("pay_", "mode_", "strategy_event"))
    },
    "mor_ordering": ("ordering fields count, as in 1.1.1", (PAYLOAD,)),
    "custom_inferred": ("types of partition fields mean the custom generator", (*GENERATOR, PARTITIONS)),
}
# Version 8 is written as 1.1.1 writes it; the vectors are those of 1.0.2.
DIFFERS_IN_8: Mapping[str, tuple[str, tuple[str, ...]]] = {
    name: ("the payload is by event time, as in 1.1.1", MERGING)
    for name in VECTORS["options"]
    if name.startswith("pay_EventTimeAvroPayload")
}
# Refused here, though a release takes them.
REFUSED = {
    "mode_contra": "two ways of merging",
    "pay_unknown": "no merger is known",
    "archive": "another folder",
    "multi": "several base formats",
    "orc": "another base format",
    "exclude": "an unknown option",
}
REFUSED_IN_6 = ("mode_CUSTOM_ts", "mode_CUSTOM_", "strategy_")
# Apache Hudi knows this option from 1.2 on.
NEWER = "slash"


def created(folder: Path, version: int, name: str) -> dict[str, str]:
    definition = TableDefinition("t", SCHEMA, table_version=version, configs=VECTORS["options"][name])
    create_table(Effects(LocalStorage(folder)), definition)
    return parse_properties((folder / ".hoodie" / "hoodie.properties").read_bytes(), "properties")


def is_refused(version: int, name: str) -> bool:
    return (
        name in REFUSED
        or VECTORS[str(version)]["changes"][name] is None
        or (version == 6 and name.startswith(REFUSED_IN_6) and name not in ("strategy_event", "strategy_commit"))
    ) and not (version == 6 and name in ("strategy_pay", "strategy_pay_contra"))


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_table_states_what_apache_hudi_states(version: int, tmp_path: Path):
    """Over a hundred combinations of options a version: equal, or different for a reason that is named above."""
    vectors = VECTORS[str(version)]
    for name in (one for one in VECTORS["options"] if not is_refused(version, one) and one != NEWER):
        folder = tmp_path / name
        folder.mkdir()
        found = created(folder, version, name)
        assert json.loads(found.pop(CREATE_SCHEMA))["name"] == "t_record"
        wanted = {
            key: value for key, value in {**vectors["plain"], **vectors["changes"][name]}.items() if value is not None
        }
        differing = {key for key in {*found, *wanted} if found.get(key) != wanted.get(key)}
        named = {**DIFFERS, **{6: DIFFERS_IN_6, 8: DIFFERS_IN_8}.get(version, {})}.get(name, ("", ()))
        assert differing <= set(named[1]), name


@pytest.mark.parametrize("version", [6, 8, 9])
def test_what_is_refused_leaves_nothing(version: int, tmp_path: Path):
    """An option that this engine cannot keep to, or that contradicts another, makes no table and no folder."""
    for name in (one for one in VECTORS["options"] if is_refused(version, one)):
        with pytest.raises((HudiError, UnsupportedFeature)):
            created(tmp_path, version, name)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_table_has_the_folders_that_apache_hudi_makes(version: int, tmp_path: Path):
    """The empty folders of a file system are those of the release."""
    created(tmp_path, version, "plain")
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_dir())
    assert found == VECTORS[str(version)]["folders"]
