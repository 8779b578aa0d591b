"""Steps that bring no rows: table services, planned and carried out at once or with writes in between."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hudi_conformance.corpus.table_shapes import VERSION_CHANGES, Step, TableShape
from hudi_conformance.interop.fuzzing.seeds import Choices

PLANNED: Final = ("compaction", "logcompaction", "clustering", "clean")
RUN, SCHEDULE, EXECUTE, COMMIT, ABORT = "run", "schedule", "execute", "commit", "abort"
ALTER: Final = "alter_schema"
ROLLBACK_STEPS: Final = ("restore", "rollback")
FAILED_WRITES: Final = "hoodie.clean.failed.writes.policy"
DUE: Final[Mapping[str, str]] = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.async.max.commits": "1",
    "hoodie.clean.commits.retained": "2",
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "4",
    "hoodie.timeline.compaction.batch.size": "2",
    # Which partitions were looked at before is implementation-defined.
    "hoodie.table.services.incremental.enabled": "false",
}
"""Settings by which a short sequence is long enough for every service."""
COMPACTS, CLUSTERS, CLEANS, ARCHIVES = (
    "hoodie.compact.inline",
    "hoodie.clustering.inline",
    "hoodie.clean.automatic",
    "hoodie.archive.automatic",
)
# Whether a write of a batch plans what `hoodie.clustering.async.enabled` requests is open (CP-015).
PLANS: Final = ("hoodie.compact.schedule.inline", "hoodie.clustering.schedule.inline")
"""Services of writers: carried out after each write, and only planned."""
INLINE: Final = (COMPACTS, CLUSTERS, CLEANS, ARCHIVES, *PLANS)
_POLICIES: Final[Mapping[str, Mapping[str, str]]] = {
    "KEEP_LATEST_FILE_VERSIONS": {"hoodie.clean.fileversions.retained": "1"},
    "KEEP_LATEST_BY_HOURS": {"hoodie.clean.hours.retained": "1"},
}
_NEVER: Final = "20000101000000000"
"""An instant that no table has: a plan that was never made is looked for by it."""
_WRITES: Final = ("commit", "deltacommit", "replacecommit")
_LOGGED: Final = ("compaction", "logcompaction")
METADATA: Final = "hoodie.metadata.enable"
_INDEXING: Final = (f"{RUN} indexing", f"{SCHEDULE} indexing")
_INDEX_CHANGES: Final = ("create_index", "drop_index")
_INDEXES: Final[Sequence[Mapping[str, Any]]] = (
    {"index": "bloom_filters"},
    {"index": "column_stats", "columns": ["kind", "number"]},
    {"index": "column_stats"},
)
_OF_COLUMNS: Final[Sequence[Mapping[str, Any]]] = (
    {"index": "kinds", "kind": "secondary_index", "columns": ["kind"]},
    {"index": "low", "kind": "column_stats", "columns": ["kind"], "function": "lower"},
    {"index": "filters", "kind": "bloom_filters", "columns": ["kind"], "function": "upper"},
)
"""Indexes that have names of their own; tables have them since version 8."""
_RECORD_INDEX: Final = "hoodie.metadata.record.index.enable"
_SETTINGS: Final[Mapping[str, str]] = {
    "bloom_filters": "hoodie.metadata.index.bloom.filter.enable",
    "column_stats": "hoodie.metadata.index.column.stats.enable",
    "record_index": _RECORD_INDEX,
}
OLDEST: Final = 6
Instant = Mapping[str, Any]
Known = tuple[dict[Any, Any], set[Any]]
"""Keys that are surely there, and keys that may stand twice."""


@dataclass(slots=True)
class Served:
    """What the steps so far leave for services: writes that stand, those saved, what was known then, waiting plans.

    `free_logs`: a write has left parts of rows in logs, or as many blocks as it liked. `cleaned`: how many writes stood
    at the last clean. `failed`: writes whose process died, not yet rolled back. `pending`: the write that waits for its
    completion; 0 where there is none. `listed`: a write has made the metadata table that its settings request. `plans`:
    what was scheduled and not carried out. `lowered`: the table was of a newer version than the oldest.
    """

    standing: list[int] = field(default_factory=list)
    saved: list[int] = field(default_factory=list)
    waits: bool = False
    free_logs: bool = False
    cleaned: int = 0
    memory: dict[int, Known] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    pending: int = 0
    listed: bool = False
    plans: list[str] = field(default_factory=list)
    lowered: bool = False

    def wrote(self, number: int, held: Mapping[Any, Any], doubled: set[Any]) -> None:
        """A write stands."""
        self.standing.append(number)
        self.memory[number] = (dict(held), set(doubled))
        # Beside writes that are under way or died, version 6 makes no metadata table.
        self.listed = self.listed or not (self.failed or self.pending)

    def after(self, step: Step) -> Known | None:
        """What is known of keys after a service; None where it is what was known before."""
        word = step.operation.partition(" ")[0]
        self.waits = (self.waits and word != EXECUTE) or word == SCHEDULE
        if word == SCHEDULE:
            self.plans.append(step.operation)
        elif word == EXECUTE:
            self.plans.pop()
        if step.operation in {f"{RUN} clean", EXECUTE}:
            self.cleaned = len(self.standing)
        if word == "savepoint" and step.target not in self.saved:
            self.saved.append(step.target)
        if word == "delete_savepoint":
            self.saved.remove(step.target)
        if word == "rollback":
            self.failed = [one for one in self.failed if step.target and one != step.target]
        if word in {COMMIT, ABORT}:
            self.pending = 0
        if word in VERSION_CHANGES:
            # All that is pending is finished or taken back before (VR-005); to what was before nothing goes back.
            self.waits = self.free_logs = self.listed = False
            self.failed, self.saved, self.plans, self.cleaned = [], [], [], len(self.standing)
            self.lowered = step.operation == f"{VERSION_CHANGES[True]} {OLDEST}"
        if word != "restore":
            # A completed write is not rolled back: that is refused.
            return None
        # Some drop the metadata table with what they restore, and make it anew with the next write.
        self.listed = False
        last = step.target
        self.standing = [one for one in self.standing if one <= last]
        self.saved, self.failed = ([one for one in ones if one <= last] for ones in (self.saved, self.failed))
        held, doubled = self.memory[self.standing[-1]] if self.standing else ({}, set())
        return dict(held), set(doubled)


def service_step(operation: str, target: int = 0) -> Step:
    """A step of a service; `target` is the step (from 1) that it is about."""
    return Step(operation, configs=DUE, target=target)


def drawn_service(choices: Choices, shape: TableShape, served: Served, *, indexes: bool = False) -> Step:
    """A service for a table, by what the steps so far leave for it; `indexes`: also those that make and drop some."""
    planned = _plannable(shape, served)
    if served.failed and choices.chance(50):
        return service_step("rollback", choices.one(served.failed))
    if served.waits and choices.chance(50):
        return service_step(EXECUTE)
    possible = [*(f"{RUN} {one}" for one in planned), *(f"{SCHEDULE} {one}" for one in _left_to_wait(planned, shape))]
    if not _archival_shows(shape):
        possible.append("archive")
    if served.standing:
        possible += ["savepoint", "savepoint", *(("rollback",) if _can_be_undone(served, shape) else ())]
    if served.saved and not served.waits and not served.pending and not runs_inline(shape, *PLANS):
        possible += [*["restore"] * 4, "delete_savepoint"]
    # A second plan of an index that one is planned for fails in releases once both are carried out.
    indexes = indexes and not served.waits and f"{SCHEDULE} indexing" not in served.plans
    if indexes and served.listed and shape.configs.get(METADATA) == "true":
        possible += [*(one for one in _INDEX_CHANGES if _indexes(one, shape)), *_INDEXING]
    chosen = choices.one(possible)
    if chosen in _INDEX_CHANGES:
        index = choices.one(_indexes(chosen, shape))
        made = chosen == "create_index"
        return replace(service_step(chosen), parameters=index if made else {"index": index["index"]})
    if chosen in {"restore", "delete_savepoint"}:
        # What was saved later is in the way of a restore.
        return service_step(chosen, served.saved[-1])
    step = service_step(chosen, served.standing[-1] if chosen in {"rollback", "savepoint"} else 0)
    return replace(step, configs={**DUE, **_policy(choices, chosen, shape)})


def drawn_inline(choices: Choices, shape: TableShape) -> dict[str, str]:
    """Settings by which writers run services after their writes, or plan them, and when each is due."""
    possible: list[tuple[str, ...]] = []
    # Whether a bucket begins with a log, and so has anything to compact, is open.
    if _fits("compaction", shape) and shape.configs.get("hoodie.index.type") != "BUCKET":
        possible += [(COMPACTS,), (PLANS[0],)]
    if _fits("clustering", shape):
        possible += [(CLUSTERS,), (PLANS[1],)]
    if failed_writes_policy(shape) != "LAZY":
        # As a clean that is a step: it rolls back those whose process is known to have died.
        possible.append((CLEANS,))
    if not _archival_shows(shape):
        possible.append((ARCHIVES,))
        if failed_writes_policy(shape) != "LAZY":
            possible.append((CLEANS, ARCHIVES))
    chosen = [key for names in choices.some(possible, 1, 2) for key in names]
    if not chosen:
        return {}
    due = {**DUE, "hoodie.compact.inline.max.delta.commits": choices.one("123")}
    due |= {f"hoodie.clustering.{name}.max.commits": choices.one("123") for name in ("inline", "async")}
    both = {runs for runs, plans in zip((COMPACTS, CLUSTERS), PLANS, strict=False) if {runs, plans} <= {*chosen}}
    return {**due, **{key: "true" for key in chosen if key not in both}}


def runs_inline(shape: TableShape, *services: str) -> bool:
    """Whether writers run one of these services after their writes, or plan it."""
    return any(shape.configs.get(key) == "true" for key in services or INLINE)


def _indexes(change: str, shape: TableShape) -> list[Mapping[str, Any]]:
    """The indexes that may be made or dropped; one of records only where each key has one place.

    Settings of writes have the last word: one that they request is not dropped, one that they switch off is not made.
    """
    named = _OF_COLUMNS if shape.version > OLDEST else ()
    kept = shape.configs.get(_RECORD_INDEX) == "true"
    possible = [*_INDEXES, *named, *([{"index": "record_index"}] if kept else [])]
    last_word = "false" if change == "create_index" else "true"
    return [one for one in possible if shape.configs.get(_SETTINGS.get(one["index"], "")) != last_word]


def _plannable(shape: TableShape, served: Served) -> list[str]:
    """The services whose outcome nothing leaves open."""
    planned = [one for one in PLANNED if _fits(one, shape)]
    # What becomes of parts of rows nothing settles: 1.1.1 fails, the engine leaves them to a compaction.
    if served.free_logs and "logcompaction" in planned:
        planned.remove("logcompaction")
    if served.waits and shape.configs.get("hoodie.index.bucket.engine") == "CONSISTENT_HASHING":
        # In which bucket a key lies is implementation-defined (OW-034), and so which buckets the waiting plan leaves.
        planned = [one for one in planned if one not in _LOGGED]
    if served.failed and failed_writes_policy(shape) == "LAZY":
        # A clean rolls back those whose process is known to have died, and not every implementation knows it at once.
        planned.remove("clean")
    return planned


def drawn_change(choices: Choices, shape: TableShape, versions: Sequence[int], served: Served) -> Step | None:
    """A change to another version that can have the table; None where there is none."""
    if served.lowered:
        # When actions completed is lost on the way down, or kept by modification times (VR-006).
        return None
    newer_only = {"hoodie.metadata.index.secondary.column", "hoodie.write.record.positions"} & shape.configs.keys()
    fitting = [
        one
        for one in versions
        if one != shape.version
        and not (one == OLDEST and (newer_only or "hoodie.record.merge.strategy.id" in shape.properties))
    ]
    if not fitting:
        return None
    version = choices.one(fitting)
    return service_step(f"{VERSION_CHANGES[version < shape.version]} {version}")


def ending(choices: Choices, served: Served) -> Step:
    """The write that waits is completed, or given up."""
    return service_step(COMMIT if choices.chance(80) else ABORT, served.pending)


def failed_writes_policy(shape: TableShape) -> str:
    """Who rolls back what died: the next writer, a clean, or nobody by itself."""
    return shape.configs.get(FAILED_WRITES, "EAGER")


def _policy(choices: Choices, chosen: str, shape: TableShape) -> dict[str, str]:
    """How a clean counts what it keeps, by what a clustering sorts.

    By hours a clean keeps what active commits need: how far archival went depends on a metadata table, which some sides
    lack.
    """
    if chosen.endswith(" clean"):
        listed = shape.configs.get(METADATA) == "true"
        policies = [one for one in _POLICIES if not listed or one != "KEEP_LATEST_BY_HOURS"]
        policy = choices.one(["KEEP_LATEST_COMMITS", "KEEP_LATEST_COMMITS", *policies])
        return {"hoodie.clean.policy": policy, **_POLICIES.get(policy, {})}
    if chosen in _INDEXING:
        wanted = [one["index"] for one in _indexes("create_index", shape) if one in _INDEXES]
        return {_SETTINGS[choices.one(wanted)]: "true"}
    columns = choices.one(["", "", "ts", "kind", "fare,id"]) if chosen.endswith(" clustering") else ""
    return {"hoodie.clustering.plan.strategy.sort.columns": columns} if columns else {}


def _archival_shows(shape: TableShape) -> bool:
    """Whether a change feed states how far archival went: that depends on a metadata table, which some sides lack."""
    fed = shape.properties.get("hoodie.table.cdc.enabled") == "true"
    return fed and shape.configs.get(METADATA) == "true"


def _left_to_wait(planned: list[str], shape: TableShape) -> list[str]:
    """The services whose plans may wait.

    A clustering that waits is carried out by a writer that clusters, before its write or after it (CP-015): by that an
    update of what it holds is taken or refused (OW-011).
    """
    return [one for one in planned if one != "clustering" or not runs_inline(shape, CLUSTERS)]


def _can_be_undone(served: Served, shape: TableShape) -> bool:
    """Whether the last write can be rolled back: no plan waits, no savepoint keeps it, no service has gone over it."""
    if runs_inline(shape):
        return False
    return not served.waits and served.standing[-1] not in served.saved and len(served.standing) > served.cleaned


def _fits(service: str, shape: TableShape) -> bool:
    """Logs are there to be compacted; where a bucket's rows lie is not for a clustering to say."""
    if service in _LOGGED:
        return shape.table_type == "MERGE_ON_READ"
    return service != "clustering" or shape.configs.get("hoodie.index.type") != "BUCKET"


def requests_of(step: Step, shape: TableShape, done: Sequence[Instant]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The op and the parameters of a service; where a plan is carried out at once, that comes by `execution`."""
    word, _, name = step.operation.partition(" ")
    configs = {"configs": {**shape.configs, **step.configs}}
    if word in {RUN, SCHEDULE}:
        yield "schedule", {"service": name, **configs}
    elif word == EXECUTE:
        yield "execute", {"requested": waiting(done) or _NEVER, **configs}
    elif word in VERSION_CHANGES:
        yield "service", {"name": word, "to": int(name), **configs}
    elif word in {COMMIT, ABORT}:
        yield f"{word}_write", {"txn": transaction(step.target), **configs}
    else:
        planned = instant_of(done[step.target - 1]) if step.target else None
        instant = {"instant": planned} if planned else {}
        yield "service", {"name": word, **step.parameters, **instant, **configs}


def transaction(number: int) -> str:
    """The name of the write that a step begins."""
    return f"step-{number}"


def pending_write(value: Instant) -> Instant:
    """A write that has begun, as later steps name it; questions do not: it is no state of the table."""
    return {"pending": value["requested"]} if value.get("requested") else {}


def instant_of(done: Instant) -> str | None:
    """The instant of a step, completed or begun."""
    return done.get("requested") or done.get("pending")


def noted(done: list[Instant], step: Step, value: Instant | None) -> None:
    """What became of a service, as later steps and questions name it; what it undid has no time any more."""
    word = step.operation.partition(" ")[0]
    instant: Instant = {}
    if value is not None and word == SCHEDULE:
        instant = {"planned": value["requested"]}
    elif word in VERSION_CHANGES:
        done[:] = [{key: time for key, time in one.items() if key in {"requested", "action"}} for one in done]
    elif value is not None and word in ROLLBACK_STEPS:
        named = (step.target - 1,) if step.target else (place for place, one in enumerate(done) if "pending" in one)
        undone = range(step.target, len(done)) if word == "restore" else tuple(named)
        for place in undone:
            done[place] = {}
    elif value is not None and "completed" in value and value["requested"] and value.get("action") in _WRITES:
        instant = value
    done.append(instant)


def waiting(done: Sequence[Instant]) -> str | None:
    """The plan that was scheduled last and not carried out."""
    plans = [one["planned"] for one in done if one.get("planned")]
    ended = {one.get("requested") for one in done}
    return next((one for one in reversed(plans) if one not in ended), None)


def is_service(step: Step) -> bool:
    """Whether a step is a service."""
    return step.operation.partition(" ")[0] in {
        RUN,
        SCHEDULE,
        EXECUTE,
        COMMIT,
        ABORT,
        *VERSION_CHANGES,
        "archive",
        "savepoint",
        "delete_savepoint",
        ALTER,
        *ROLLBACK_STEPS,
        *_INDEX_CHANGES,
    }
