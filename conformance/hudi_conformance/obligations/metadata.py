"""The metadata table and its indexes: what they hold at every moment, and that using them changes no answer."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_model import metadata, pruning, writers
from hudi_model.actions import State
from hudi_model.contents import IndexDefinition, RollbackMetadata
from hudi_model.effects import CommitMetadataTable, CreateInstant, Effects, perform
from hudi_model.files import FileSlice
from hudi_model.indexes import joined, secondary_key
from hudi_model.metadata import metadata_differences, rows_of, valid, view_of
from hudi_model.pruning import Facts, read_pruned
from hudi_model.queries import Selection, answer, read_snapshot, sound_snapshot
from hudi_model.readings import RELEASED, TEXT, Readings
from hudi_model.records import Field, Record, Schema
from hudi_model.schemas import META_SCHEMA
from hudi_model.services import archival, indexing, rollback
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import Operation, Request, create_table
from hypothesis import assume, given
from hypothesis import strategies as st

from hudi_conformance.obligations.histories import (
    DAYS,
    KEYS,
    SCHEMA,
    Shape,
    Step,
    Story,
    new_table,
    played,
    request_of,
    shapes,
    stories,
    taken,
)
from hudi_conformance.obligations.registry import Counterexample, obligation, property_check

GLOBAL = {"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
}
LISTED = {"hoodie.metadata.enable": "true", **GLOBAL, **EAGER}
INDEXED = {**LISTED, **dict.fromkeys(metadata.OPTIONAL, "true")}
DEFINED = (
    IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",)),
    IndexDefinition("expr_index_lower", "column_stats", "lower", ("note",)),
    IndexDefinition("expr_index_upper", "bloom_filters", "upper", ("note",)),
)
OPERATIONS = (
    Operation.UPSERT,
    Operation.UPSERT,
    Operation.DELETE,
    Operation.INSERT_OVERWRITE,
    Operation.DELETE_PARTITION,
)
SERVICES = ("compaction", "clustering", "cleaning")
HISTORIES = stories(shapes(), OPERATIONS, SERVICES, 5)
PARTITIONED = stories(shapes(partitioned=(True,)), OPERATIONS, SERVICES, 5)
LAST = 900


def indexed(told: Story, *, kept: bool = True, after: Callable[[Table], None] = lambda _: None) -> Table:
    """The table after a story; its metadata table is kept from the start, with every kind of index, or not at all."""
    table = new_table(told.shape)
    if kept:
        asked = metadata.asked_for(table, INDEXED)
        table = perform(table, asked)
        table = replace(table, metadata=metadata.with_indexes(table, DEFINED))
        names = metadata.built(table) | {one.name for one in DEFINED}
        table = perform(table, (metadata.listing(table, names),))
    for number, step in enumerate(told.steps):
        if step.service != "compaction" or told.shape.table_type == "MERGE_ON_READ":
            table = taken(table, step, 10 * number + 1, {**GLOBAL, **EAGER})
            after(table)
    return table


def everything(table: Table) -> dict[str, dict[str, Any]]:
    """What the metadata table of a table holds for readers."""
    return rows_of(view_of(valid(table)))


def listing_of(table: Table) -> dict[str, set[str]]:
    """The files of completed actions, and those that a rollback left under its command, from storage alone."""
    done = {one.requested for one in table.timeline if one.state is State.COMPLETED}
    undone = (one.content for one in table.timeline if isinstance(one.content, RollbackMetadata))
    done |= {instant for one in undone for instant in one.rolled_back}
    held: dict[str, set[str]] = {}
    for base in table.base_files:
        if base.instant in done:
            held.setdefault(base.partition or ".", set()).add(base.name)
    for log in table.log_files:
        assert isinstance(log.blocks, tuple)
        if any(getattr(block, "instant", "") in done for block in log.blocks):
            held.setdefault(log.partition or ".", set()).add(log.name)
    return held


def refuse_stale(table: Table, told: Story, what: str) -> None:
    """Nothing, unless an index or the list of files says what is not so."""
    wrong = metadata_differences(table)
    if wrong:
        raise Counterexample(f"{what}: {wrong[:3]}", table, told.lines())
    listed = {key: set(names) for key, names in everything(table).get("files", {}).items()}
    partitions, held = listed.pop("__all_partitions__", set()), listing_of(table)
    if listed != held or partitions != set(held):
        raise Counterexample(f"{what}: {partitions} {listed} are listed, {held} is held", table, told.lines())


def write_effects(table: Table, request: Request) -> Effects:
    """All effects of a write."""
    begun, first = writers.begin(table, request, tick(LAST))
    staged, second = writers.stage(perform(table, first), begun)
    return *first, *second, *writers.commit(perform(table, (*first, *second)), staged, tick(LAST + 1))


def service_effects(table: Table, service: str) -> Effects:
    """All effects of a service with work to do."""
    module = importlib.import_module(f"hudi_model.services.{service}")
    first: Effects = module.schedule(table, tick(LAST), EAGER)
    return (*first, *module.execute(perform(table, first), tick(LAST), tick(LAST + 1))) if first else ()


@obligation(
    "PO-300",
    "The metadata table says what storage and rows say after every completed action, of writes and of services",
    "MT-003 MT-005 MT-010 MT-011 MT-014",
    broken_by="stale-entries-kept unpartitioned-without-name",
)
@property_check
@given(told=HISTORIES)
def equals_storage(told: Story) -> None:
    """After each step of a story."""
    indexed(told, after=lambda table: refuse_stale(table, told, "after a step"))


@obligation(
    "PO-301",
    "Neither a write that dies at any moment nor its rollback, begun and done again, makes the metadata table wrong",
    "MT-003 MT-004 MT-006 RB-011",
    broken_by="uncommitted-metadata-used metadata-after-data",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=3), cut=st.integers(0, 30), left=st.integers(0, 8))
def survives_crashes(told: Story, cut: int, left: int) -> None:
    """The last write stops after some of its effects; the rollback of it stops too, and is repeated."""
    *before, last = told.steps
    table = indexed(Story(told.shape, tuple(before)))
    effects = write_effects(table, request_of(last, GLOBAL))
    table = perform(table, effects[: cut % (len(effects) + 1)])
    refuse_stale(table, told, f"after {cut % (len(effects) + 1)} of {len(effects)} effects")
    for one in rollback.failed_writes(table, tick(LAST + 2), {"hoodie.clean.failed.writes.policy": "EAGER"}):
        undone = rollback.roll_back(table, one, tick(LAST + 3), tick(LAST + 4), {})
        table = perform(table, undone[:left])
        if rollback.pending_rollback(table, one) or any(entry.requested == one for entry in table.timeline):
            table = perform(table, rollback.roll_back(table, one, tick(LAST + 3), tick(LAST + 4), {}))
        refuse_stale(table, told, f"after a rollback that stopped after {left} effects")


@obligation(
    "PO-318",
    "The metadata table lists the logs by which a rollback of version 6 takes blocks back, whichever attempt wrote",
    "MT-010 RB-007 RB-011",
    broken_by="rollback-logs-unlisted",
)
@property_check
@given(told=stories(shapes((6,), ("MERGE_ON_READ",)), (Operation.UPSERT,), longest=3), left=st.integers(0, 8))
def lists_commands(told: Story, left: int) -> None:
    """The last write dies before it completes."""
    *before, last = told.steps
    table = indexed(Story(told.shape, tuple(before)))
    effects = write_effects(table, request_of(last, GLOBAL))
    table = perform(table, effects[: next(number for number, one in enumerate(effects) if is_completion(one))])
    undone = rollback.roll_back(table, tick(LAST), tick(LAST + 3), tick(LAST + 4), {})
    table = perform(table, undone[: min(left, len(undone) - 3)])
    table = perform(table, rollback.roll_back(table, tick(LAST), tick(LAST + 3), tick(LAST + 4), {}))
    refuse_stale(table, told, f"after a rollback that stopped after {left} effects")


@obligation(
    "PO-302",
    "A service that dies at any moment and is done again leaves the metadata table right",
    "MT-003 MT-004 MT-006",
    broken_by="metadata-after-data stale-entries-kept",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=4), service=st.sampled_from(SERVICES), cut=st.integers(0, 30))
def services_survive_crashes(told: Story, service: str, cut: int) -> None:
    """A compaction, a clustering or a clean after a story; only what a clean is removing may still be listed."""
    if service == "compaction" and told.shape.table_type == "COPY_ON_WRITE":
        return
    table = indexed(told)
    effects = service_effects(table, service)
    table = perform(table, effects[: cut % (len(effects) + 1)])
    if service != "cleaning":
        refuse_stale(table, told, f"{service} stopped after {cut % (len(effects) + 1)} effects")
    if any(one.requested == tick(LAST) for one in table.timeline):
        module = importlib.import_module(f"hudi_model.services.{service}")
        table = perform(table, module.execute(table, tick(LAST), tick(LAST + 2)))
    refuse_stale(table, told, f"{service} stopped and done again")


@obligation(
    "PO-303",
    "The metadata table commits before the action that it tells of, under the same instant",
    "MT-003 MT-004",
    broken_by="metadata-after-data",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=3), service=st.sampled_from(SERVICES))
def metadata_first(told: Story, service: str) -> None:
    """The effects of the last write, or of a service after it."""
    *before, last = told.steps
    table = indexed(Story(told.shape, tuple(before)))
    for effects in (write_effects(table, request_of(last, GLOBAL)), serviced(indexed(told), told, service)):
        kinds = [one for one in effects if isinstance(one, CommitMetadataTable) or is_completion(one)]
        if effects and (len(kinds) != 2 or not isinstance(kinds[0], CommitMetadataTable)):
            raise Counterexample(f"{[type(one).__name__ for one in kinds]}", None, told.lines())
        for one in kinds[:1]:
            assert isinstance(one, CommitMetadataTable)
            assert one.table is not None
            if not any(
                entry.requested == tick(LAST) and entry.state == State.COMPLETED for entry in one.table.timeline
            ):
                raise Counterexample("no deltacommit has the action's instant", one.table, told.lines())


def serviced(table: Table, told: Story, service: str) -> Effects:
    """The effects of a service that goes with the table's type."""
    return (
        () if service == "compaction" and told.shape.table_type == "COPY_ON_WRITE" else service_effects(table, service)
    )


def is_completion(effect: object) -> bool:
    """Whether an effect makes an action count."""
    return isinstance(effect, CreateInstant) and effect.entry.state is State.COMPLETED


VALUES = {"id": st.sampled_from(KEYS), "day": st.sampled_from(DAYS), "ts": st.integers(-1, 5)}
VALUES |= {"note": st.sampled_from(("one", "two", "ONE", "", "zz"))}


@st.composite
def leaves(draw: st.DrawFn) -> list[Any]:
    """A comparison of a column, or of a function of one, with a value or some."""
    name = draw(st.sampled_from(("id", "day", "ts", "note", "_hoodie_record_key", "_hoodie_partition_path")))
    kind = {"_hoodie_record_key": "id", "_hoodie_partition_path": "day"}.get(name, name)
    column: Any = (
        draw(st.sampled_from([name, ["fn", "lower", name], ["fn", "upper", name]])) if name == "note" else name
    )
    word = draw(st.sampled_from(("=", "=", "=", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null")))
    if word.startswith("is_"):
        return [column, word]
    value = draw(st.lists(VALUES[kind], max_size=3)) if word == "in" else draw(VALUES[kind])
    return [column, word, value]


FILTERS = st.recursive(
    leaves(),
    lambda part: st.one_of(
        st.builds(
            lambda word, parts: [word, *parts], st.sampled_from(("and", "or")), st.lists(part, min_size=1, max_size=3)
        ),
        part.map(lambda one: ["not", one]),
    ),
    max_leaves=4,
)


def refuse_pruned_away(table: Table, form: Any, told: Story) -> None:
    """Nothing, unless an answer differs from that without indexes."""
    whole, found = read_snapshot(table, filter=form).rows, read_pruned(table, form).rows
    if list(whole) != list(found):
        raise Counterexample(f"{form}: {len(whole)} rows, pruned {len(found)}", table, told.lines())


@obligation(
    "PO-304",
    "Pruning by every kind of index, alone and together, never changes an answer",
    "IX-051 IX-052 IX-053 IX-054 IX-055 IX-056 IX-057 IX-058",
    broken_by="or-as-and unknown-part-is-false record-index-for-any-column",
    assumptions="released readings; keys are unique in the table, and every row lies in the partition of its columns",
)
@property_check
@given(told=PARTITIONED, forms=st.lists(FILTERS, min_size=3, max_size=3), kept=st.integers(0, 7))
def pruning_changes_nothing(told: Story, forms: Sequence[Any], kept: int) -> None:
    """Random filters, with all indexes and with one alone, beside the record index where that is what it needs."""
    table = indexed(told)
    rows = read_snapshot(table).rows
    assume(len({one["id"] for one in rows}) == len(rows))
    every = sorted(metadata.built(table) - {"files"})
    alone = {"files", *every[kept : kept + 1]}
    some = perform(table, metadata.drop(table, sorted(metadata.built(table) - alone)))
    both = perform(table, metadata.drop(table, sorted(metadata.built(table) - alone - {"record_index"})))
    for form in forms:
        refuse_pruned_away(table, form, told)
        refuse_pruned_away(some, form, told)
        refuse_pruned_away(both, form, told)


@obligation(
    "PO-305",
    "Where statistics are absent nothing is skipped",
    "MT-013 IX-053",
    broken_by="unknown-statistics-prune unknown-is-all-null or-as-and",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=4), place=st.integers(0, 9))
def absent_means_unknown(told: Story, place: int) -> None:
    """A file's statistics are missing; each value that is there is asked for."""
    table = indexed(told)
    known, view, schema = pruning.usable(table), view_of(table), Schema((*META_SCHEMA, *SCHEMA.fields))
    names = sorted({key.rpartition("|")[2] for key in known["column_stats"][1]})
    for key in [one for one in known["column_stats"][1] if one.endswith(f"|{names[place % len(names)]}")]:
        known = {**known, "column_stats": (known["column_stats"][0], without(known["column_stats"][1], key))}
    known = {name: known[name] for name in ("column_stats", "partition_stats")}
    rows = read_snapshot(table).rows
    leaves = [["ts", "=", row["ts"]] for row in rows] + [["id", "=", row["id"]] for row in rows]
    for form in [["or", *pair] for pair in zip(leaves, reversed(leaves), strict=True)] + leaves:
        facts = [(one, pruning.facts_of(view, one, known)) for one in sound_snapshot(view)]
        kept = tuple(one for one, fact in facts if True in pruning.possible(form, fact, schema))
        if answer(view, kept, Selection(filter=form)).rows != read_snapshot(table, filter=form).rows:
            raise Counterexample(f"{form} where a file has no statistics", table, told.lines())


def without(held: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An index without one entry."""
    return {one: value for one, value in held.items() if one != key}


@obligation(
    "PO-306",
    "The record index maps every live key to the one file group that holds it, and holds no other key",
    "IX-020 IX-021",
    broken_by="stale-entries-kept delete-wins-over-put metadata-misses-replaced-groups",
    assumptions="released readings; the writers' index is global, too; no overwriting brought a key twice",
)
@property_check
@given(told=stories(shapes((9, 6), partitioned=(True,)), OPERATIONS, ("clustering",), 5))
def located(told: Story) -> None:
    """After upserts that move rows, deletes, overwrites and services."""
    table = indexed(told)
    rows, stored = read_snapshot(table, meta_columns=True).rows, everything(table).get("record_index", {})
    assume(len({one["id"] for one in rows}) == len(rows))
    for one in rows:
        place = stored.get(str(one["_hoodie_record_key"]))
        if (
            not place
            or place[0] != one["_hoodie_partition_path"]
            or not str(one["_hoodie_file_name"]).startswith(place[1])
        ):
            raise Counterexample(
                f"{one['_hoodie_record_key']!r} is in {one['_hoodie_file_name']!r}: {place}", table, told.lines()
            )
    if len(rows) != len(stored):
        raise Counterexample(f"{len(rows)} rows, {len(stored)} keys in the index", table, told.lines())


@obligation(
    "PO-307",
    "A secondary index holds the values that merging leaves: a late update that loses changes nothing in it",
    "IX-030 IX-031",
    broken_by="index-of-incoming-rows stale-entries-kept",
)
@property_check
@given(told=HISTORIES)
def merged_values(told: Story) -> None:
    """The entries are the pairs of value and key that a snapshot reads."""
    table = indexed(told)
    pairs = {secondary_key(one["note"], str(one["id"])) for one in read_snapshot(table).rows}
    stored = everything(table).get("secondary_index_note", {})
    if pairs != set(stored):
        raise Counterexample(f"{pairs} are there, {set(stored)} in the index", table, told.lines())


@obligation(
    "PO-308",
    "Statistics bound every value that a query can see, of the files of its slice and of its partition",
    "MT-011 MT-012 MT-014",
    broken_by="statistics-without-logs statistics-of-first-row",
)
@property_check
@given(told=HISTORIES)
def bounded(told: Story) -> None:
    """Least, greatest and nulls, of every column of every row."""
    table = indexed(told)
    view, stored = view_of(table), everything(table)
    by_id = {one.file_id: one for one in sound_snapshot(view)}
    for one in read_snapshot(table, meta_columns=True).rows:
        found = next(known for name, known in by_id.items() if str(one["_hoodie_file_name"]).startswith(name))
        for name in ("_hoodie_record_key", "id", "ts", "note", "day"):
            value, where = one[name], found.partition or "."
            files = [known for known in (found.base_file, *found.log_files) if known]
            ranges = [stored.get("column_stats", {}).get(joined(name, where, known.name)) for known in files]
            own = stored.get("partition_stats", {}).get(joined(name, where))
            if not any(bounds(known, value) for known in ranges) or not bounds(own, value):
                raise Counterexample(f"{name} {value!r}: {ranges}, partition {own}", table, told.lines())


def bounds(known: Any, value: Any) -> bool:
    """Whether statistics allow a value; absent ones allow all."""
    if known is None:
        return True
    least, greatest, nulls, count = known
    return bool(nulls if value is None else count > nulls and least <= value <= greatest)


@obligation(
    "PO-309",
    "A metadata table made for a table that has a history equals one that was kept from its start",
    "MT-009 IX-002",
    broken_by="bootstrap-lists-last-write stale-entries-kept",
)
@property_check
@given(told=HISTORIES)
def made_later(told: Story) -> None:
    """Every index, built at the end."""
    kept, later = indexed(told), indexed(told, kept=False)
    later = replace(later, metadata=metadata.with_indexes(later, valid(kept).indexes))
    if everything(kept) != everything(later):
        raise Counterexample("an index built later is another", later, told.lines())


@obligation(
    "PO-310",
    "An index that is dropped and built anew is the same, and at no moment does it change an answer",
    "MT-007 MT-009",
    broken_by="bootstrap-lists-last-write",
)
@property_check
@given(told=PARTITIONED, form=FILTERS, place=st.integers(0, 8))
def built_anew(told: Story, form: Any, place: int) -> None:
    """Every prefix of the effects of both."""
    table = indexed(told)
    names = sorted(metadata.built(table) - {"files"})
    name = names[place % len(names)]
    dropped = metadata.drop(table, [name])
    gone = perform(table, dropped)
    again = metadata.with_indexes(gone, [one for one in valid(table).indexes if one.name == name])
    effects = (*dropped, CommitMetadataTable(again), metadata.listing(gone, metadata.built(table)))
    for count in range(len(effects) + 1):
        refuse_pruned_away(perform(table, effects[:count]), form, told)
    if everything(perform(table, effects)) != everything(table):
        raise Counterexample(f"{name} is another when it is built anew", table, told.lines())


@obligation(
    "PO-311",
    "Indexing beside a writer ends with an index that holds what the writer wrote, whenever the writer completes",
    "IG-003 IG-004 MT-007 MT-009",
    broken_by="indexer-stops-at-its-plan writer-drops-unasked-indexes",
)
@property_check
@given(
    told=stories(shapes(), (Operation.UPSERT,), longest=3),
    beside=stories(shapes(), (Operation.UPSERT,), longest=1),
    cut=st.integers(0, 4),
    started=st.booleans(),
)
def indexed_beside_writers(told: Story, beside: Story, cut: int, started: bool) -> None:
    """A write that began before the plan or after it completes between two effects of the indexing."""
    table = played(told, LISTED)
    request = request_of(beside.steps[0], LISTED)
    early = writers.begin(table, request, tick(LAST)) if started else None
    table = perform(table, early[1] if early else ())
    table = perform(table, indexing.schedule(table, tick(LAST + 1), INDEXED, DEFINED[:1]))
    table = perform(table, indexing.execute(table, tick(LAST + 1), tick(LAST + 4))[:cut])
    write, first = early or writers.begin(table, request, tick(LAST + 2))
    table = table if early else perform(table, first)
    write, second = writers.stage(table, write)
    table = perform(table, second)
    table = perform(table, writers.commit(table, write, tick(LAST + 3)))
    table = perform(table, indexing.execute(table, tick(LAST + 1), tick(LAST + 4)))
    refuse_stale(table, told, f"written after {cut} effects of the indexing")
    if not {"record_index", "secondary_index_note"} <= metadata.built(table):
        raise Counterexample(f"only {sorted(metadata.built(table))} are built", table, told.lines())
    table = taken(table, beside.steps[0], LAST + 10, LISTED)
    if "record_index" not in metadata.built(table):
        raise Counterexample("a writer that did not ask for the index has dropped it", table, told.lines())


@obligation(
    "PO-312",
    "What the metadata table holds of a write that has not completed is never used",
    "MT-006",
    broken_by="uncommitted-metadata-used",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=4))
def uncommitted_is_unseen(told: Story) -> None:
    """The last write dies between the two commits; then an other goes on."""
    *before, last = told.steps
    table = indexed(Story(told.shape, tuple(before)))
    known, effects = everything(table), write_effects(table, request_of(last, GLOBAL))
    place = next(number for number, one in enumerate(effects) if is_completion(one))
    table = perform(table, effects[:place])
    if everything(table) != known:
        raise Counterexample("the metadata of a pending write is used", table, told.lines())
    step = Step(Operation.UPSERT, ({"id": "new", "day": "d1", "ts": 9, "note": "one"},))
    refuse_stale(taken(table, step, LAST + 10, GLOBAL), told, "after another write")


@obligation(
    "PO-313",
    "Compaction and archival of the metadata table, and archival of the table itself, change nothing that it says",
    "MT-006 MT-015 MT-016",
    broken_by="uncommitted-metadata-used",
)
@property_check
@given(told=stories(shapes(), OPERATIONS, longest=5), settings=st.sampled_from((1, 2)))
def maintained(told: Story, settings: int) -> None:
    """A write that died leaves its metadata; then both timelines shrink."""
    table = indexed(told)
    effects = write_effects(
        table, request_of(Step(Operation.UPSERT, ({"id": "new", "day": "d1", "ts": 9, "note": "x"},)), GLOBAL)
    )
    known = everything(table)
    place = next(number for number, one in enumerate(effects) if is_completion(one))
    table = perform(table, effects[:place])
    table = perform(table, indexing.compact(table, tick(LAST + 3), tick(LAST + 4), EAGER))
    if everything(table) != known:
        raise Counterexample("compaction changed what the metadata table says", table, told.lines())
    keep = {"hoodie.keep.min.commits": str(settings), "hoodie.keep.max.commits": str(settings + 1)}
    own = valid(table)
    table = replace(
        table, metadata=perform(own, archival.archive(own, {**keep, "hoodie.clean.commits.retained": "1"}, table))
    )
    table = perform(table, archival.archive(table, {**keep, "hoodie.clean.commits.retained": "1"}))
    if everything(table) != known:
        raise Counterexample("archival changed what the metadata table says", table, told.lines())


def overlapping(readings: Readings) -> None:
    """A began first and completes last; both write to one partition, B with the smaller values.

    Raises:
        Counterexample: the metadata table says what is not so.

    """
    table = new_table(Shape())
    table = perform(table, metadata.asked_for(table, INDEXED))
    rows = [Record({"id": key, "day": "d1", "ts": ts, "note": key}) for key, ts in (("a", 9), ("b", 1))]
    requests = [Request(Operation.UPSERT, (one,)) for one in rows]
    begun = []
    for number, request in enumerate(requests):
        write, effects = writers.begin(table, request, tick(number + 1))
        table = perform(table, effects)
        begun.append(write)
    for number in (1, 0):
        write, effects = writers.stage(table, begun[number])
        table = perform(table, effects)
        table = perform(table, writers.commit(table, write, tick(10 - number)))
    wrong = metadata_differences(table, readings)
    if wrong:
        raise Counterexample(f"of two writers that overlapped, {wrong[0]} is that of the first to complete", table)


@obligation(
    "PO-314",
    "The statistics of a partition bound its values, in whatever order overlapping writers complete",
    "MT-014 RD-007",
    refuted=True,
    holds_instead="PO-315",
    assumptions="the logs of the metadata table are merged as released, by requested time",
)
def overlapping_as_released() -> None:
    """The newer tight bounds stand before the older ones."""
    overlapping(RELEASED)


@obligation(
    "PO-315",
    "With logs merged by completion time the metadata table is right, in whatever order overlapping writers complete",
    "MT-014 RD-007",
    broken_by="stale-entries-kept-by-overlap",
    assumptions="the logs of the metadata table are merged as the text has it, by completion time",
    exhaustive=True,
)
def overlapping_by_completion() -> None:
    """The same two writers."""
    overlapping(TEXT)


@obligation(
    "PO-316",
    "A slice may be skipped when each of its files, judged by its own statistics, may be",
    "IX-054 MG-026",
    refuted=True,
    holds_instead="PO-304",
    assumptions="partial update mode IGNORE_DEFAULTS; as released, each file is judged by itself",
)
def files_judged_alone() -> None:
    """A row whose columns come from two files."""
    properties = {**Shape().properties(), "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    schema = Schema((*SCHEMA.fields, Field("more", "string")))
    table = create_table(properties, schema)
    table = perform(table, metadata.asked_for(table, INDEXED))
    for number, (note, more) in enumerate((("one", None), (None, "two"))):
        row = Record({"id": "a", "day": "d1", "ts": number, "note": note, "more": more})
        table = writers.write(table, Request(Operation.UPSERT, (row,)), tick(2 * number + 1), tick(2 * number + 2))
    form = ["and", ["note", "=", "one"], ["more", "=", "two"]]
    view, stored = view_of(table), everything(table)["column_stats"]
    whole = Schema((*META_SCHEMA, *schema.fields))

    def may_hold(found: FileSlice, name: str) -> bool:
        known = Facts(lambda _, column: [stored[joined(column, found.partition, name)]], lambda *_: False)
        return True in pruning.possible(form, known, whole)

    for found in sound_snapshot(view):
        names = [one.name for one in (found.base_file, *found.log_files) if one]
        if read_snapshot(table, filter=form).rows and not any(may_hold(found, name) for name in names):
            raise Counterexample("no file may hold the row that both hold together", table)


@obligation(
    "PO-317",
    "Skipping partitions by their path never changes an answer",
    "IX-056 OW-021",
    refuted=True,
    holds_instead="PO-304",
    assumptions="a global index without hoodie.record.index.update.partition.path",
)
def rows_beside_their_partition() -> None:
    """An update keeps the row in its old partition, with a new value in the partition's column."""
    table = new_table(Shape())
    settings = {**GLOBAL, "hoodie.record.index.update.partition.path": "false"}
    for number, day in enumerate(DAYS):
        step = Step(Operation.UPSERT, ({"id": "a", "day": day, "ts": number, "note": "one"},))
        table = taken(table, step, 10 * number + 1, settings)
    refuse_pruned_away(table, ["day", "=", DAYS[1]], Story(Shape(), ()))


@obligation(
    "PO-319",
    "With a global record index every row is found by its key",
    "IX-020 IX-055 OW-018",
    refuted=True,
    holds_instead="PO-306",
    assumptions="the writers' index is global, too",
)
def overwritten_beside_the_index() -> None:
    """Overwriting looks no keys up: a key that another partition has lives twice, the index knows one place."""
    steps = (
        Step(Operation.UPSERT, ({"id": "a", "day": "d1", "ts": 1, "note": "one"},)),
        Step(Operation.INSERT_OVERWRITE, ({"id": "a", "day": "d2", "ts": 1, "note": "two"},)),
    )
    told = Story(Shape(), steps)
    refuse_pruned_away(indexed(told), ["id", "=", "a"], told)
