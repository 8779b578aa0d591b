"""Small worlds to explore whole: a table, the processes that share it, and the laws that hold in every state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hudi_model.effects import perform
from hudi_model.files import Record
from hudi_model.requests import Operation, Request
from hudi_model.services import archival
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import write
from hudi_model_tools.explore import Exploration, Progress, explore
from hudi_model_tools.programs import LocalState
from hudi_model_tools.protocol import Process, Protocol, Shared, World
from hudi_model_tools.store import Store

from hudi_conformance.verification.properties import laws
from hudi_conformance.verification.properties.histories import COMMIT_TIME, EVENT_TIME, Shape, new_table

NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}
MERGE_ON_READ, COPY_ON_WRITE = "MERGE_ON_READ", "COPY_ON_WRITE"
ALWAYS = (laws.answers, laws.nothing_uncommitted, laws.readers, laws.snapshots_stay, laws.one_holder, laws.valid_times)
WITHOUT_COMPLETION_TIMES = tuple(law for law in ALWAYS if law is not laws.snapshots_stay)
"""What holds in table version 6 too."""
WITHOUT_LEASES = tuple(law for law in ALWAYS if law is not laws.one_holder)
"""What holds where a holder may be late."""
AT_REST = (laws.plans_complete, laws.nothing_left)
Actor = Callable[[Store], Process]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Who shares a table of which shape, after how many writes, and how many may crash."""

    name: str
    sentence: str
    shape: Shape
    actors: tuple[Actor, ...]
    crashes: int = 0
    writes: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)
    archived: Mapping[str, str] | None = None
    """What an archiver was informed that ran before each of those writes."""
    always: tuple[laws.LawOf, ...] = ALWAYS
    at_rest: tuple[laws.LawOf, ...] = AT_REST

    def start(self, store: Store) -> World:
        """The world before anything happens."""
        table, last = first_table(self.shape, self.writes, self.settings, self.archived)
        return World(Shared(store.keep(table), None, last), tuple(actor(store) for actor in self.actors))

    def search(
        self,
        always: tuple[laws.LawOf, ...] | None = None,
        at_rest: tuple[laws.LawOf, ...] | None = None,
        *,
        crashes: int | None = None,
        whole: bool = False,
        progress: Progress = lambda *_: None,
    ) -> Exploration:
        """Every state, held to the laws: the scenario's own by default."""
        store = Store()
        start = self.start(store)
        moves = Protocol(store, self.crashes if crashes is None else crashes, whole=whole).moves
        made = [law(start) for law in (self.always if always is None else always)]
        ends = [law(start) for law in (self.at_rest if at_rest is None else at_rest)]
        return explore(start, moves, made, ends, progress)


def first_table(
    shape: Shape, writes: int, settings: Mapping[str, str], archived: Mapping[str, str] | None = None
) -> tuple[Table, int]:
    """A table of two rows in two partitions, written and archived a few times, and the last tick it took."""
    table = new_table(shape)
    for number in range(writes):
        rows = (row("a", "d1", 1, str(number)), row("b", "d2", 1, str(number)))
        request = Request(Operation.UPSERT, rows, settings=settings)
        table = table if archived is None else perform(table, archival.archive(table, archived))
        table = write(table, request, tick(2 * number + 1), tick(2 * number + 2))
    return table, 2 * writes


def row(key: str, day: str, ts: int, note: str) -> Record:
    """A row."""
    return Record({"id": key, "day": day, "ts": ts, "note": note})


def writer(
    name: str,
    ts: int = 2,
    *,
    key: str = "a",
    operation: Operation = Operation.UPSERT,
    settings: Mapping[str, str] | None = None,
) -> Actor:
    """A writer of one row that bears its name."""
    request = Request(operation, (row(key, {"a": "d1", "b": "d2"}.get(key, "d1"), ts, name),), settings=settings or {})
    return lambda store: Process(name, "writer", store.keep(LocalState(request=request)))


def slow(actor: Actor) -> Actor:
    """The same, but it may be paused for longer than its lease while it holds the lock."""
    return lambda store: replace(actor(store), is_slow=True)


def service(name: str, settings: Mapping[str, str] | None = None, called: str = "") -> Actor:
    """A table service that plans once there is something to plan, and carries its plan out."""
    return lambda store: Process(called or name, "service", store.keep(LocalState(name, settings=settings or {})))


def reader(name: str = "reader") -> Actor:
    """A reader of a whole snapshot, slice by slice."""
    return lambda store: Process(name, "reader", store.keep(LocalState()))


def archiver(settings: Mapping[str, str], called: str = "archiver") -> Actor:
    """An archiver."""
    return lambda store: Process(called, "archiver", store.keep(LocalState(settings=settings)))


def savepointer() -> Actor:
    """One who saves the newest write."""
    return lambda store: Process("savepointer", "savepointer", store.keep(LocalState()))


COMPACTS = {"hoodie.compact.inline.max.delta.commits": "1"}
CLEANS = {"hoodie.clean.commits.retained": "1"}
ARCHIVES = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
ARCHIVES_BY_TWO = {**ARCHIVES, "hoodie.keep.max.commits": "2", "hoodie.timeline.compaction.batch.size": "2"}
INDEXES = {"hoodie.metadata.index.column.stats.enable": "true"}
IMPATIENT = {"hoodie.client.heartbeat.interval_in_ms": "0"}
CLUSTERS = {"hoodie.clustering.inline.max.commits": "1"}
ROLLBACK = service("rollback")


def _shape(table_type: str, mode: str, version: int = 9) -> Shape:
    return Shape(version, table_type, mode)


PAIR = (writer("one"), writer("two"))
STREAMS = (writer("one", settings=NON_BLOCKING), writer("two", 3, settings=NON_BLOCKING))
COMPACTION = service("compaction", COMPACTS)

_WRITERS = (
    Scenario(
        "writers",
        "Two optimistic writers of one row, a rollback, a reader; one process crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (*PAIR, ROLLBACK, reader()),
        crashes=1,
        writes=1,
    ),
    Scenario(
        "late-holder",
        "Two optimistic writers of one row, of which the first may hold the lock for longer than its lease; a reader.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (slow(PAIR[0]), PAIR[1], reader()),
        writes=1,
        always=WITHOUT_LEASES,
    ),
    Scenario(
        "late-rollback",
        "A writer that may crash, and two rollbacks, of which one may hold the lock for longer than its lease.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), slow(ROLLBACK), service("rollback", called="another")),
        crashes=1,
        writes=1,
        always=WITHOUT_LEASES,
    ),
    Scenario(
        "writers-logs",
        "The same on merge-on-read.",
        _shape(MERGE_ON_READ, EVENT_TIME),
        (*PAIR, ROLLBACK, reader()),
        crashes=1,
        writes=1,
    ),
    Scenario(
        "writers-6",
        "The same on copy-on-write of table version 6.",
        _shape(COPY_ON_WRITE, COMMIT_TIME, 6),
        (*PAIR, ROLLBACK, reader()),
        crashes=1,
        writes=1,
        always=WITHOUT_COMPLETION_TIMES,
    ),
    Scenario(
        "writers-logs-6",
        "The same on merge-on-read of table version 6, where readers take all logs (refuted: PO-282).",
        _shape(MERGE_ON_READ, COMMIT_TIME, 6),
        (*PAIR, ROLLBACK, reader()),
        crashes=1,
        always=WITHOUT_COMPLETION_TIMES,
    ),
    Scenario(
        "writer-logs-6",
        "A writer on merge-on-read of table version 6, a rollback, a reader; one process crashes.",
        _shape(MERGE_ON_READ, COMMIT_TIME, 6),
        (writer("one"), ROLLBACK, reader()),
        crashes=1,
        always=WITHOUT_COMPLETION_TIMES,
    ),
    Scenario(
        "two-crashes",
        "Two optimistic writers of one row, two rollbacks that may take up one plan; two processes crash.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (*PAIR, ROLLBACK, service("rollback", called="another")),
        crashes=2,
        writes=1,
        at_rest=(laws.plans_complete,),
    ),
    Scenario(
        "travel",
        "Two writers of different rows, a reader who comes back to its moment.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), writer("two", key="b"), reader()),
    ),
    Scenario(
        "slow-writer",
        "A writer, and a rollback that takes every writer for failed; a reader.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), service("rollback", IMPATIENT), reader()),
        always=tuple(law for law in ALWAYS if law is not laws.valid_times),
        at_rest=(),
    ),
)
_METADATA = (
    Scenario(
        "metadata",
        "Two optimistic writers of different rows that keep a metadata table, a rollback; one process crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), writer("two", key="b"), ROLLBACK),
        crashes=1,
        settings={"hoodie.metadata.enable": "true"},
        always=(laws.answers, laws.metadata_agrees),
    ),
    Scenario(
        "indexing",
        "A writer that keeps a metadata table, an indexing of column statistics, a rollback; one process crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), service("indexing", INDEXES), ROLLBACK),
        crashes=1,
        settings={"hoodie.metadata.enable": "true"},
        always=(laws.answers, laws.metadata_agrees, laws.metadata_valid),
    ),
)
_STREAMS = (
    Scenario(
        "streams",
        "Two non-blocking writers of one row under event time, a reader.",
        _shape(MERGE_ON_READ, EVENT_TIME),
        (*STREAMS, reader()),
        settings=NON_BLOCKING,
    ),
    Scenario(
        "streams-commit-time",
        "Two non-blocking writers of one row under commit time (refuted: PO-270).",
        _shape(MERGE_ON_READ, COMMIT_TIME),
        STREAMS,
        settings=NON_BLOCKING,
    ),
)
_COMPACTION = (
    Scenario(
        "writer-compaction",
        "A writer, a compaction, a rollback, a reader; one process crashes.",
        _shape(MERGE_ON_READ, COMMIT_TIME),
        (writer("one"), COMPACTION, ROLLBACK, reader()),
        crashes=1,
    ),
    Scenario(
        "writers-compaction",
        "Two optimistic writers of one row, a compaction, a reader; one process crashes.",
        _shape(MERGE_ON_READ, COMMIT_TIME),
        (*PAIR, COMPACTION, reader()),
        crashes=1,
        at_rest=(laws.plans_complete,),
    ),
    Scenario(
        "stream-compaction",
        "A non-blocking writer, a compaction, a rollback, a reader; one process crashes.",
        _shape(MERGE_ON_READ, EVENT_TIME),
        (STREAMS[0], COMPACTION, ROLLBACK, reader()),
        crashes=1,
        settings=NON_BLOCKING,
    ),
    Scenario(
        "streams-compaction",
        "Two non-blocking writers of one row under event time, a compaction, a reader.",
        _shape(MERGE_ON_READ, EVENT_TIME),
        (*STREAMS, COMPACTION, reader()),
        settings=NON_BLOCKING,
        at_rest=(laws.plans_complete,),
    ),
)
_SERVICES = (
    Scenario(
        "clustering",
        "A writer, a clustering, a rollback, a reader; one process crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), service("clustering", CLUSTERS), ROLLBACK, reader()),
        crashes=1,
    ),
    Scenario(
        "cleaning",
        "Two writers of one row, a cleaner that keeps one commit, a reader (refuted: PO-272).",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (*PAIR, service("cleaning", CLEANS), reader()),
        at_rest=(),
    ),
    Scenario(
        "savepoint",
        "Two writers of one row, a cleaner that keeps one commit, a savepoint of the newest write.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (*PAIR, service("cleaning", CLEANS), savepointer()),
        at_rest=(),
    ),
    Scenario(
        "archival",
        "A writer, an archiver, a reader; one process crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), archiver(ARCHIVES), ROLLBACK, reader()),
        crashes=1,
        writes=4,
        always=(*ALWAYS, laws.history_whole),
    ),
    Scenario(
        "archivals",
        "Two archivers that merge files of the history by two, as others have before them; a writer; one crashes.",
        _shape(COPY_ON_WRITE, COMMIT_TIME),
        (writer("one"), archiver(ARCHIVES_BY_TWO), archiver(ARCHIVES_BY_TWO, "another")),
        crashes=1,
        writes=6,
        archived=ARCHIVES_BY_TWO,
        always=(*ALWAYS, laws.history_whole),
        at_rest=(),
    ),
)
SCENARIOS = {one.name: one for one in (*_WRITERS, *_METADATA, *_STREAMS, *_COMPACTION, *_SERVICES)}
