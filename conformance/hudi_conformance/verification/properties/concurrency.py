"""What holds of processes that share a table: every order of their effects is tried, and every death."""

import re

from hudi_model.tables import RELEASED, TEXT
from hudi_model_tools.accepts import accepts
from hudi_model_tools.explore import Exploration
from hudi_model_tools.protocol import Move, Protocol, World
from hudi_model_tools.store import Store

from hudi_conformance.corpus.traces import describe_refusal, lines_of
from hudi_conformance.verification.properties import laws
from hudi_conformance.verification.properties.registry import Counterexample, model_property
from hudi_conformance.verification.properties.scenarios import SCENARIOS, Scenario

INSTANT = re.compile(r"\d{17}")
ALL_ORDERS = "released readings; bounds of the scenario (hudi-conformance explore); a death ends the lease at once"


def explored(name: str, *always: laws.LawOf, at_rest: tuple[laws.LawOf, ...] = (), crashes: int | None = None) -> None:
    """Nothing, unless a scenario reaches a state that breaks a law.

    Raises:
        Counterexample: with the shortest way there.

    """
    found = SCENARIOS[name].search(always, at_rest, crashes=crashes)
    if found.broken:
        raise counterexample(name, found)


def counterexample(name: str, found: Exploration) -> Counterexample:
    """The shortest way to a broken law, as a timeline and as effects."""
    last = found.steps[-1].world if found.steps else None
    table = last.shared.table.value if last else None
    start = SCENARIOS[name].start(Store())
    return Counterexample(f"{name}: {found.broken}", table, steps_of(start, found.steps), (start, found.steps))


def steps_of(start: World, steps: tuple[Move, ...]) -> tuple[str, ...]:
    """Moves as lines: who, and what."""
    steps_text = []
    for move in steps:
        own = (line for line in lines_of(start, (move,)) if line["process"] == move.process.name)
        done = ", ".join(short(line) for line in own if not (move.is_crash and is_lease(line, move)))
        if not done and not move.is_crash:
            done = "is paused, and its lease ends"
        steps_text.append(f"{move.process.name:<12} {done}{' ✗ crashes' if move.is_crash else ''}".rstrip())
        start = move.world
    return tuple(steps_text)


def is_lease(line: dict[str, str], move: Move) -> bool:
    """Whether a line is the end of a lease and no act of the process."""
    return line["effect"] == "release_lock" and len(move.acts) == 0


def short(line: dict[str, str]) -> str:
    """An effect in few words: of a time its last digits, of a file the instant in its name."""
    kept = (value for name, value in line.items() if name not in ("process", "effect", "holder", "io_type", "file_id"))
    return " ".join((line["effect"], *(INSTANT.sub(lambda found: found[0][-4:], brief(value)) for value in kept)))


def brief(value: str) -> str:
    """The instant of a file name, any other text as it is."""
    found = INSTANT.findall(value)
    return found[-1] if found else value


@model_property(
    "PO-260",
    "At most one process takes itself for the holder of the lock",
    "LK-001 LK-003 LK-004",
    broken_by="lock-for-everyone",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _one_holder() -> None:
    explored("writers", laws.one_holder)


@model_property(
    "PO-261",
    "Instants are unique, no matter which process asks or crashes",
    "TM-003 TM-005 TL-011 TL-012",
    broken_by="clock-forgets",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _valid_times() -> None:
    explored("writers", laws.valid_times)


@model_property(
    "PO-287",
    "Who holds the lock for longer than its lease completes nothing: no write is lost, no rollback completes twice",
    "LK-002 LK-003 LK-004",
    broken_by="late-holder-goes-on",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _late_holders() -> None:
    scenarios = SCENARIOS["late-holder"], SCENARIOS["late-rollback"]
    for one in scenarios:
        explored(one.name, *one.always, at_rest=one.at_rest)


@model_property(
    "PO-262",
    "Optimistic writers are serial in the order of their completion, and none of their records is lost",
    "OW-001 OW-002 OW-003 OW-004 OW-005",
    broken_by="overlap-not-checked",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _serial_writers() -> None:
    explored("writers", laws.answers)


@model_property(
    "PO-263",
    "No row is seen whose write has not completed, also of writers that died",
    "RD-002 TL-017 LF-016",
    broken_by="uncommitted-base-file-visible",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _nothing_uncommitted() -> None:
    explored("writers", laws.nothing_uncommitted)


@model_property(
    "PO-264",
    "A reader gets what had completed when it picked its snapshot, slice by slice, whatever happens meanwhile",
    "RD-001 RD-002 RD-004",
    broken_by="reader-lists-anew",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _snapshot_isolation() -> None:
    explored("writers", laws.readers)
    explored("writer-compaction", laws.readers)


@model_property(
    "PO-265",
    "What had completed up to a moment never changes afterwards",
    "TL-013 LK-003",
    broken_by="completion-time-before-lock",
    assumptions=f"{ALL_ORDERS}; table version 8 on",
    exhaustive=True,
)
def _snapshots_stay() -> None:
    explored("writers", laws.snapshots_stay)


@model_property(
    "PO-266",
    "What a writer that died left behind is removed by a rollback, wherever either of them stopped",
    "RB-001 RB-002 RB-004 RB-009 MK-003",
    broken_by="rollback-keeps-files failed-writer-keeps-its-heartbeat aborted-files-stay",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _nothing_left() -> None:
    explored("writers", at_rest=(laws.nothing_left,))


@model_property(
    "PO-267",
    "A plan survives the death of whoever made it, and completes",
    "CP-002 LK-002 RB-004",
    broken_by="lease-never-ends",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _plans_complete() -> None:
    explored("writer-compaction", at_rest=(laws.plans_complete,))


@model_property(
    "PO-268",
    "A compaction beside an optimistic writer changes no answer",
    "CP-003 CP-005 OW-006 RD-006 RD-008",
    broken_by="plan-skips-a-log",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _compaction_beside_writer() -> None:
    explored("writer-compaction", laws.answers)
    explored("writers-compaction", laws.answers, crashes=0)


@model_property(
    "PO-269",
    "A compaction beside non-blocking writers changes no answer",
    "SW-001 SW-003 SW-006 CP-009 RD-006",
    broken_by="log-slice-by-requested-time",
    assumptions=f"{ALL_ORDERS}; event time",
    exhaustive=True,
)
def _compaction_beside_streams() -> None:
    explored("stream-compaction", laws.answers, laws.readers)


@model_property(
    "PO-270",
    "Under commit time non-blocking writers are serial in the order of their completion",
    "SW-005 RD-007 MG-002",
    refuted=True,
    holds_instead="PO-271",
    assumptions="logs of a slice are merged by requested time, as released",
    exhaustive=True,
)
def _streams_by_commit_time() -> None:
    explored("streams-commit-time", laws.answers)


@model_property(
    "PO-271",
    "Under event time non-blocking writers leave the same rows in whatever order they complete",
    "SW-003 SW-005 MG-003",
    broken_by="event-time-ignores-ordering",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _streams_by_event_time() -> None:
    explored("streams", laws.answers)


@model_property(
    "PO-272",
    "A cleaner beside a reader takes nothing that the reader reads",
    "CN-001 CN-002 RD-004",
    refuted=True,
    holds_instead="PO-273",
    assumptions="the cleaner keeps one commit; two writes complete while the reader reads",
    exhaustive=True,
)
def _cleaner_beside_reader() -> None:
    explored("cleaning", laws.readers)


@model_property(
    "PO-273",
    "A cleaner takes nothing from a reader whose snapshot it retains",
    "CN-001 CN-002 CN-005 RD-014",
    broken_by="clean-takes-the-newest-slice",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _cleaner_beside_retained_reader() -> None:
    explored("cleaning", laws.retained_readers)


@model_property(
    "PO-274",
    "A table as of a moment that has passed never changes, by requested time",
    "RD-010 TL-013",
    refuted=True,
    holds_instead="PO-275",
    assumptions="time travel goes by requested time, as released; table version 8 on",
    exhaustive=True,
)
def _travel_by_requested_time() -> None:
    explored("travel", laws.travel_stays(RELEASED))


@model_property(
    "PO-275",
    "A table as of a moment that has passed never changes, by completion time",
    "RD-010 TL-013",
    broken_by="completion-time-before-lock",
    assumptions="time travel goes by completion time, as the text has it; table version 8 on",
    exhaustive=True,
)
def _travel_by_completion_time() -> None:
    explored("travel", laws.travel_stays(TEXT))


@model_property(
    "PO-276",
    "A live writer that is taken for failed and rolled back does no harm",
    "OW-008 TL-023 RB-001 RB-002",
    broken_by="rolled-back-writer-commits",
    assumptions=f"{ALL_ORDERS}; heartbeats expire at once",
    exhaustive=True,
)
def _taken_for_failed() -> None:
    explored("slow-writer", laws.answers, laws.readers, laws.nothing_uncommitted)


@model_property(
    "PO-277",
    "A clustering beside a writer changes no answer: one of the two gives way",
    "CL-001 OW-005 OW-011",
    broken_by="overlap-not-checked clustering-replaces-nothing",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _clustering_beside_writer() -> None:
    explored("clustering", laws.answers, laws.readers)


@model_property(
    "PO-278",
    "While actions are archived each of them is active or archived at every moment, and readers see the same rows",
    "AR-001 AR-010 HS-008",
    broken_by="timeline-deleted-before-the-history",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _archival_loses_nothing() -> None:
    explored("archival", laws.history_whole, laws.answers, laws.readers)


@model_property(
    "PO-279",
    "A cleaner beside a savepoint leaves the files that the savepoint keeps",
    "SR-001 SR-002 CN-005",
    broken_by="clean-ignores-savepoints",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _savepoint_beside_cleaner() -> None:
    explored("savepoint", laws.saved_files_stay)


@model_property(
    "PO-280",
    "Whatever processes do that keep to the protocol, its trace is accepted",
    "TM-003 TM-005 TL-003 TL-013 MK-001 LK-003 LK-004",
    broken_by="commit-without-lock services-plan-without-lock completion-time-before-lock marker-after-file",
    assumptions=f"{ALL_ORDERS}; every move of every state, after one way to the state",
    exhaustive=True,
)
def _traces_are_accepted() -> None:
    for name in ("writers", "writer-compaction"):
        all_accepted(SCENARIOS[name])


def all_accepted(scenario: Scenario) -> None:
    """Nothing, unless some move leaves lines that no behaviour explains.

    Raises:
        Counterexample: with the lines.

    """
    store = Store()
    start = scenario.start(store)
    protocol = Protocol(store, crashes=0)
    found: dict[World, tuple[Move, ...]] = {start: ()}
    timeline = start.shared.table.value.timeline
    for world in (border := [start]):
        ends = [move for move in protocol.moves(world) if move.world not in found]
        found.update({move.world: (*found[world], move) for move in ends})
        border += list(dict.fromkeys(move.world for move in ends))
        if not protocol.moves(world):
            refused = accepts(lines_of(start, found[world]), timeline)
            if refused:
                raise Counterexample(describe_refusal(refused), world.shared.table.value, steps_of(start, found[world]))


@model_property(
    "PO-281",
    "In every state the metadata table lists the files of the completed writes, each of them and no others",
    "OW-010 MT-003 MT-004 MT-006",
    broken_by="metadata-after-data uncommitted-metadata-used",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _metadata_agrees() -> None:
    explored("metadata", laws.metadata_agrees, laws.answers)


@model_property(
    "PO-286",
    "An index that is built beside a writer holds what the table's files make it hold, in every state",
    "IG-002 IG-003 IG-004 MT-005",
    broken_by="indexer-stops-at-its-plan metadata-after-data",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _indexing_beside_writer() -> None:
    explored("indexing", laws.metadata_agrees, laws.metadata_valid, laws.answers)


@model_property(
    "PO-282",
    "On version 6 a refused write may delete the log files it has made",
    "OW-009 RB-007 LF-015",
    refuted=True,
    holds_instead="PO-283",
    assumptions="readers take every log of a slice; its blocks tell what counts",
    exhaustive=True,
)
def _deleted_logs_of_version_6() -> None:
    explored("writers-logs-6", laws.readers)


@model_property(
    "PO-283",
    "On version 6 a failed write whose blocks are taken back by a command disturbs no reader",
    "RB-007 LF-015 LF-016",
    broken_by="uncommitted-block-visible",
    assumptions=ALL_ORDERS,
    exhaustive=True,
)
def _commands_of_version_6() -> None:
    explored("writer-logs-6", laws.readers, laws.answers)
