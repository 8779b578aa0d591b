"""Writes one after another: what each leaves at every moment, and in the end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_model import writers
from hudi_model.actions import State
from hudi_model.effects import CreateInstant, Effects, perform
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation, Request
from hudi_model.tables import TEXT, Table
from hudi_model.time import tick
from hudi_model_tools.violations import violations
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    COMMIT_TIME,
    KEYS,
    Row,
    Shape,
    Story,
    new_table,
    played,
    remembered,
    request_of,
    rows_of,
    shapes,
    stories,
)
from hudi_conformance.verification.properties.interleaved_writers import (
    BUCKETS,
    SHAPES,
    bag,
    row,
    serially,
    write_request,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-170",
    "A write is invisible before its completed instant, and the table is sound after each of its effects",
    "OW-001 OW-010 MK-001 RD-002",
    broken_by="files-count-when-staged completed-without-files inflight-counts-as-committed",
)
@property_check
@given(story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE], longest=4))
def invisible_before_completion(story: Story) -> None:
    """Every prefix of the last step's effects."""
    *before, last = story.steps
    try:
        table = played(Story(story.shape, tuple(before)))
        known, then, effects = bag(table), bag(played(story)), phases_of(table, request_of(last))
    except Rejection as rejection:
        raise Counterexample(str(rejection), None, story.lines()) from None
    for effect in effects:
        table = perform(table, (effect,))
        done = isinstance(effect, CreateInstant) and effect.entry.state is State.COMPLETED
        known = then if done else known
        if any(one.severity == "error" for one in violations(table)) or bag(table) != known:
            raise Counterexample(f"after {type(effect).__name__} rows or soundness changed", table, story.lines())


def phases_of(table: Table, request: Request) -> Effects:
    """All effects of a write, as one that is alone has them."""
    started_write, first = writers.begin(table, request, tick(501))
    table = perform(table, first)
    staged, second = writers.stage(table, started_write)
    return *first, *second, *writers.commit(perform(table, second), staged, tick(502))


@model_property(
    "PO-171",
    "An aborted write leaves the table as it was, whenever it aborts",
    "OW-009 MK-001 MK-003",
    broken_by="abort-forgets-files marker-after-file",
)
@property_check
@given(story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE], longest=3))
def aborted_leaves_nothing(story: Story) -> None:
    """Every prefix of begin and stage, then abort; folders that became partitions may stay."""
    *before, last = story.steps
    start = played(Story(story.shape, tuple(before)))
    started_write, first = writers.begin(start, request_of(last), tick(501))
    _, second = writers.stage(perform(start, first), started_write)
    effects = (*first, *second)
    for count in range(len(effects) + 1):
        table = perform(start, effects[:count])
        table = perform(table, writers.abort(table, started_write))
        if replace(table, partitions=start.partitions) != start:
            raise Counterexample(f"something is left of a write aborted after {count} effects", table, story.lines())


@model_property(
    "PO-178",
    "A partition and key have one file group, and with a global index a key has one in the table",
    "OW-020 OW-021 OW-022 OW-023 DM-001",
    broken_by="tagging-sees-nothing global-index-by-partition moved-row-stays-too",
    assumptions="released readings; writers one after another, no inserts and overwrites, which look no key up",
)
@property_check
@given(
    story=stories(SHAPES, (Operation.UPSERT, Operation.UPSERT, Operation.DELETE)),
    kind=st.sampled_from(("SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "RECORD_INDEX", "BUCKET")),
    moves=st.sampled_from(("true", "false")),
)
def one_group_for_a_key(story: Story, kind: str, moves: str) -> None:
    """The rows of every slice, by where they are."""
    names = {f"hoodie.{name}.index.update.partition.path": moves for name in ("simple", "bloom", "record")}
    table = played(story, {**names, **BUCKETS, "hoodie.index.type": kind})
    places = list(held(table))
    if kind.startswith("GLOBAL") or kind == "RECORD_INDEX":
        places = [("", key) for _, key in places]
    if len(places) != len(set(places)):
        raise Counterexample(f"a key is there twice: {sorted(places)}", table, (kind, *story.lines()))


def held(table: Table) -> Iterable[tuple[str, str]]:
    """Partition and key of every row, as its meta fields say."""
    for one in read_snapshot(table, selection=Selection(meta_columns=True)).rows:
        yield str(one["_hoodie_partition_path"]), str(one["_hoodie_record_key"])


@model_property(
    "PO-179",
    "The same writes leave the same rows on copy-on-write and merge-on-read",
    "OW-015 TT-001 TT-002 MG-018",
    broken_by="copy-on-write-forgets-old-rows delete-writes-nothing",
    assumptions="the text's reading of MG-013 (as released, a delete does not shield from the base row)",
)
@property_check
@given(
    story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE]),
    settings=st.sampled_from(({}, BUCKETS, {"hoodie.parquet.small.file.limit": "1"})),
)
def same_on_both_types(story: Story, settings: Mapping[str, str]) -> None:
    """Inserts bring keys that are new, since a log merges a repeated key and a base file keeps it."""
    steps = tuple(
        replace(one, operation=Operation.UPSERT) if is_plain_insert(one.operation) else one for one in story.steps
    )
    both = [
        bag(played(Story(replace(story.shape, table_type=kind), steps), settings), TEXT)
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    ]
    if both[0] != both[1]:
        raise Counterexample(
            f"copy-on-write {both[0]}, merge-on-read {both[1]}", None, Story(story.shape, steps).lines()
        )


def is_plain_insert(operation: Operation | None) -> bool:
    """Whether an operation adds rows without looking for their keys."""
    return operation in (Operation.INSERT, Operation.BULK_INSERT)


@model_property(
    "PO-180",
    "To combine rows of one key before an upsert changes nothing but how much is written",
    "OW-019 MG-017",
    broken_by="combine-keeps-the-first",
    assumptions="the text's reading of MG-013; merge modes, no payload class of its own",
)
@property_check
@given(
    shape=shapes(versions=(8, 9)),
    batches=st.lists(
        st.lists(
            st.builds(row, st.sampled_from(KEYS[:2]), st.integers(0, 3), st.sampled_from("xyz")), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=3,
    ),
)
def combine_or_not(shape: Shape, batches: Sequence[Sequence[Row]]) -> None:
    """Upserts that hold a key more than once."""
    found = []
    for combines in ("true", "false"):
        settings = {"hoodie.combine.before.upsert": combines}
        requests = [write_request(Operation.UPSERT, rows, settings) for rows in batches]
        found.append(bag(serially(new_table(shape), requests, range(len(requests))), TEXT))
    if found[0] != found[1]:
        lines = tuple(str([(one["id"], one["ts"], one["note"]) for one in rows]) for rows in batches)
        raise Counterexample(f"combined {found[0]}, as they came {found[1]}", None, (str(shape), *lines))


@model_property(
    "PO-181",
    "An upsert repeated changes no row",
    "OW-003 MG-002 MG-003 MG-004",
    broken_by="tagging-sees-nothing",
    assumptions="released readings",
)
@property_check
@given(story=stories(operations=(Operation.UPSERT,), longest=4), again=st.sampled_from(({}, BUCKETS)))
def upsert_is_idempotent(story: Story, again: Mapping[str, str]) -> None:
    """The last upsert once and twice."""
    once, twice = played(story, again), played(Story(story.shape, (*story.steps, story.steps[-1])), again)
    if bag(once) != bag(twice):
        raise Counterexample(f"once {bag(once)}, twice {bag(twice)}", twice, story.lines())


@model_property(
    "PO-198",
    "Writes do to a table what they do to a plain dictionary",
    "OW-012 OW-013 OW-014 OW-018 DM-001",
    broken_by="overwrite-keeps-old-groups tagging-sees-nothing copy-on-write-forgets-old-rows",
    assumptions="one after another; copy-on-write, or merge-on-read by commit time; no plain inserts",
)
@property_check
@given(
    story=stories(
        st.one_of(shapes(types=("COPY_ON_WRITE",)), shapes(modes=(COMMIT_TIME,))),
        [one for one in Operation if not is_plain_insert(one) and one is not Operation.PARTIAL_UPDATE],
    )
)
def as_a_dictionary(story: Story) -> None:
    """The dictionary knows nothing of files."""
    table = played(story)
    try:
        found = rows_of(table)
    except ValueError as doubled:
        raise Counterexample(str(doubled), table, story.lines()) from None
    if found != remembered(story):
        raise Counterexample(f"rows {found}, remembered {remembered(story)}", table, story.lines())


@model_property(
    "PO-199",
    "A row keeps the commit time of the write that brought it, and names the file it lies in",
    "MF-010 MF-013 OW-015",
    broken_by="carried-row-gets-new-time",
    assumptions="released readings; upserts and deletes",
)
@property_check
@given(story=stories(shapes(types=("COPY_ON_WRITE",)), longest=4))
def rows_keep_their_commit(story: Story) -> None:
    """Rows that the last step did not bring are as they were but for their file."""
    before = {row_id(one): one for one in meta_rows(played(Story(story.shape, story.steps[:-1])))}
    table = played(story)
    files = {base.name: base for base in table.base_files}
    brought = {(one["id"], one["day"]) for one in story.steps[-1].rows}
    for one in meta_rows(table):
        old = before.get(row_id(one), {})
        is_old = (one["id"], one["day"]) not in brought
        kept = not is_old or one["_hoodie_commit_time"] == old.get("_hoodie_commit_time")
        if not kept or one["_hoodie_file_name"] not in files:
            raise Counterexample(f"{one} was {old}", table, story.lines())


def meta_rows(table: Table) -> list[dict[str, Any]]:
    """The rows of a snapshot with their meta fields."""
    return [dict(one) for one in read_snapshot(table, selection=Selection(meta_columns=True)).rows]


def row_id(one: Mapping[str, Any]) -> tuple[str, str]:
    """What states a row in its table."""
    return str(one["_hoodie_partition_path"]), str(one["_hoodie_record_key"])
