"""Rules of the trace check, broken: checks that accept what no sound behaviour does, and over-strict ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hudi_model.actions import Action, State
from hudi_model_tools.accepts import Complaint, Line, Past, Refusal

from hudi_conformance.corpus.mutants.registry import Function, mutant

Found = Callable[..., Iterator[Complaint]]


def without(*allowed: str) -> Callable[[Function], Found]:
    """A check with all complaints but those that would allow one of these instead."""

    def spared(original: Function) -> Found:
        def complaints(past: Past, line: Line) -> Iterator[Complaint]:
            return (one for one in original(past, line) if not one[2].startswith(allowed))

        return complaints

    return spared


def wanting(refuses: Callable[[Past, Line], bool]) -> Callable[[Function], Found]:
    """A check with one complaint more than the rules."""

    def stricter(original: Function) -> Found:
        def complaints(past: Past, line: Line) -> Iterator[Complaint]:
            yield from original(past, line)
            yield refuses(past, line), "not accepted by this check", "nothing"

        return complaints

    return stricter


LOOSE = {
    "trace-check-accepts-a-held-lock": (
        "LK-001 LK-002",
        "Every process that requests the lock gets it.",
        "hudi_model_tools.accepts.complaints",
        ("waiting until the lock is released", "nothing to release"),
    ),
    "trace-check-accepts-any-time": (
        "TM-003 TM-004 TM-005",
        "A time may be given twice.",
        "hudi_model_tools.accepts.complaints",
        ("a time",),
    ),
    "trace-check-accepts-completion-without-lock": (
        "LK-002 LK-003 LK-004 CP-012",
        "Actions are planned and completed by processes that do not hold the lock.",
        "hudi_model_tools.accepts.creation_complaints",
        ("take_lock",),
    ),
    "trace-check-ignores-states": (
        "TL-003 SA-001 TL-025",
        "Any state follows any other.",
        "hudi_model_tools.accepts.creation_complaints",
        ("a legal next state",),
    ),
    "trace-check-accepts-any-completed-action": (
        "TL-006",
        "What is requested as one action completes as another.",
        "hudi_model_tools.accepts.creation_complaints",
        tuple(f"{one} in the state" for one in Action),
    ),
    "trace-check-accepts-any-savepoint": (
        "SR-001",
        "What has not completed is saved.",
        "hudi_model_tools.accepts.creation_complaints",
        ("a savep",),
    ),
    "trace-check-ignores-request-times": (
        "TL-024 TM-003",
        "A request bears any time.",
        "hudi_model_tools.accepts.creation_complaints",
        ("requested ",),
    ),
    "trace-check-accepts-any-completion-time": (
        "TL-024 LK-003",
        "A completion bears a time that was generated before the lock was taken.",
        "hudi_model_tools.accepts.creation_complaints",
        ("generate_time, then",),
    ),
    "trace-check-needs-no-marker": (
        "MK-001",
        "Files come unannounced.",
        "hudi_model_tools.accepts.file_complaints",
        ("put_marker",),
    ),
    "trace-check-accepts-late-files": (
        "TL-026 SA-003",
        "Files come and go after their action has completed.",
        "hudi_model_tools.accepts.file_complaints",
        ("files of an action",),
    ),
    "trace-check-accepts-lost-markers": (
        "MK-004",
        "The markers of a pending write disappear.",
        "hudi_model_tools.accepts.complaints",
        ("its completion, its abort",),
    ),
    "trace-check-accepts-removed-pending-writes": (
        "RB-005 RB-009",
        "A pending write leaves the timeline without a rollback.",
        "hudi_model_tools.accepts.deletion_complaints",
        ("its abort, or its rollback",),
    ),
    "trace-check-accepts-lower-states-first": (
        "RB-009 SR-003",
        "What is undone loses its lower states first.",
        "hudi_model_tools.accepts.deletion_complaints",
        ("the highest state first",),
    ),
    "trace-check-accepts-archival-before-history": (
        "AR-010 SA-005",
        "A completed action leaves, and the history does not hold it.",
        "hudi_model_tools.accepts.deletion_complaints",
        ("its archival or a restore",),
    ),
    "trace-check-accepts-completed-files-first": (
        "AR-011",
        "The completed file of an archived action goes before its others.",
        "hudi_model_tools.accepts.deletion_complaints",
        ("its earlier states first",),
    ),
    "trace-check-ignores-manifest-numbers": (
        "SA-002 HS-003",
        "A manifest bears a number that was given.",
        "hudi_model_tools.accepts.complaints",
        ("put_manifest of ",),
    ),
    "trace-check-ignores-the-metadata-table": (
        "RB-011 MT-003",
        "An action completes though the metadata table lacks it.",
        "hudi_model_tools.accepts.creation_complaints",
        ("commit_metadata_table",),
    ),
}
"""By name: the clauses, what is broken, where, and what the complaints that go would have allowed."""

for _name, (_clauses, _sentence, _place, _allowed) in LOOSE.items():
    mutant(_name, _clauses, _sentence, _place)(without(*_allowed))


@mutant(
    "trace-check-requires-files-under-the-lock",
    "LK-003 LK-004 CP-011",
    "Files are made only by who holds the lock.",
    "hudi_model_tools.accepts.file_complaints",
)
def _check_wants_files_under_the_lock(original: Function) -> Found:
    return wanting(lambda past, line: past.holder != line["process"])(original)


@mutant(
    "trace-check-requires-locked-readers",
    "LK-003 RD-001",
    "Readers wait for the lock.",
    "hudi_model_tools.accepts.complaints",
)
def _check_locks_readers_out(original: Function) -> Found:
    reading = ("pick_snapshot", "read_slice")
    return wanting(lambda past, line: past.holder != "" and line["effect"] in reading)(original)


@mutant(
    "trace-check-requires-one-executor",
    "CP-002 TL-025 RB-004 SA-002",
    "Only the process that requested an action carries it out.",
    "hudi_model_tools.accepts.creation_complaints",
)
def _check_wants_one_executor(original: Function) -> Found:
    def is_foreign(past: Past, line: Line) -> bool:
        known = past.actions.get((line["requested"], line["action"] == Action.SAVEPOINT))
        return known is not None and not known.is_of(line["process"])

    return wanting(is_foreign)(original)


@mutant(
    "trace-check-requires-one-attempt",
    "TL-003 CP-010 CN-012",
    "An action goes inflight once.",
    "hudi_model_tools.accepts.creation_complaints",
)
def _check_wants_one_attempt(original: Function) -> Found:
    def is_again(past: Past, line: Line) -> bool:
        known = past.actions.get((line["requested"], line["action"] == Action.SAVEPOINT))
        return known is not None and State[line["state"]] in known.files

    return wanting(is_again)(original)


@mutant(
    "trace-check-requires-completions-in-turn",
    "TL-024 TL-013",
    "An action completes only when all that were requested before it have.",
    "hudi_model_tools.accepts.creation_complaints",
)
def _check_wants_completions_in_turn(original: Function) -> Found:
    def overtakes(past: Past, line: Line) -> bool:
        earlier = (known for (requested, _), known in past.actions.items() if requested < line["requested"])
        return line["state"] == State.COMPLETED.name and any(one.state is not State.COMPLETED for one in earlier)

    return wanting(overtakes)(original)


@mutant(
    "trace-check-refuses-second-deletes",
    "SA-004",
    "A process that deletes what is gone has failed.",
    "hudi_model_tools.accepts.accepts",
)
def _check_minds_second_deletes(original: Function) -> Function:
    def once(trace: Iterable[Line], *before: Any) -> Refusal | None:
        lines = tuple(trace)
        gone = [(line["partition"], line["file"]) if line["effect"] == "delete_data_file" else None for line in lines]
        found: Refusal | None = original(lines, *before)
        return found or second_of(lines, gone)

    return once


@mutant(
    "trace-check-refuses-unused-markers",
    "MK-003",
    "A marker without its file is an error.",
    "hudi_model_tools.accepts.accepts",
)
def _check_wants_all_files_announced(original: Function) -> Function:
    def kept(trace: Iterable[Line], *before: Any) -> Refusal | None:
        lines = tuple(trace)
        put = {
            (line["partition"], line["file"]) for line in lines if line["effect"] in ("put_base_file", "put_log_file")
        }
        lacks = (
            Refusal(number, line, "no such file came", "the file")
            for number, line in enumerate(lines, start=1)
            if line["effect"] == "put_marker" and (line["partition"], line["file"]) not in put
        )
        found: Refusal | None = original(lines, *before)
        return found or next(lacks, None)

    return kept


def second_of(lines: Sequence[Line], words: Sequence[object]) -> Refusal | None:
    """A refusal of the first line whose word has been said before; None is no word."""
    for place, word in enumerate(words):
        if word is not None and word in words[:place]:
            return Refusal(place + 1, lines[place], "it is gone already", "nothing")
    return None


@mutant(
    "trace-check-requires-one-archiver",
    "AR-002 AR-010 SA-002",
    "No other process finishes what an archival began.",
    "hudi_model_tools.accepts.accepts",
)
def _check_wants_one_archival(original: Function) -> Function:
    effects = ("put_history_file", "put_manifest", "swap_version", "append_archived_log")

    def alone(trace: Iterable[Line], *before: Any) -> Refusal | None:
        lines = tuple(trace)
        archivers = [line["process"] for line in lines if line["effect"] in effects]
        others = (
            Refusal(number, line, "another has begun", "nothing")
            for number, line in enumerate(lines, start=1)
            if line["effect"] in (*effects, "delete_instant") and archivers and line["process"] != archivers[0]
        )
        found: Refusal | None = original(lines, *before)
        return found or next(others, None)

    return alone
