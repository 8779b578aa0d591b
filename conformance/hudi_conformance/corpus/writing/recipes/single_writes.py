"""One write of each operation after an insert: what it changes, and what it leaves alone."""

from collections.abc import Mapping
from typing import Any, Final

from hudi_model.files import Field, Schema

from hudi_conformance.corpus.golden.rides import RIDES, Row, ride, rides
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, AND_DRAFT, COW, MOR, VERSIONS, requiring, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase, only

_FIRST = ("r01", "r02", "r11", "año-15")
_NO_META_FIELDS = {"hoodie.populate.meta.fields": "false"}


def with_rides(case: WritingCase, configs: Mapping[str, str] | None = None) -> Done:
    """A table with two rides in each of two cities; `configs` are of the write."""
    case.create()
    return case.write("insert", rides(10, _FIRST), configs=configs)


_COMPLEX: Final = {
    "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
    "hoodie.table.keygenerator.type": "COMPLEX",
}
_NAMED: Final = (
    *shapes((6,), (MOR,), properties=dict([*_COMPLEX.items()][:1]), label="named_keys"),
    *shapes((8,), (COW,), properties=dict([*_COMPLEX.items()][1:]), label="named_keys"),
)
_NAMING: Final = {"hoodie.write.complex.keygen.new.encoding": "false"}


_WIDE: Final = Schema((*RIDES.fields, *(Field(f"reading_{number}", "int64") for number in range(120))))


@writing(
    "single/upsert",
    (*shapes(AND_DRAFT), *_NAMED, *shapes((9,), label="wide"), *requiring((6, 9))),
    "OW-014 OW-003",
    "tagging-sees-nothing",
)
def upsert(case: WritingCase) -> None:
    """An upsert changes rows that are there and adds those that are not.

    Given rides of two cities, also in tables whose first keys name their one field, in some whose key, partition and
    ordering fields may not be null, and in some of 129 columns.
    When an upsert brings a newer version of one ride, an older version of another, and a new one.
    Then the newer version and the new ride stand, and the older version has lost.
    """
    is_named = case.shape.label == "named_keys"
    if is_named:
        case.shows("DM-030", "complex-keys-unnamed")
    if case.shape.label == "wide":
        case.schema = _WIDE
    first = with_rides(case, _NAMING if is_named else None)
    case.write("upsert", [ride("r01", 20), ride("r11", 5, rider="late"), ride("🚲-16", 20)])
    case.state()
    case.as_of(first)
    case.incremental(first)
    if case.is_mor:
        case.shows("OW-016", "updates-rewrite-in-merge-on-read")
        case.shows_draft("NL-001 NL-009", "blocks-in-version-10")
    else:
        case.shows("OW-015 TT-001", "copy-on-write-forgets-old-rows copy-on-write-is-logged")


_ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
COMPLETING: Final = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload"}


@writing("single/late_row_fills", shapes((9,), (COW, MOR), properties=COMPLETING), "MG-023 MG-025 MG-011 IN-001", "")
def late_row_fills(case: WritingCase) -> None:
    """A late row fills columns of the one that stands, and the change is reported.

    Given rides without riders, in a table whose versions complete each other.
    When an older version of one ride brings a rider; another ride is updated, updated without ordering value, and
    updated with one between its first and the last.
    Then the ride has the rider beside its own values; a rewritten file has it under the time of the late write, a log
    leaves it its own, and a range after the first write has it in both. The update without ordering value has won, and
    stands: it competes with the value of the columns that it is completed from.
    """
    case.create()
    first = case.write("insert", rides(10, ("r01", "r11"), rider=None))
    case.write("upsert", [ride("r01", 5, rider="late")])
    case.snapshot()
    case.incremental(first)
    for ts, rider in ((20, "ordered"), (None, "unordered"), (15, "older")):
        case.write("upsert", [{**ride("r11", 20, rider=rider), "ts": ts}])
    case.snapshot()
    case.shows(
        *(("", "ranges-by-commit-time-alone") if case.is_mor else ("MF-010 OW-015", "filled-rows-keep-their-time"))
    )


@writing("single/insert_of_a_known_key", shapes(), "OW-012 OW-020", "insert-groups-by-partition")
def insert_of_a_known_key(case: WritingCase) -> None:
    """An insert looks no key up.

    Given rides of two cities.
    When an insert brings a ride whose key is there, and a new one.
    Then both stand beside what is there, in file groups that the insert opened.
    """
    first = with_rides(case)
    case.write("insert", [ride("r01", 20, rider="again"), ride("r03", 20)])
    case.state()
    case.incremental(first)


_NAMED_FOLDERS: Final = {**_NO_META_FIELDS, "hoodie.datasource.write.hive_style_partitioning": "true"}


@writing(
    "single/bulk_insert",
    (
        *shapes(versions=(6, 9)),
        *shapes((6,), (COW,), properties=_NAMED_FOLDERS, label="named_folders"),
        *shapes((9,), (MOR,), properties=_NAMED_FOLDERS, label="named_folders"),
    ),
    "OW-012 OW-014 DM-031",
    "insert-groups-by-partition",
)
def bulk_insert(case: WritingCase) -> None:
    """A bulk insert opens file groups of its own.

    Given rides of two cities, in some tables without meta fields, whose folders name their column.
    When a bulk insert brings more, one of them of no city.
    Then all stand, the new ones in new file groups, and that of no city in the folder of missing values.
    """
    with_rides(case)
    case.write("bulk_insert", [*rides(20, ("r03", "r12")), {**ride("r41", 20), "city": None}])
    case.snapshot(meta_columns=not case.shape.label)
    case.timeline()
    case.slices()
    case.optimized()


@writing("single/delete", shapes(AND_DRAFT), "OW-013 OW-003", "tagging-sees-nothing")
@writing(
    "single/delete_v9",
    shapes((9,), (MOR,), label="after_nothing"),
    "OW-013 OW-003 DM-003",
    "tagging-sees-nothing",
    begins_with="v9/mor_empty_commit",
)
def delete(case: WritingCase) -> None:
    """A delete removes keys whatever their ordering values.

    Given rides of two cities; in one table newer writes have brought nothing and state no schema, or an empty text.
    When a delete names two of them, one with an older ordering value, and a key that is not there; in that table by
    their keys alone, and again.
    Then the two are gone, and the unknown key has left no trace.
    """
    if case.shape.label:
        keys = only(RIDES, ("id", "city"))
        case.write("delete", rides(None, ("r01", "r11", "nobody")), schema=keys)
        case.write("delete", rides(None, ("r01", "r12")), schema=keys)
        case.state()
        case.shows("OW-016", "delete-writes-nothing")
        return
    first = with_rides(case)
    case.write("delete", [ride("r01", 20), ride("r11", 5), ride("r04", 20)])
    case.state()
    case.as_of(first)
    if case.is_mor:
        case.shows("OW-016", "delete-writes-nothing")
        case.shows_draft("NL-004 NL-009", "blocks-in-version-10")


@writing("single/delete_and_write_again", shapes(AND_DRAFT, (MOR,)), "OW-013 OW-020", "delete-writes-nothing")
def delete_and_write_again(case: WritingCase) -> None:
    """A key whose row a log deleted belongs to the file group of its base row.

    Given a ride that was deleted.
    When it is written again, with an older ordering value than the deleted one had.
    Then it is there again, in the file group where it was.
    """
    with_rides(case)
    deleted = case.write("delete", [ride("r01", 20)])
    case.snapshot()
    case.write("upsert", [ride("r01", 5, rider="back")])
    case.state()
    case.incremental(deleted)


@writing("single/insert_overwrite", shapes(), "OW-018 OW-014", "overwrite-keeps-old-groups")
def insert_overwrite(case: WritingCase) -> None:
    """An insert overwrite replaces the file groups of the partitions that its rows are in.

    Given rides of two cities, and of two others whose names begin like one of these, or are the beginning of it.
    When that city is overwritten with two rides.
    Then it has these two, the others are as they were, and the action is a replacecommit.
    """
    with_rides(case)
    first = case.write("insert", [ride("r21@oslo-s", 10), ride("r31@osl", 10)])
    case.write("insert_overwrite", rides(5, ("r01", "r03")))
    case.state()
    case.as_of(first)
    case.incremental(first)
    case.shows(kills="overwrites-are-usual-commits")


@writing(
    "single/insert_overwrite_table",
    shapes(),
    "OW-018 OW-014",
    "overwrite-keeps-old-groups overwrites-are-usual-commits",
)
def insert_overwrite_table(case: WritingCase) -> None:
    """An insert overwrite of the table replaces every file group.

    Given rides of two cities.
    When the table is overwritten with one ride.
    Then that ride is all there is.
    """
    first = with_rides(case)
    case.write("insert_overwrite_table", [ride("r02", 5)])
    case.state()
    case.as_of(first)


@writing(
    "single/delete_partition", shapes(), "OW-018 OW-014", "overwrite-keeps-old-groups overwrites-are-usual-commits"
)
def delete_partition(case: WritingCase) -> None:
    """A deletion of a partition replaces its file groups by nothing.

    Given rides of two cities.
    When one city is deleted, and then one of its rides is written again.
    Then that city has this ride alone, and the other is as it was.
    """
    with_rides(case)
    deleted = case.write("delete_partition", partitions=["lima"])
    case.state()
    case.write("upsert", [ride("r11", 5)])
    case.snapshot()
    case.slices()
    case.incremental(deleted)


@writing(
    "single/delete_partition_partly_there",
    (*shapes(versions=(6, 9)), *shapes((9,), partition_by=("city", "rider"), label="nested")),
    "OW-018",
    "missing-partitions-stop-a-deletion",
)
def delete_partition_partly_there(case: WritingCase) -> None:
    """A deletion of partitions of which one is not there deletes the others, and names it.

    Given rides of two cities, and of two others whose names begin like one of these, or are the beginning of it.
    When that city and one without rides are deleted; or a rider of the city, and the folder of all riders of another.
    Then the other cities are as they were, the action stands, and a warning names what is no partition.
    """
    with_rides(case)
    case.write("insert", [ride("r21@lima-norte", 10), ride("r31@lim", 10)])
    deleted = ["lima/rider 5", "oslo"] if case.shape.label else ["lima", "quito"]
    case.write("delete_partition", partitions=deleted, warns="OW-018")
    case.state()


@writing(
    "single/delete_partition_of_signs",
    (*shapes((6, 8, 9), (MOR,), properties=_ENCODED), *shapes((6, 9), (COW,), properties=_ENCODED)),
    "OW-018 DM-032",
    "paths-unencoded",
)
def delete_partition_of_signs(case: WritingCase) -> None:
    """A deletion of partitions names their paths, as the encoding spells them.

    Given rides of cities whose names hold signs that are encoded in paths, or look like encoded ones, some with logs.
    When two of these are deleted by their paths, and rides come to one of them again.
    Then they have these rides alone, and the others are as they were.
    """
    with_rides(case)
    cities = ("50% / a=b", "li%20ma", "li ma", "ü:?")
    many = [{**ride(f"p{number}", 10), "city": city} for number, city in enumerate(cities)]
    case.write("upsert", many)
    case.write("upsert", [{**one, "ts": 20, "rider": "changed"} for one in many])
    case.write("delete_partition", partitions=["50%25 %2F a%3Db", "li%2520ma"])
    case.state()
    case.write("upsert", [{**many[1], "ts": 5}])
    case.snapshot()


@writing("single/delete_partition_not_there", shapes(), "OW-018", "nothing-deleted-is-committed")
def delete_partition_not_there(case: WritingCase) -> None:
    """A deletion of partitions that are not there is no action, and says so.

    Given rides of two cities, of which one was deleted.
    When it and a city that never had rides are deleted.
    Then the timeline is as it was, and a warning names them.
    """
    with_rides(case)
    case.write("delete_partition", partitions=["lima"])
    case.write("delete_partition", partitions=["lima", "quito"], warns="OW-018")
    case.state()


@writing("single/partial_update", shapes(AND_DRAFT[1:]), "OW-025", "partial-columns-by-place")
def partial_update(case: WritingCase) -> None:
    """A partial update changes the columns that it brings.

    Given rides of two cities.
    When the ratios of two of them are changed, one with an older ordering value; logs are compacted, and a fare is
    changed; files are clustered.
    Then the newer change stands, the other columns of that ride are as they were, and the older change has lost, before
    and after each service.
    """
    first = with_rides(case)
    changed = [ride("r01", 20, ratio=0.5), ride("r11", 5, ratio=0.25)]
    case.write("partial_update", changed, schema=only(RIDES, ("id", "city", "ts", "ratio")))
    case.state()
    if case.is_mor:
        case.shows_draft("NL-003 NL-009", "native-logs-are-whole-rows")
        case.run("compaction", COMPACTION_DUE)
        case.state()
    else:
        case.incremental(first)
    case.write("partial_update", [ride("r01", 30, fare=None)], schema=only(RIDES, ("id", "city", "ts", "fare")))
    if case.shape.version in VERSIONS:
        case.run("clustering", CLUSTERING_DUE)
        case.snapshot()


@writing("single/partial_update_refused", shapes(versions=(6,)), "OW-025", "partial-updates-everywhere")
def partial_update_refused(case: WritingCase) -> None:
    """Tables of version 6 take no partial updates.

    Given rides in a table of version 6.
    When a partial update is requested.
    Then it is refused, and the table is as it was.
    """
    with_rides(case)
    changed = [ride("r01", 20, rider="changed")]
    schema = only(RIDES, ("id", "city", "ts", "rider"))
    case.write("partial_update", changed, schema=schema, reject="CONFIG_INVALID")
    case.snapshot()


@writing("single/rows_of_one_key", shapes(versions=(6, 8, 9)), "OW-019 MG-017", "combine-keeps-the-first")
def rows_of_one_key(case: WritingCase) -> None:
    """Rows of one write with the same key are merged before they are written.

    Given rides of two cities.
    When one upsert brings two versions of a known ride and two of a new one, one time with equal ordering values, and
    a ride of two cities; another one by a global index versions of known and new rides in several cities, the newest
    neither first nor last.
    Then of each the newest one stands, the last of those that are equal, and in each of two cities one; with the global
    index it stands in its own city, and in no other.
    """
    with_rides(case)
    several = [*(ride("r01", ts, rider=f"at {ts}") for ts in (20, 30)), ride("r03", 20), ride("r03", 30)]
    equal = [ride(key, 30, rider=rider) for rider in ("earlier", "later") for key in ("r11", "r13")]
    case.write("upsert", [*several, *equal, *(ride("both", 30, city=city) for city in ("oslo", "lima"))])
    case.snapshot()
    case.slices()
    moves = ((40, "oslo"), (60, "bergen"), (50, "lima"))
    versions = [ride(key, ts, city=city) for key in ("r02", "r11", "new") for ts, city in moves]
    case.write("upsert", versions, configs=_GLOBAL)
    case.snapshot()
    case.slices()


def rows_that_complete(case: WritingCase) -> None:
    """Rows of one write with the same key complete each other as versions of a row do, where the table says so.

    Given rides in a table whose versions complete each other.
    When one upsert brings versions of known and new rides, in and out of order, the newest of which lack values.
    Then each ride has what the table's rule leaves of its versions, and of the row that was there.
    """
    case.create()
    case.write("insert", [*rides(10, ("r11",), rider="first"), ride("r01", 10, rider=None)])
    empty: Row = {"rider": None, "fare": None, "paid": None}
    batch = [ride("r01", 20, rider="older"), {**ride("r01", 30), **empty}]
    batch += [{**ride("r03", 30), **empty}, ride("r03", 20, rider="older")]
    batch += [
        {**ride("r11", 40), **empty},
        ride("r11", 30, rider=None),
        {**ride("r11", 20, rider="oldest"), "paid": None},
    ]
    case.write("upsert", batch)
    case.snapshot()
    case.slices()


for _payload in ("PartialUpdateAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload"):
    _properties = {"hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{_payload}"}
    writing(
        f"single/rows_that_complete_{_payload.partition('Avro')[0].lower()}",
        shapes(merge_mode=None, properties=_properties),
        "OW-019 MG-017",
        "combine-keeps-the-first",
    )(rows_that_complete)


@writing(
    "single/inserts_are_not_combined",
    (
        *shapes((9,)),
        *shapes((6,), (COW,), properties=_NO_META_FIELDS, label="without_meta"),
        *shapes((9,), properties=_NO_META_FIELDS, label="without_meta"),
    ),
    "OW-019 OW-015",
    "inserts-are-combined",
)
def inserts_are_not_combined(case: WritingCase) -> None:
    """Rows of one insert with the same key stand beside each other by default, also where no meta field has their key.

    Given a table with rides.
    When an insert brings a key twice, and another does so with combining requested; two bulk inserts do the same, and
    an upsert brings the combined ones.
    Then each of the first keys is there twice, and the others once in each city, under their own keys.
    """
    combining = {"hoodie.combine.before.insert": "true"}
    has_keys = not case.shape.label
    with_rides(case)
    for operation, plain, combined in (("insert", "r03", "r04"), ("bulk_insert", "r13", "r14@lima")):
        case.write(operation, [*rides(20, (plain, "駅-06")), ride(plain, 30)])
        elsewhere = ride(combined, 25, city="bergen")
        brought = [ride(combined, 30), ride(combined, 20, rider="older"), elsewhere, ride("año-15", 5)]
        case.write(operation, brought, configs=combining)
        case.snapshot(meta_columns=has_keys)
    case.write("upsert", rides(40, ("r04", "r14@lima"), rider="upserted"))
    case.snapshot(meta_columns=has_keys)


@writing(
    "single/upsert_by_commit_time",
    shapes(versions=(6, 9), merge_mode="COMMIT_TIME_ORDERING", ordering=()),
    "OW-003",
    "tagging-sees-nothing",
)
def upsert_by_commit_time(case: WritingCase) -> None:
    """Where commit time decides, the last write stands.

    Given rides of two cities, merged by commit time.
    When an upsert brings one of them with an older ordering value, and one column of what came is requested.
    Then it stands, and is what came.
    """
    first = with_rides(case)
    case.write("upsert", [ride("r01", 5, rider="last")])
    case.snapshot()
    case.slices()
    case.query("read_incremental", begin=first.bound, columns=["rider"])
    case.shows("OW-016" if case.is_mor else "OW-015")


@writing(
    "single/upsert_without_partitions",
    (
        *shapes(versions=(6, 9), partition_by=()),
        *shapes((6, 9), (MOR,), partition_by=(), record_key=("id", "city"), label="two_keys"),
    ),
    "OW-003",
    "tagging-sees-nothing",
)
def upsert_without_partitions(case: WritingCase) -> None:
    """An upsert of a table without partitions.

    Given rides in the base folder itself, in some tables with keys of two fields.
    When an upsert brings a newer version of one, and a new one.
    Then both stand.
    """
    with_rides(case)
    case.write("upsert", [ride("r11", 20), ride("r03", 20)])
    case.state()


_COMPOSITE: Final[Mapping[str, Any]] = {
    "record_key": ("id", "rider"),
    "properties": {"hoodie.datasource.write.hive_style_partitioning": "true"},
}
_BY_RECORD_INDEX: Final = {
    **ALONE,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.index.type": "RECORD_INDEX",
}
_BY_PARTITION: Final = {
    **{key: value for key, value in _BY_RECORD_INDEX.items() if key != "hoodie.metadata.record.index.enable"},
    "hoodie.metadata.record.level.index.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "false",
    "hoodie.index.type": "RECORD_LEVEL_INDEX",
}


@writing(
    "single/upsert_of_composite_keys",
    (
        *shapes(versions=(6, 9), **_COMPOSITE),
        *(
            one
            for label, configs in (("latest", _BY_RECORD_INDEX), ("by_partition", _BY_PARTITION))
            for one in shapes(
                versions=(9,),
                types=(MOR,),
                label=label,
                ordering=(),
                merge_mode="COMMIT_TIME_ORDERING",
                configs=configs,
                **_COMPOSITE,
            )
        ),
    ),
    "OW-003",
    "tagging-sees-nothing",
)
def upsert_of_composite_keys(case: WritingCase) -> None:
    """An upsert and a delete of rows whose key two columns make, in partitions named after their column.

    Given rides whose keys are id and rider; in two tables a record index knows them, in one for each partition.
    When an upsert brings one pair that is there, and one that shares the id alone, and a delete one of each.
    Then the first is an update, and the second a new ride; afterwards the pair of the delete is gone, and no other.
    Filters that pin both find the pairs that are left, as do those that name several or one part alone. A key with
    which another one begins is new, and goes to a new file group.
    """
    case.create()
    case.write("insert", [ride("r01", 10, rider="ann"), ride("r11", 10, rider="bob")])
    case.write("upsert", [ride("r01", 20, rider="ann"), ride("r11", 20, rider="cid")])
    case.snapshot()
    case.slices()
    case.write("delete", [ride("r01", 30, rider="bob"), ride("r11", 30, rider="bob")])
    case.snapshot()
    for key, rider in (("r01", "ann"), ("r11", "bob"), ("r11", "cid")):
        case.filtered(["and", ["id", "=", key], ["rider", "=", rider]])
    either = [["and", ["id", "=", key], ["rider", "=", rider]] for key, rider in (("r01", "ann"), ("r11", "cid"))]
    case.filtered(["or", *either])
    case.filtered(["id", "=", "r11"])
    for pinned in (["id", "in", ["r01", "r11"]], ["id", "!=", "r01"], [["fn", "upper", "id"], "=", "R11"]):
        case.filtered(["and", pinned, ["rider", "in", ["ann", "cid"]]])
    if case.shape.label:
        case.write("upsert", [ride("r01", 40, rider="an")])
        case.snapshot()
        case.slices()
        case.sound()
        case.shows("IX-055 IX-020" if case.shape.label == "latest" else "IX-022 IX-020")


_GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
GLOBAL_BLOOM = {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "true"}


@writing(
    "single/row_moves", shapes(versions=(6, 8, 9)), "OW-021 OW-024", "global-index-by-partition moved-row-stays-too"
)
def row_moves(case: WritingCase) -> None:
    """With a global index a row that requests another partition moves there, however often, and is deleted anywhere.

    Given rides of two cities.
    When upserts by global indexes of two kinds bring one of them in another city, in a third and in the first again,
    and a delete names it there after it has moved once more.
    Then it is in the city that the last of them names and in no other, and in the end in none.
    """
    with_rides(case)
    case.write("upsert", [ride("r01", 20, city="lima")], configs=_GLOBAL)
    case.state()
    case.write("upsert", [ride("r01", 30, city="bergen"), ride("r11", 30)], configs=GLOBAL_BLOOM)
    case.write("upsert", [ride("r01", 40, rider="back")], configs=_GLOBAL)
    case.state()
    case.write("upsert", [ride("r01", 50, city="bergen")], configs=_GLOBAL)
    case.write("delete", [ride("r01", 60)], configs=_GLOBAL)
    case.state()


@writing(
    "single/payload_row_moves",
    shapes(
        (6, 8),
        label="completing",
        merge_mode=None,
        properties=COMPLETING,
    ),
    "OW-021 OW-024",
    "moved-row-stays-too",
)
def payload_row_moves(case: WritingCase) -> None:
    """A row that moves takes along what its payload class keeps of the older version.

    Given rides of two cities in a table whose payload class completes a version by the other one.
    When upserts with a global index bring rides in another city without a rider or a fare, one of them late.
    Then the rides lie in the city of the newest version, with the values that it lacks from the older one.
    """
    with_rides(case)
    moved = [ride("r01", 20, city="lima", rider=None, fare=None), ride("r12", 0, city="oslo", rider="late", fare=None)]
    case.write("upsert", moved, configs=_GLOBAL)
    case.state()
    case.write("upsert", [ride("r01", 30, ratio=None), ride("r11", 30, city="bergen", day=None)], configs=_GLOBAL)
    case.state()


@writing("single/row_stays", shapes(versions=(6, 9)), "OW-021", "global-index-by-partition")
def row_stays(case: WritingCase) -> None:
    """With a global index that keeps partitions a row is updated where it is.

    Given rides of two cities.
    When an upsert with a global index that updates no partition brings one of them in another city.
    Then it is updated in the city where it was.
    """
    with_rides(case)
    configs = {**_GLOBAL, "hoodie.simple.index.update.partition.path": "false"}
    case.write("upsert", [ride("r01", 20, city="lima")], configs=configs)
    case.snapshot()
    case.slices()


@writing("single/late_row_does_not_move", shapes(versions=(9,)), "OW-024", "late-rows-move")
def late_row_does_not_move(case: WritingCase) -> None:
    """A row moves only if it beats the stored row.

    Given rides of two cities.
    When an upsert with a global index brings one of them in another city, with an older ordering value.
    Then the ride is where it was, as it was.
    """
    with_rides(case)
    case.write("upsert", [ride("r01", 5, city="lima", rider="late"), ride("r12", 20)], configs=_GLOBAL)
    case.snapshot()


BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
_RULED = {**ALONE, "hoodie.bucket.index.partition.expressions": "sl,2;.,3"}
_RING = {**BUCKETS, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}


@writing(
    "single/buckets",
    (*shapes(versions=(6, 8, 9)), *shapes(versions=(6, 8, 9), configs=_RULED, label="ruled")),
    "OW-022 OW-023",
    "bucket-hash-keeps-its-sign new-bucket-group-each-time",
)
def buckets(case: WritingCase) -> None:
    """A bucket index finds the file group of a key by its hash.

    Given rides written into four buckets a city, or into as many as the first rule says whose pattern is in its path.
    When upserts change some and add others, these are changed, too, and the table is overwritten.
    Then each is in the file group of its bucket, and no bucket has two; afterwards the rides of the overwrite are
    there.
    """
    if case.shape.label:
        case.shows("OW-036", "last-rule-counts")
    case.create()
    case.write(_opening(case), rides(10, ("r01", "r02", "r03", "año-15")), configs=BUCKETS)
    case.slices()
    if case.is_mor:
        case.write("upsert", rides(15, ("r01", "año-15")), configs=BUCKETS)
        case.slices()
    case.write("upsert", rides(20, ("r01", "🚲-16", "fähre-05")), configs=BUCKETS)
    case.write("upsert", rides(30, ("r04", "r05", "r12", "🚲-16", "fähre-05")), configs=BUCKETS)
    case.write("upsert", rides(40, ("r04", "r05", "r12")), configs=BUCKETS)
    case.snapshot()
    if not case.is_mor:
        case.slices()
    case.write("insert_overwrite_table", rides(5, ("r02", "r04", "r12")), configs=BUCKETS)
    case.state()


@writing(
    "single/new_keys_of_buckets",
    (*shapes((6, 9), (COW,)), *shapes((8, 9), (MOR,))),
    "OW-022 DM-001",
    "new-bucket-group-each-time",
)
def new_keys_of_buckets(case: WritingCase) -> None:
    """A bucket is that of a key whether the key is there or not.

    Given rides written into two buckets a city.
    When an insert that leaves known keys out brings new ones, and an upsert changes old and new ones.
    Then the new rides are there, and each ride once.
    """
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
    case.create()
    case.write(_opening(case), rides(10, ("r01", "r02", "r03", "r11")), configs=buckets)
    new = ("r04", "r05", "r06", "r12")
    case.write("insert", rides(10, new), configs={**buckets, "hoodie.datasource.write.insert.drop.duplicates": "true"})
    case.snapshot()
    case.write("upsert", rides(30, ("r01", *new)), configs=buckets)
    case.snapshot()


_DROPPING: Final = {"hoodie.datasource.write.insert.drop.duplicates": "true"}
_REFUSING: Final = {"hoodie.datasource.insert.dup.policy": "fail"}


@writing(
    "single/known_keys_left_out",
    (
        *shapes(versions=(6, 8, 9)),
        *shapes((6, 9), configs={"hoodie.index.type": "BLOOM"}, label="bloom"),
        *shapes((6, 9), configs={"hoodie.index.type": "GLOBAL_SIMPLE"}, label="global"),
        *shapes((9,), configs=BUCKETS, label="buckets"),
    ),
    "DM-001 OW-018",
    "overwrite-keeps-old-groups",
)
def known_keys_left_out(case: WritingCase) -> None:
    """An insert leaves keys out that the table has, or is refused because of them, where it is requested to.

    Given rides of two cities, one of them deleted since.
    When inserts bring known keys and new ones, with known keys to be left out, then to be refused; then such an insert
    brings new ones alone; an upsert and an overwrite have the same option.
    Then rides that are there stay as they are, the deleted one and new ones are there, and the second insert changes
    nothing; upsert and overwrite write all of their rows.
    """
    with_rides(case)
    case.write("delete", rides(20, ("r02",)))
    case.write("insert", rides(30, ("r01", "r02", "r03")), configs=_DROPPING)
    case.snapshot()
    case.write("insert", rides(40, ("r03", "r04")), configs=_REFUSING, reject="CONFIG_INVALID")
    case.snapshot()
    case.write("insert", rides(50, ("r04",)), configs=_REFUSING)
    case.write("upsert", rides(60, ("r03", "r05")), configs=_DROPPING)
    case.snapshot()
    case.write("insert_overwrite", rides(70, ("r01", "r05")), configs=_DROPPING)
    case.snapshot()


@writing(
    "single/consistent_hashing",
    (*shapes(versions=(6, 8, 9), types=(MOR,)), *shapes(versions=(9,), label="refused")),
    "OW-034",
    "",
)
def consistent_hashing(case: WritingCase) -> None:
    """A ring that every writer makes alike has the file group of each key.

    Given rides written by consistent hashing, four groups a city, or a copy-on-write table.
    When upserts change some and add others; or an overwrite is requested, a city is deleted, and an upsert of that city
    is requested.
    Then each is in the group that its city's ring names; both requests are refused, and all of the other table are.
    """
    case.create()
    if not case.is_mor:
        case.shows(kills="rings-on-copy-on-write")
        case.write("upsert", rides(10, ("r01",)), configs=_RING, reject="CONFIG_INVALID")
        case.snapshot()
        return
    case.write("bulk_insert", rides(10, ("r01", "r02", "r03", "año-15")), configs=_RING)
    if case.shape.label:
        case.shows("OW-018", "rings-have-deleted-groups")
        case.write("insert_overwrite", rides(20, ("r03",)), configs=_RING, reject="CONFIG_INVALID")
        case.write("delete_partition", partitions=["oslo"], configs=_RING)
        case.write("upsert", rides(25, ("r01",)), configs=_RING, reject="CONFIG_INVALID")
    else:
        case.shows("OW-023", "each-writer-has-its-ring")
        case.slices()
        # Of the hash's parts these need the single bytes at the end, outside ASCII, and the stripes of 16 bytes.
        hashed = [*(f"abc{one}" for one in "ñöé"), *(f"ride number {one} of the day" for one in "123")]
        case.write("upsert", rides(15, ("r01", "fähre-05", "駅-06", *hashed)), configs=_RING)
        case.write("delete", rides(None, ("r02",)), configs=_RING)
        case.sound()
    case.state()


def _opening(case: WritingCase) -> str:
    """An operation that begins buckets with base files, whichever writer does it.

    Clauses: OW-016.
    """
    return "bulk_insert" if case.is_mor else "upsert"


_BY_RIDER: Final = {**ALONE, "hoodie.bucket.index.hash.field": "rider"}


@writing(
    "single/composite_buckets",
    (
        *shapes((6, 9), (COW,), record_key=("id", "rider")),
        *shapes((8,), (MOR,), record_key=("id", "rider")),
        *shapes((9,), (MOR,), _BY_RIDER, record_key=("id", "rider"), label="by_rider"),
    ),
    "OW-022",
    "composite-keys-end-at-commas null-key-parts-hashed-as-words",
)
def composite_buckets(case: WritingCase) -> None:
    """A composite key is hashed by the values of its parts, whatever signs they hold.

    Given rides into sixteen buckets a city, whose riders hold commas and colons, look like a second key, are null or
    empty, and one in bucket 2 of a city named 11.
    When an upsert changes all of them, and another one, too, and brings one in bucket 12 of a city named 1.
    Then each is in the bucket of its two values, or of the rider alone where that is the hash field, and is there once.
    """
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "16"}
    riders = {"r01": "a,b", "r02": "a b:c,d", "r03": None, "r04": "", "fähre-05": "12:30", "🚲-16": "é,ü:,"}
    riders["r06"] = "a,b,id:7"
    alike = {"a8": "11", "c0": "1"}
    case.create()
    for ts, operation, more in ((10, _opening(case), ("a8",)), (20, "upsert", ("a8",)), (30, "upsert", tuple(alike))):
        found = [ride(key, ts, rider=rider) for key, rider in riders.items()]
        case.write(operation, [*found, *(ride(key, ts, rider="x", city=alike[key]) for key in more)], configs=buckets)
        if "c0" not in more or not case.is_mor:
            case.slices()
    case.snapshot()


@writing(
    "single/rows_without_keys",
    (*shapes((9,), (COW,)), *shapes((6,), (MOR,), record_key=("id", "rider"))),
    "DM-001 DM-002",
    "empty-keys-are-keys",
)
def rows_without_keys(case: WritingCase) -> None:
    """Rows whose key fields are all null or empty are refused with all that comes beside them.

    Given two rides.
    When inserts, upserts and deletes bring a row without key beside others: null, empty, or either in each field.
    Then each is refused, and nothing of it is there; a key of several fields may lack one.
    """
    case.create()
    case.write("insert", rides(10, ("r01", "r02")))
    for operation, key, rider in (
        ("upsert", "", ""),
        ("insert", None, ""),
        ("upsert", None, None),
        ("delete", "", None),
    ):
        given = {"rider": rider} if len(case.shape.record_key) > 1 else {}
        case.write(operation, [ride("r01", 20), {**ride("r02", 20), "id": key, **given}], reject="KEY_MISSING")
    if len(case.shape.record_key) > 1:
        case.write("upsert", [{**ride("r03", 20), "id": "", "rider": "Zoe"}, ride("r04", 20, rider=None)])
    case.snapshot()


@writing(
    "single/deleted_in_two_files",
    shapes(types=(MOR,)),
    "OW-020 OW-003",
    "deleted-keys-have-one-place",
)
def deleted_in_two_files(case: WritingCase) -> None:
    """A key whose rows logs deleted in two file groups belongs to both, as one that is alive in both does.

    Given a ride that was inserted, deleted, inserted again, which looks no key up, and deleted again.
    When an upsert brings it back, a delete and another upsert follow.
    Then it is in the groups of both of its base rows each time, and gone from both in between.
    """
    case.create()
    for ts in (10, 30):
        case.write("insert", rides(ts, ("r01", f"r{ts}")))
        case.write("delete", rides(None, ("r01",)))
        case.snapshot()
    case.write("upsert", rides(50, ("r01", "r02")))
    case.snapshot()
    case.write("delete", rides(None, ("r01",)))
    case.snapshot()
    case.write("upsert", rides(60, ("r01",)))
    case.snapshot()


@writing(
    "single/buckets_of_keys_with_colons",
    (*shapes((6, 9), (COW,)), *shapes((8, 9), (MOR,))),
    "OW-022 OW-023 IX-051",
    "bucket-of-what-follows-a-colon",
)
def buckets_of_keys_with_colons(case: WritingCase) -> None:
    """A colon or a comma in a key of one field is a letter of it, for writers and for readers that ask for one bucket.

    Given rides inserted into eight buckets a city, whose keys end alike behind their last colon, are moments, or hold a
    comma.
    When an upsert changes all of them, and each is asked for by its key.
    Then each is in the bucket of its whole key, is there once, and is found.
    """
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "8"}
    keys = ("tiq_1:htm", "tiq_2:htm", "tiq_3:htm", ":htm", "2023-10-25 10:01:13.182", "2023-10-25 11:01:13.182", "a,b")
    case.create()
    for ts, operation in ((10, "bulk_insert" if case.is_mor else "insert"), (20, "upsert")):
        case.write(operation, rides(ts, keys), configs=buckets)
    case.slices()
    case.snapshot()
    for key in keys:
        case.filtered(["id", "=", key])


@writing("single/kinds_of_indexes", shapes(versions=(9,)), "OW-020", "tagging-sees-nothing any-index-will-do")
def kinds_of_indexes(case: WritingCase) -> None:
    """Simple and bloom indexes answer alike, and an unknown kind is refused.

    Given rides of two cities.
    When upserts by bloom, global bloom and simple index change the same ride, and one names no index that there is.
    Then each change is in the file group of the ride, and the unknown index is refused.
    """
    with_rides(case)
    for number, kind in enumerate(("BLOOM", "GLOBAL_BLOOM", "SIMPLE")):
        case.write("upsert", [ride("r01", 20 + number, rider=kind)], configs={"hoodie.index.type": kind})
    case.write("upsert", [ride("r02", 20)], configs={"hoodie.index.type": "TELEPATHY"}, reject="CONFIG_INVALID")
    case.state()


@writing(
    "single/bounds_of_files",
    shapes(versions=(6, 9)),
    "OW-020 OW-012",
    "greatest-keys-are-not-found",
)
def bounds_of_files(case: WritingCase) -> None:
    """The least and the greatest key of a file are found like those between.

    Given a city with two file groups, of one and of four rides, and another city.
    When upserts by bloom and by global bloom index change the first and the last ride of each, and then all.
    Then each ride is there once, with its last change.
    """
    keys = ("a", "m", "r01", "駅-06")
    case.create()
    case.write("insert", rides(10, keys))
    case.write("insert", rides(10, ("x", "r11")))
    for number, kind in enumerate(("BLOOM", "GLOBAL_BLOOM")):
        ends = rides(20 + number, ("a", "駅-06", "x", "r11"), rider=kind)
        case.write("upsert", ends, configs={"hoodie.index.type": kind})
    case.slices()
    case.write("upsert", rides(30, (*keys, "x", "r11")), configs={"hoodie.index.type": "BLOOM"})
    case.state()


@writing("single/insert_overwrite_of_nothing", shapes(versions=(9,), types=(COW,)), "OW-018", "inserts-replace")
def overwrite_then_insert(case: WritingCase) -> None:
    """What replaced file groups leaves those that come later alone; nothing in place of all rows leaves none.

    Given a city that was overwritten.
    When an insert adds a ride to it, the table is overwritten with no rows, and rides come again; an overwrite brings
    one ride in two cities, of which a global index combines the later one.
    Then the rides of the overwrite and of the insert are there, then none is, and those that came again; at last the
    other city is as it was.
    """
    with_rides(case)
    case.write("insert_overwrite", rides(20, ("r01",)))
    case.write("insert", rides(30, ("r02",)))
    case.state()
    case.write("insert_overwrite_table", [])
    case.state()
    case.write("upsert", rides(40, ("r11",)))
    case.state()
    case.write("insert", rides(45, ("r02",)))
    combining = {**_GLOBAL, "hoodie.combine.before.insert": "true"}
    case.write("insert_overwrite", [ride("r01", 50), ride("r01", 60, city="lima")], configs=combining)
    case.state()


@writing(
    "single/partition_letters",
    (*shapes(), *shapes((6, 9), properties=_ENCODED, label="encoded")),
    "DM-031 SL-020",
    "",
)
def partition_letters(case: WritingCase) -> None:
    """A backslash, a percent sign, a blank or a line's end in a partition value is a letter of its folder's name.

    Given rides of two cities, in a table that encodes paths or does not.
    When rides of cities with such names are written and changed, and one of them by a delete; where paths are encoded
    rides of cities, too, whose names hold every sign that has a meaning somewhere.
    Then each city is a folder of its own, or its signs are as the encoding spells them, and later writes go on.
    """
    with_rides(case)
    cities: tuple[str, ...] = ("os\\lo", "..\\lima", "li%20ma", " o", "a\nb")
    if case.shape.label:
        case.shows("DM-032", "paths-unencoded")
        cities = ("50% / a=b", "<http://x.org/ü?q=1&r#s>", "li%20ma", "a+b c~d", "{[(|)]}^`;@$!'\"*,", "\x7f\t")
    else:
        case.shows(kills="backslashes-make-folders")
    many = [{**ride(f"p{number}", 10), "city": city} for number, city in enumerate(cities)]
    case.write("bulk_insert" if case.shape.label else "upsert", many)
    case.write("upsert", [{**one, "ts": 20, "rider": "changed"} for one in many[:3]])
    case.write("delete", many[2:3])
    case.write("upsert", rides(20, ("r01",)))
    case.state()


_HOURS_IN_INDIA = {
    "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
    "hoodie.keygen.timebased.timezone": "Asia/Kolkata",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd/HH",
}
_BY_HOUR: dict[str, Any] = {"partition_by": ("ts",), "ordering": (), "merge_mode": "COMMIT_TIME_ORDERING"}
_OF_CLASS = {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}
_OF_TYPE = {"hoodie.table.keygenerator.type": "TIMESTAMP"}


@writing(
    "single/partitions_of_a_zone",
    (
        *shapes((6,), properties={**_HOURS_IN_INDIA, **_OF_CLASS}, **_BY_HOUR),
        *shapes((8, 9), properties={**_HOURS_IN_INDIA, **_OF_TYPE}, **_BY_HOUR),
    ),
    "DM-033 DM-031",
    "zones-of-partitions-ignored",
)
def partitions_of_a_zone(case: WritingCase) -> None:
    """A timestamp generator makes folders of the zone that the table states.

    Given a table of rides by their hour in a zone half an hour off.
    When rides of two hours there and one in UTC are written, one without a time, and one is updated.
    Then each lies in the folder of its hour there.
    """
    case.create()
    moments = {"r01": 1_700_000_000, "r02": 1_700_001_900, "r11": -1, "año-15": None}
    case.write("insert", [ride(key, ts) for key, ts in moments.items()])
    case.write("upsert", [ride("r02", moments["r02"], rider="changed")])
    case.state()


@writing("single/partition_names_refused", shapes(), "DM-031 SL-007", "rows-lead-anywhere")
def partition_names_refused(case: WritingCase) -> None:
    """A partition value that leads to no folder of the table is refused, and nothing of its write stays.

    Given rides of two cities.
    When rides come whose cities lead out of the table, below its own folder or to a folder that cannot be made.
    Then each write is refused, a good row beside the bad one is not there, and the next write goes on.
    """
    with_rides(case)
    for city in ("..", "a/../../b", "a//b", ".hoodie/x"):
        bad = {**ride("p1", 10), "city": city}
        case.write("upsert", [*rides(30, ("r01",)), bad], reject="PATH_ESCAPES_TABLE")
    case.write("insert", [{**ride("p1", 10), "city": "a" * 256}], reject="CONFIG_INVALID")
    case.write("upsert", rides(20, ("r01",)))
    case.state()
