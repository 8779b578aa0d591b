"""Sequences drawn by Hypothesis: every shape of a table, every operation, and rows that collide."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_adapter.values import encode_value
from hypothesis import strategies as st

from hudi_conformance.corpus.table_shapes import COLUMNS, MARK, SMALL_FILE_LIMIT, Columns, Step, TableShape, WriteCase
from hudi_conformance.corpus.writing.shapes import SEVERAL_WRITERS, SHARED_LOCK
from hudi_conformance.interop.fuzzing.column_values import (
    DATED,
    DatedPartitions,
    dated_partitions,
    drawn_columns,
    folder_text,
    row_values,
    unused_key,
)
from hudi_conformance.interop.fuzzing.seeds import Choices
from hudi_conformance.interop.fuzzing.service_steps import (
    ALTER,
    FAILED_WRITES,
    METADATA,
    PLANS,
    Served,
    drawn_change,
    drawn_inline,
    drawn_service,
    ending,
    failed_writes_policy,
    runs_inline,
    service_step,
)

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_IDS = ("r1", "r2", "r3", "ř4", "木5", "r6:a", "r7,b", "r8")
_CITIES = ("oslo", "são paulo", "lima", "a b")
_KINDS = ("x", "y")
_ADDED = (("extra", "string"), ("more", "int64"))
_RENAMED = {"extra": "other", "other": "extra"}
"""Columns that alterations rename; all that they change is among those that come in later."""
_WIDER = {("short", "int32"): "int64", ("narrow", "float32"): "float64"}
_WORDS = {"int64": "long", "float64": "double"}
"""Types by the words of alterations, where these are others."""
LEFT_OUT, WIDENED = "hoodie.write.set.null.for.missing.columns", "hoodie.schema.on.read.enable"
# At most so many steps, and in how many of 100 cases another one follows: without services, and with them.
_STEPS = {False: (6, 75), True: (12, 88)}
_NEARLY_ALWAYS = 97
_ROWS = 5
_SERVICES = 40
_INLINE = 25
_ALTERATIONS = 20
_EVOLVING = 15
_INTERRUPTIONS, _CHANGES, _UNLISTED = 12, 4, 8
_STARTED, _STAGED = ("begin_write",), ("begin_write", "stage_write")
_INDEXES = ("", "SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "BUCKET", "CONSISTENT_HASHING", "RECORD_INDEX")
_FIND_KEYS_IN_FILES = {"SIMPLE", "GLOBAL_SIMPLE", "BUCKET", ""}
_WEIGHTS = {
    "upsert": 6,
    "insert": 3,
    "bulk_insert": 1,
    "delete": 3,
    "delete by filter": 1,
    "insert_overwrite": 1,
    "insert_overwrite_table": 1,
    "delete_partition": 1,
    "partial_update": 2,
}
_ALONE, _UNDONE_BY_NAME, _SEVERAL = (
    {FAILED_WRITES: "EAGER"},
    {FAILED_WRITES: "NEVER"},
    {**SHARED_LOCK, **SEVERAL_WRITERS},
)
_FAILED_WRITES: Sequence[Mapping[str, str]] = (_ALONE, _UNDONE_BY_NAME, _SEVERAL, _SEVERAL)
PAYLOAD, MERGER = "hoodie.compaction.payload.class", "hoodie.record.merge.strategy.id"
COUNTER, GREATER = "2e073cb4-ac99-573a-986a-1e30a8c39b14", "f4d090e1-8005-5437-b99b-455ae39820db"
"""The mergers that add up and that compare (RM-007, RM-008)."""
_PACKAGE, _MERGED = "org.apache.hudi.common.model.", "hoodie.record.merge.property.hudi.conformance"
_COMPLETING = ("OverwriteNonDefaultsWithLatestAvroPayload", "PartialUpdateAvroPayload")
_MERGERS_SINCE = 8
_BUCKETS = "hoodie.bucket.index.num.buckets"
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What is drawn: versions, types, whether refusals are, whether features that only some implementations have.

    `likely_steps`: a sequence has fewer steps only when it is shrunk, or rarely. `typed_columns`: key, partition,
    ordering and other columns are of many types, with unusual values. `metadata_indexes`: the metadata table has more
    than the list of files. `interruptions`: processes of writers die, or complete what they began after other writes.
    `options`: payload classes, mergers, and settings of writes. `inline`: writers run services after their writes.
    `evolving`: rows leave columns out, bring them in another order, or in a wider type.
    """

    versions: tuple[int, ...] = (6, 8, 9)
    table_types: tuple[str, ...] = (COW, MOR)
    indexes: tuple[str, ...] = _INDEXES
    metadata_table: bool = True
    refusals: bool = True
    change_feed: bool = True
    no_meta_fields: bool = True
    partial_updates: bool = True
    services: bool = False
    marked_rows: bool = True
    typed_columns: bool = False
    metadata_indexes: bool = False
    small_files: bool = False
    interruptions: bool = False
    options: bool = False
    inline: bool = False
    evolving: bool = False
    likely_steps: int = 2


def completes(shape: TableShape) -> bool:
    """Whether the table's payload fills columns of the row that wins from the one that loses."""
    return shape.properties.get(PAYLOAD, "").endswith(_COMPLETING)


def deletes_may_lose(shape: TableShape) -> bool:
    """Whether a delete competes with the row that it meets, and so leaves it where it is greater."""
    return shape.properties.get(MERGER) == GREATER


def fills_small_files(shape: TableShape) -> bool:
    """Whether new rows go to files that are there, by sizes."""
    return shape.configs.get(SMALL_FILE_LIMIT) != "0"


@st.composite
def write_cases(draw: st.DrawFn, limits: Limits = Limits()) -> WriteCase:
    """A table and writes to it, within limits."""
    choices = Choices(draw)
    shape = _shape(choices, limits)
    marked = limits.marked_rows and choices.chance(40)
    once = limits.metadata_indexes and shape.configs.get("hoodie.metadata.record.index.enable") == "true"
    columns = (*shape.columns, MARK) if marked else shape.columns
    may_double = not (once or fills_small_files(shape))
    writes = Writes(choices, shape, limits, may_double=may_double, one_place=once, columns=columns)
    if limits.typed_columns:
        writes.values = row_values(shape)
    most, percent = _STEPS[limits.services]
    steps = [writes.step(0)]
    # A choice before each step, as before each row, and not their number at first: so shrinking can drop any of them.
    while len(steps) < most and choices.chance(_NEARLY_ALWAYS if len(steps) < limits.likely_steps else percent):
        steps.append(writes.step(len(steps)))
    return WriteCase(shape, tuple(steps))


def _shape(choices: Choices, limits: Limits) -> TableShape:
    version, kind = choices.one(limits.versions), choices.one(limits.table_types)
    several = [("ts", "kind")] if version >= 8 else []
    ordering: tuple[str, ...] = choices.one([(), (), ("ts",), ("ts",), ("ts",), ("kind",), *several])
    partition_by: tuple[str, ...] = choices.one([(), ("city",), ("city",), ("city", "kind")])
    # Releases have spelled one key field of a complex generator in two ways, and had two defaults of version 6.
    keys = [("id",), ("id",), ("number",), ("id", "kind")] if len(partition_by) < 2 else [("id", "kind")]
    modes = [None] if version > 6 or not ordering else []
    shape = TableShape(
        version,
        kind,
        record_key=choices.one(keys),
        partition_by=partition_by,
        ordering=ordering,
        merge_mode=choices.one([*modes, "COMMIT_TIME_ORDERING", *(["EVENT_TIME_ORDERING"] if ordering else [])]),
        properties=_properties(choices, version, partition_by, limits),
        columns=drawn_columns(choices) if limits.typed_columns else COLUMNS,
    )
    if limits.options and choices.chance(25):
        shape = _with_merging(choices, shape)
    if limits.typed_columns and partition_by == ("city",) and len(shape.record_key) == 1 and choices.chance(30):
        shape = _with_dates(shape, choices.one(DATED))
    return replace(shape, configs=_configs(choices, shape, limits))


def _with_merging(choices: Choices, shape: TableShape) -> TableShape:
    """The table with a payload class or a merger in place of its mode."""
    merging = [{PAYLOAD: f"{_PACKAGE}OverwriteNonDefaultsWithLatestAvroPayload"}]
    if shape.ordering:
        merging += [{PAYLOAD: f"{_PACKAGE}{name}"} for name in ("PartialUpdateAvroPayload", "EventTimeAvroPayload")]
    if shape.version >= _MERGERS_SINCE:
        if "number" not in shape.record_key:
            merging.append({MERGER: COUNTER, f"{_MERGED}.columns": "number"})
        merging.append({MERGER: GREATER, f"{_MERGED}.columns": choices.one(("number,fare", "kind,number", "ts"))})
    return replace(shape, merge_mode=None, properties={**shape.properties, **choices.one(merging)})


def _with_dates(shape: TableShape, dated: DatedPartitions) -> TableShape:
    """The table with partitions of dates in place of those of its column's texts."""
    columns = tuple((name, dated.kind if name == "city" else kind) for name, kind in shape.columns)
    return replace(shape, columns=columns, properties={**shape.properties, **dated.stated(shape.version)})


def _properties(choices: Choices, version: int, partition_by: tuple[str, ...], limits: Limits) -> dict[str, str]:
    chosen: dict[str, str] = {}
    if partition_by and choices.chance(40):
        chosen["hoodie.datasource.write.hive_style_partitioning"] = "true"
    if partition_by and choices.chance(30):
        chosen["hoodie.datasource.write.partitionpath.urlencode"] = "true"
    if limits.no_meta_fields and choices.chance(10):
        chosen["hoodie.populate.meta.fields"] = "false"
    elif limits.change_feed and choices.chance(25):
        mode = choices.one(["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"])
        chosen["hoodie.table.cdc.enabled"] = "true"
        chosen["hoodie.table.cdc.supplemental.logging.mode"] = mode.lower() if version == 6 else mode
    return chosen


def _configs(choices: Choices, shape: TableShape, limits: Limits) -> dict[str, str]:
    # Where small files are filled, new keys go to files by their size, and what is in base files alone is open: from
    # these a row that comes back after its delete is completed.
    fills = limits.small_files and not completes(shape) and choices.chance(20)
    # A base file with the filter of its keys is larger than 400,000 bytes.
    chosen = {SMALL_FILE_LIMIT: "104857600" if fills else "0"}
    if limits.services:
        # Services are steps of their own, unless some are drawn for writers: no write carries out what waits.
        chosen |= {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    if limits.interruptions:
        chosen |= choices.one(_FAILED_WRITES)
    chosen[METADATA] = str(limits.metadata_table and choices.chance(50)).lower()
    if limits.metadata_indexes and chosen[METADATA] == "true":
        chosen |= _metadata_indexes(choices, shape)
    chosen |= index_configs(choices.one(_indexes(shape, chosen, limits)), choices.one(["1", "2", "3"]))
    if "hoodie.bucket.index.num.buckets" in chosen and len(shape.record_key) > 1 and choices.chance(40):
        chosen["hoodie.bucket.index.hash.field"] = choices.one(shape.record_key)
    if limits.options:
        chosen |= _write_options(choices, chosen)
    if limits.services and limits.inline and not fills and choices.chance(_INLINE):
        chosen |= drawn_inline(choices, replace(shape, configs=chosen))
    if limits.evolving and choices.chance(_EVOLVING):
        chosen |= dict.fromkeys((LEFT_OUT, WIDENED), "true")
    if shape.table_type == MOR and choices.chance(30):
        chosen["hoodie.logfile.data.block.format"] = "parquet"
    if shape.table_type == MOR and shape.version >= 8 and choices.chance(30):
        chosen["hoodie.write.record.positions"] = choices.one(["true", "false"])
    return chosen


def _write_options(choices: Choices, chosen: Mapping[str, str]) -> dict[str, str]:
    """Settings of writes, each now and then, where it makes a difference."""
    index = chosen.get("hoodie.index.type", "").removeprefix("GLOBAL_").partition("_")[0].lower()
    possible = {
        "hoodie.combine.before.insert": "true",
        "hoodie.combine.before.upsert": "false",
        "hoodie.combine.before.delete": "false",
        "hoodie.rollback.using.markers": "false",
        "hoodie.archive.beyond.savepoint": "true",
        "hoodie.datasource.insert.dup.policy": choices.one(["drop", "fail"]),
        "hoodie.datasource.write.insert.drop.duplicates": "true",
    }
    if chosen[SMALL_FILE_LIMIT] != "0":
        possible["hoodie.merge.allow.duplicate.on.inserts"] = "false"
    if chosen.get("hoodie.index.type", "").startswith(("GLOBAL", "RECORD")):
        possible[f"hoodie.{index}.index.update.partition.path"] = "true" if index == "record" else "false"
    if chosen.get("hoodie.metadata.index.column.stats.enable") == "true":
        possible["hoodie.metadata.index.partition.stats.enable"] = "true"
    return {name: value for name, value in possible.items() if choices.chance(15)}


def _metadata_indexes(choices: Choices, shape: TableShape) -> dict[str, str]:
    """Indexes in the metadata table; a secondary one goes with that of records."""
    # Without a word of it some versions keep the statistics of columns, and others do not.
    chosen = {"hoodie.metadata.index.column.stats.enable": str(choices.chance(50)).lower()}
    if chosen["hoodie.metadata.index.column.stats.enable"] == "true" and choices.chance(30):
        chosen["hoodie.metadata.index.column.stats.column.list"] = choices.one(["fare,kind", "id,ts", "city"])
    if choices.chance(30):
        chosen["hoodie.metadata.index.bloom.filter.enable"] = "true"
    stored = shape.properties.get("hoodie.populate.meta.fields") != "false"
    if stored and choices.chance(40):
        chosen["hoodie.metadata.record.index.enable"] = "true"
        if shape.version >= 8 and choices.chance(60):
            chosen["hoodie.metadata.index.secondary.column"] = choices.one(["kind", "number"])
    return chosen


def _indexes(shape: TableShape, chosen: Mapping[str, str], limits: Limits) -> list[str]:
    """The indexes that go with a table: some find keys in meta fields, one in the metadata table, one in logs."""
    stored = shape.properties.get("hoodie.populate.meta.fields") != "false"
    listed = chosen[METADATA] == "true"
    fitting = [
        one
        for one in limits.indexes
        if (stored or one in _FIND_KEYS_IN_FILES)
        and (listed or one != "RECORD_INDEX")
        and (shape.table_type == MOR or one != "CONSISTENT_HASHING")
    ]
    return fitting or [""]


def index_configs(index: str, buckets: str) -> dict[str, str]:
    """The settings that choose an index; none for no name."""
    match index:
        case "":
            return {}
        case "BUCKET":
            return {"hoodie.index.type": index, _BUCKETS: buckets}
        case "CONSISTENT_HASHING":
            return {"hoodie.index.type": "BUCKET", _BUCKETS: buckets, "hoodie.index.bucket.engine": index}
        case "RECORD_INDEX":
            return {"hoodie.index.type": index, "hoodie.metadata.record.index.enable": "true"}
        case _:
            return {"hoodie.index.type": index}


@dataclass(slots=True)
class Writes:
    """The steps drawn so far, as far as later ones depend on them.

    `held`: keys that are in the table with their partition's values, surely unless a row that was marked as deleted
    bore them (`marked`); `doubled`: keys that may stand in it twice, which `may_double` lets happen. With
    `one_place` no key is in two partitions, as a record index needs it: none leaves the one that it first had
    (`homes`), and none is inserted twice, since a delete may have been refused. `values`: those of
    columns, where they are not the usual ones.
    """

    choices: Choices
    shape: TableShape
    limits: Limits
    may_double: bool = True
    one_place: bool = False
    held: dict[Key, tuple[Any, ...]] = field(default_factory=dict)
    homes: dict[Key, tuple[Any, ...]] = field(default_factory=dict)
    doubled: set[Key] = field(default_factory=set)
    columns: Columns = COLUMNS
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    marked: set[Key] = field(default_factory=set)
    served: Served = field(default_factory=Served)

    def step(self, number: int) -> Step:
        """The next step, a write or, where they are drawn, a service; the first one brings rows."""
        # Sizes of files decide what a service finds to do where small ones are filled.
        served = self.limits.services and not fills_small_files(self.shape)
        if self.served.failed and failed_writes_policy(self.shape) == "EAGER":
            # Who writes next does it, be it as a step of its own.
            drawn = service_step("rollback")
            self.served.after(drawn)
        elif self.served.pending and self.choices.chance(35):
            drawn = ending(self.choices, self.served)
            self.served.after(drawn)
        elif number and served and self.limits.interruptions and self.choices.chance(_INTERRUPTIONS):
            drawn = self._interrupted(number)
        elif (
            number
            and self._changes_version()
            and (change := drawn_change(self.choices, self.shape, self.limits.versions, self.served))
        ):
            drawn = change
            self.served.after(drawn)
            self.shape = replace(self.shape, version=int(drawn.operation.rpartition(" ")[2]))
        elif number and served and self._alters() and (altered := self._alteration()):
            drawn = replace(service_step(ALTER), parameters={"changes": [altered]})
            self.served.wrote(number + 1, self.held, self.doubled)
        elif number and served and self.choices.chance(_SERVICES):
            drawn = drawn_service(self.choices, self.shape, self.served, indexes=self.limits.metadata_indexes)
            known = self.served.after(drawn)
            self.held, self.doubled = known if known is not None else (self.held, self.doubled)
        else:
            drawn = self._write(number)
        return drawn

    def _changes_version(self) -> bool:
        """Whether the table gets another version; no writer is at work then."""
        served = self.limits.services and not fills_small_files(self.shape)
        # Whether a change of version first carries out the plans of writers or rolls back what died is open (VR-005).
        both = self.served.failed and runs_inline(self.shape, *PLANS)
        return served and not (self.served.pending or both) and self.choices.chance(_CHANGES)

    def _alters(self) -> bool:
        """Whether columns are altered: what a feed shows of images of other columns is open."""
        fed = self.shape.properties.get("hoodie.table.cdc.enabled") == "true"
        evolves = self.shape.configs.get(WIDENED) == "true"
        return evolves and not fed and not self.served.pending and self.choices.chance(_ALTERATIONS)

    def _alteration(self) -> dict[str, Any]:
        """A change of a column that nothing depends on, of those that alterations or writes have added."""
        names = [name for name, _ in self.columns]
        new = [one for one in _ADDED if one[0] not in names and _RENAMED.get(one[0]) not in names]
        own = [one for one in (*_RENAMED, "more") if one in names]
        free = [one for one in own if one in _RENAMED and _RENAMED[one] not in names]
        wider = [name for name, kind in self.columns if (name, kind) in _WIDER]
        kinds = ["add"] * bool(new) + ["drop", "move"] * bool(own) + ["type"] * bool(wider)
        kinds += ["rename"] * bool(free)
        if not kinds:
            return {}
        kind = self.choices.one(kinds)
        if kind == "add":
            name, word = self.choices.one(new)
            self.columns = (*self.columns, (name, word))
            return {"change": kind, "column": name, "type": _WORDS.get(word, word), "after": names[0]}
        if kind == "type":
            name = self.choices.one(wider)
            self.columns = tuple((one, _WIDER.get((one, of), of) if one == name else of) for one, of in self.columns)
            return {"change": kind, "column": name, "type": _WORDS[dict(self.columns)[name]]}
        name = self.choices.one(free if kind == "rename" else own)
        if kind == "move":
            return {"change": kind, "column": name, "first": True}
        if kind == "rename":
            self.columns = tuple((_RENAMED[one] if one == name else one, of) for one, of in self.columns)
            return {"change": kind, "column": name, "to": _RENAMED[name]}
        self.columns = tuple(one for one in self.columns if one[0] != name)
        return {"change": kind, "column": name}

    def _write(self, number: int) -> Step:
        if number and self.limits.refusals and self.choices.chance(10):
            return self._refused()
        evolves = self.shape.configs.get(WIDENED) == "true"
        names = {name for name, _ in self.columns}
        added = [one for one in (*(_WIDER if evolves else ()), *_ADDED) if one[0] not in names]
        if added and self.choices.chance(30 if evolves else 12):
            self.columns = (*self.columns, added[0])
        elif evolves and self.choices.chance(20):
            self.columns = tuple((name, _WIDER.get((name, kind), kind)) for name, kind in self.columns)
        drawn = self.of_operation(self._operation(number))
        drawn = self._rearranged(drawn) if evolves else drawn
        self.served.wrote(number + 1, self.held, self.doubled)
        drawn = self._unlisted(drawn)
        # A write that deletes begins a bucket with several blocks, or with none.
        marks = self._forms_are_free() and MARK in self.columns
        self.served.free_logs |= drawn.operation == "partial_update" or marks
        return drawn

    def _unlisted(self, step: Step) -> Step:
        """The same write, which now and then drops the metadata table; the next one makes it anew."""
        listed = self.limits.metadata_indexes and self.shape.configs[METADATA] == "true"
        used = self.shape.configs.get("hoodie.index.type") == "RECORD_INDEX" or self.served.plans
        if not listed or used or self.served.pending or self.served.failed or not self.choices.chance(_UNLISTED):
            return step
        self.served.listed = False
        return replace(step, configs={**step.configs, METADATA: "false"})

    def _rearranged(self, step: Step) -> Step:
        """The same rows without columns that nothing depends on, or with all in another order (DM-005)."""
        if not step.rows or step.operation in {"partial_update", "delete"}:
            return step
        merged = self.shape.properties.get(f"{_MERGED}.columns", "").split(",")
        needed = {*self.shape.record_key, *self.shape.partition_by, *self.shape.ordering, MARK[0], *merged}
        free = [place for place, (name, _) in enumerate(step.columns) if name not in needed]
        missing = self.choices.some(free, 1, 2) if self.choices.chance(35) else []
        places = [place for place in range(len(step.columns)) if place not in missing]
        places = places[::-1] if self.choices.chance(25) else places
        columns = tuple(step.columns[place] for place in places)
        return replace(step, columns=columns, rows=tuple(tuple(row[place] for place in places) for row in step.rows))

    def _interrupted(self, number: int) -> Step:
        """A write that does not complete in its step: its process dies, or completes it later."""
        # Whether a write that is committed by itself is followed by services is open (CP-015): the model runs none.
        several = failed_writes_policy(self.shape) == "LAZY" and not runs_inline(self.shape)
        if several and not self.served.pending and self.choices.chance(60):
            drawn = self._late(self._operation(number))
            self.served.pending = number + 1
            return replace(drawn, phases=_STAGED)
        if self.served.pending:
            # The process that died would be that of the write that waits.
            return self._write(number)
        known = deepcopy((self.held, self.homes, self.doubled, self.marked))
        drawn = self.of_operation(self._operation(number))
        self.held, self.homes, self.doubled, self.marked = known
        self.served.failed.append(number + 1)
        return replace(drawn, phases=self.choices.one((_STAGED, _STAGED, _STARTED)), crashes=True)

    def _late(self, operation: str) -> Step:
        """A write that completes after others, or never: what it brings or deletes is there or not.

        An upsert changes rows where they are.
        """
        free = self._surely_there()
        if operation in {"upsert", "partial_update"} and free:
            rows = self._where_they_are(self.choices.some(free, 1, 3))
            return Step("upsert", self.columns, tuple(map(self._values, rows)))
        held, doubled = dict(self.held), set(self.doubled)
        drawn = self.of_operation(operation if free else "insert")
        unsure = {key for key in {*held, *self.held} if held.get(key) != self.held.get(key)}
        self.doubled |= doubled | self.held.keys() - held.keys()
        self.held, self.marked = {**self.held, **held}, self.marked | unsure
        return drawn

    def of_operation(self, operation: str) -> Step:
        """The next step, of this operation; another one where there is nothing yet for it to work on."""
        match operation:
            case "delete by filter":
                return self._filtered()
            case "delete_partition" if self.held and self.shape.partition_by:
                return self._dropped_partition()
            case "partial_update":
                return self._partial()
            case "delete":
                return self._deleted()
            case "delete_partition":
                return self.written("upsert")
            case _:
                return self.written(operation)

    def _operation(self, number: int) -> str:
        possible = dict(_WEIGHTS)
        if not number:
            return self.choices.one(["insert", "upsert", *([] if self._forms_are_free() else ["bulk_insert"])])
        if not self.shape.partition_by or not self.held:
            possible.pop("delete_partition")
        merges_itself = {PAYLOAD, MERGER} & self.shape.properties.keys()
        if self.shape.version < 8 or not self.held or not self.limits.partial_updates or merges_itself:
            possible.pop("partial_update")
        if self.doubled or not self.held:
            possible.pop("delete by filter")
        if self._forms_are_free():
            del possible["bulk_insert"]
        if "hoodie.index.bucket.engine" in self.shape.configs or self._forms_are_free():
            # The new file groups would bear the ids of those that they replace.
            del possible["insert_overwrite"], possible["insert_overwrite_table"]
        if "hoodie.index.bucket.engine" in self.shape.configs:
            # So would those of a deleted partition, which is not written to again.
            possible.pop("delete_partition", None)
        return self.choices.weighted(possible)

    def _forms_are_free(self) -> bool:
        """Whether some writes begin buckets with a log or a base file, as they like, and so give work to a service."""
        buckets = self.shape.table_type == MOR and self.shape.configs.get("hoodie.index.type") == "BUCKET"
        return buckets and self.limits.services

    def written(self, operation: str, least: int = 1) -> Step:
        """A step that brings rows, before duplicates go at least so many."""
        inserts = operation in {"insert", "bulk_insert"}
        replaces = operation.startswith("insert_overwrite")
        rows = [self._row() for _ in range(least)]
        while len(rows) < _ROWS and self.choices.chance(75):
            rows.append(self._row())
        if self.one_place:
            self._bring_together(rows)
        # A bucket that begins with a base file keeps nothing of an unknown key's delete; one that begins with a log
        # does.
        known = {self._key(row) for row in rows} & (self.homes if self.one_place else self.held).keys()
        if (inserts and not self.choices.chance(20)) or not (self._doubles() or operation == "upsert"):
            rows = [row for row in rows if self._key(row) not in known] or [self._row(self._unused())]
        if inserts or replaces:
            rows = self._doubling(rows)
        elif not self._finds_every_place():
            rows = [row for row in rows if self._key(row) not in self.doubled] or [self._row(self._unused())]
        if operation == "upsert" and self.shape.configs.get("hoodie.combine.before.upsert") == "false":
            rows = self._uncombined(rows)
        if replaces:
            self._forget({self._path(row) for row in rows} if operation == "insert_overwrite" else None)
        # A key that comes to another partition is unknown there.
        there = [row for row in rows if self.held.get(self._key(row)) == self._place(row)]
        self._remember(rows, may_double=inserts or replaces)
        if operation == "upsert" and MARK in self.columns:
            self._mark(there if self._forms_are_free() else rows)
        return Step(operation, self.columns, tuple(self._values(row) for row in rows))

    def _uncombined(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of one key that no merge has made one: each finds the row that is there; a new one would stand twice."""
        kept: dict[tuple[Any, ...], dict[str, Any]] = {}
        for number, row in enumerate(rows):
            key = self._key(row)
            found = key not in self.marked | self.doubled and self.held.get(key) == self._place(row)
            kept[key, number if found else None] = row
        return list(kept.values())

    def _bring_together(self, rows: list[dict[str, Any]]) -> None:
        """Rows of one key are of one partition."""
        homes: dict[Key, tuple[Any, ...]] = {}
        for row in rows:
            row.update(zip(self.shape.partition_by, homes.setdefault(self._key(row), self._place(row)), strict=True))

    def _doubles(self) -> bool:
        """Whether a key may come to stand twice: what a feed records one that does in its bucket is not settled."""
        feed = self.shape.properties.get("hoodie.table.cdc.enabled") == "true"
        return self.may_double and not (feed and self.shape.configs.get("hoodie.index.type") == "BUCKET")

    def _finds_every_place(self) -> bool:
        """Whether a key that stands twice may be touched: where an index knows one place only, which one is open."""
        return self.shape.configs.get("hoodie.index.type") in {"SIMPLE", "BLOOM"}

    def _mark(self, rows: list[dict[str, Any]]) -> None:
        """Some rows delete, in time or late."""
        for row in rows:
            if self.choices.chance(30):
                row[MARK[0]] = True
                self.marked.add(self._key(row))
                self._leave_alone(self._key(row))

    def _doubling(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Plain inserts keep rows of one key apart; within one write they do not meet."""
        places = {(self._key(row), self._path(row) if self.may_double else ""): row for row in rows}
        return list(places.values())

    def _forget(self, paths: set[str] | None) -> None:
        """The keys of some partitions are gone, or all keys; one that stood twice may still stand elsewhere."""
        for key in [
            key for key, where in self.held.items() if paths is None or partition_path(self.shape, where) in paths
        ]:
            if paths is None or key not in self.doubled:
                del self.held[key]
        if paths is None:
            self.doubled.clear()

    def _remember(self, rows: list[dict[str, Any]], *, may_double: bool) -> None:
        for row in rows:
            key = self._key(row)
            if may_double and key in self.held:
                self.doubled.add(key)
            if not (key in self.held and self.shape.keeps_places):
                self.held[key] = self._place(row)
            self.homes.setdefault(key, self._place(row))

    def _deleted(self) -> Step:
        closed = set[Key]() if self._finds_every_place() else self.doubled
        free = sorted(self.held.keys() - closed, key=repr)
        keys = self.choices.some(free, 1, 2)
        rows = self._where_they_are(keys)
        for key in keys:
            self._gone(key)
        if not rows or self.choices.chance(20):
            rows.append(self._row(self._unused()))
        return Step("delete", self.columns, tuple(self._values(row) for row in rows))

    def _gone(self, key: Key) -> None:
        """A key is deleted, surely or unless its row wins."""
        if deletes_may_lose(self.shape):
            self.marked.add(key)
        else:
            del self.held[key]
        self._leave_alone(key)

    def _leave_alone(self, key: Key) -> None:
        """Where a key goes that a log deleted, and so whom it meets, differs between global indexes: not asked."""
        if self.shape.has_global_index and (self.shape.table_type == MOR or self.shape.keeps_places):
            self.doubled.add(key)

    def _filtered(self) -> Step:
        key = self.choices.one(sorted(self.held, key=repr))
        name = self.shape.record_key[0]
        for gone in [one for one in self.held if one[0] == key[0]]:
            self._gone(gone)
        return Step("delete", filter=[name, "=", encode_value(key[0], dict(self.columns)[name])])

    def _dropped_partition(self) -> Step:
        place = self.choices.one(sorted(self.held.values(), key=repr))
        path = partition_path(self.shape, place)
        self._forget({path})
        return Step("delete_partition", partitions=(path,))

    def _partial(self) -> Step:
        free = self._surely_there()
        if not free:
            return self.written("upsert")
        needed = {*self.shape.record_key, *self.shape.partition_by, *self.shape.ordering}
        changed = {self.choices.one(["fare", "note"])}
        columns = tuple(column for column in self.columns if column[0] in needed | changed)
        rows = self._where_they_are(self.choices.some(free, 1, 3))
        return Step("partial_update", columns, tuple(tuple(row[name] for name, _ in columns) for row in rows))

    def _surely_there(self) -> list[Key]:
        """Keys that are in the table, each once."""
        return sorted(self.held.keys() - self.doubled - self.marked, key=repr)

    def _where_they_are(self, keys: Sequence[Key]) -> list[dict[str, Any]]:
        """Other values of rows that are there, in their partitions."""
        rows = [self._row(key) for key in keys]
        for key, row in zip(keys, rows, strict=True):
            row.update(zip(self.shape.partition_by, self.held[key], strict=True))
        return rows

    def _refused(self) -> Step:
        row = self._row(self._unused())
        columns = dict(self.columns)
        # A key of several fields may lack one of them.
        alone = ["null key", "no key"] if len(self.shape.record_key) == 1 else []
        alone += ["empty key"] if alone and columns[self.shape.record_key[0]] == "string" else []
        match self.choices.one([*alone, "type", "operation"]):
            case "null key":
                row[self.shape.record_key[0]] = None
            case "empty key":
                row[self.shape.record_key[0]] = ""
            case "no key":
                del columns[self.shape.record_key[0]]
            case "type":
                columns["fare"], row["fare"] = "boolean", True
            case _:
                return Step("replace_everything", self.columns, (self._values(row),))
        return Step("upsert", tuple(columns.items()), (tuple(row[name] for name in columns),))

    def _row(self, key: Key | None = None) -> dict[str, Any]:
        row = self._fields({name for name, _ in (*self.shape.columns, *self.columns)})
        row.update(zip(self.shape.record_key, key or (), strict=False))
        # Which of two rows with one key in two partitions a key names is a question of its own: a key stays at home.
        at_home = (self.homes if self.one_place else self.held).get(self._key(row))
        stays = self.one_place or self._key(row) in self.doubled or self._is_global()
        if at_home is not None and (stays or not self.choices.chance(15)):
            row.update(zip(self.shape.partition_by, at_home, strict=True))
        return row

    def _fields(self, names: set[str]) -> dict[str, Any]:
        """A value for each of these columns."""
        choices = self.choices

        def one_of(values: Sequence[Any]) -> Callable[[], Any]:
            return lambda: choices.one(values)

        values: Mapping[str, Callable[[], Any]] = {
            "id": lambda: choices.one(_IDS),
            "number": lambda: choices.number(1, 8),
            "kind": lambda: choices.one(_KINDS),
            "city": lambda: choices.one(_CITIES),
            "ts": lambda: choices.number(0, 6),
            "fare": lambda: choices.number(0, 40) / 4 if choices.chance(50) else None,
            "note": self._note,
            **{name: lambda: choices.one([None, "e"]) for name in _RENAMED},
            "more": lambda: choices.number(0, 9) if choices.chance(50) else None,
            "short": lambda: choices.one([None, -7, 2**31 - 1]),
            "narrow": lambda: choices.one([None, 0.5, -2.25]),
            MARK[0]: lambda: choices.one([None, False]),
            **{name: one_of(own) for name, own in self.values.items()},
        }
        return {name: value() for name, value in values.items() if name in names}

    def _note(self) -> str | None:
        note = self.choices.one([None, "", "ночь", "n"])
        return f"n{self.choices.number(0, 99)}" if note == "n" else note

    def _is_global(self) -> bool:
        return self.shape.has_global_index and self.choices.chance(50)

    def _unused(self) -> Key:
        row, number = self._fields(set(self.shape.record_key)), self.choices.number(0, 990)
        while True:
            row |= {"id": unused_key(dict(self.shape.columns)["id"], number), "number": 9 + number}
            if self._key(row) not in (self.homes if self.one_place else self.held):
                return self._key(row)
            number += 1

    def _key(self, row: Mapping[str, Any]) -> Key:
        return tuple(row[name] for name in self.shape.record_key)

    def _place(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.shape.partition_by)

    def _path(self, row: Mapping[str, Any]) -> str:
        return partition_path(self.shape, self._place(row))

    def _values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name, _ in self.columns)


def partition_path(shape: TableShape, place: tuple[Any, ...]) -> str:
    """The path of the partition with these values, in the table's style."""
    dated = dated_partitions(shape)
    encoded = shape.properties.get("hoodie.datasource.write.partitionpath.urlencode") == "true"
    hive = shape.properties.get("hoodie.datasource.write.hive_style_partitioning") == "true"
    texts = [dated.folders[value] for value in place] if dated else place
    parts = [folder_text(value, encoded=encoded) for value in texts]
    if dated and dated.parted_by_slashes:
        parts = [part.replace("-", "/") for part in parts]
    named = zip(shape.partition_by, parts, strict=True)
    return "/".join(f"{name}={part}" if hive else part for name, part in named)
