"""Writes that are done once however often they are tried: the commit says of which id, or of which batch, it is.

An id is the caller's own. A batch has a stream and a number; a commit says of every stream of the table which batch it
wrote last, as Apache Hudi's streaming sink has it. Either is known for as long as its commit is on the active timeline.

Clauses: OW-001, OW-010.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.committing.outcome import Outcome
from hudi_spark.errors import HudiError
from hudi_spark.state.commits import Commit, commit_of
from hudi_spark.state.timeline import Timeline

BATCHES_KEY: Final = "_hudi_streaming_sink_checkpoint"
WRITE_ID_KEY: Final = "_hudi_write_id"


class Once(Protocol):
    """What tells a write from others, so that it is done once."""

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit is of this write, or of one that comes after it.

        Raises:
            HudiError: TIMELINE_FILE_CORRUPT for a commit whose entry does not parse.

        """

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """What the commit of this write says, in the extra metadata, where these commits were before it."""


@dataclass(frozen=True, slots=True)
class WriteId:
    """A caller's own id of a write."""

    text: str

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit has the id."""
        return commit.metadata.extra.get(WRITE_ID_KEY) == self.text

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """The id."""
        del commits
        return {WRITE_ID_KEY: self.text}


@dataclass(frozen=True, slots=True)
class Batch:
    """A numbered batch of a stream."""

    stream: str
    number: int

    def is_of(self, commit: Commit) -> bool:
        """Whether a commit says that the batch, or a later one of its stream, was written."""
        return _batches(commit).get(self.stream, -1) >= self.number

    def entry(self, commits: Iterable[Commit]) -> Mapping[str, str]:
        """The last batch of every stream.

        Of all commits, not of the newest: two streams that write at the same time do not know of one another's batch.
        """
        known: dict[str, int] = {}
        for commit in commits:
            for name, number in _batches(commit).items():
                known[name] = max(number, known.get(name, number))
        known[self.stream] = self.number
        return {BATCHES_KEY: json.dumps({name: str(number) for name, number in sorted(known.items())})}


class WrittenBeforeError(HudiError):
    """Another try of the same write has completed meanwhile: `commit`."""

    def __init__(self, commit: Commit) -> None:
        message = f"the {commit.instant.action} {commit.instant.requested} is of the same write"
        super().__init__(Reason.WRITE_CONFLICT, "OW-010", message, commit.instant.file, hint="it need not be repeated")
        self.args = (commit,)
        self.commit = commit


def write_of(commits: Iterable[Commit], once: Once) -> Commit | None:
    """The newest of some commits that is of a write."""
    return next((one for one in reversed(tuple(commits)) if once.is_of(one)), None)


def refuse_repeated(storage: Storage, began_with: Timeline, timeline: Timeline, once: Once) -> None:
    """Nothing, unless another try of the write has completed since it began.

    Raises:
        WrittenBeforeError: one has.

    Clauses: OW-010.

    """
    known = {one.requested for one in began_with.completed_data()}
    later = [one for one in timeline.completed_data() if one.requested not in known]
    found = write_of((commit_of(storage, one) for one in later), once)
    if found is not None:
        raise WrittenBeforeError(found)


def repeated(commit: Commit) -> Outcome:
    """What a write answers that stood already."""
    one, metadata = commit.instant, commit.metadata
    return Outcome(
        one.requested,
        one.completed,
        one.action,
        metadata.operation_type or "",
        metadata.write_stats,
        metadata.replaced_file_ids,
        repeated=True,
    )


def _batches(commit: Commit) -> Mapping[str, int]:
    """The last batch that each stream had written, by the stream's name."""
    text = commit.metadata.extra.get(BATCHES_KEY)
    if not text:
        return {}
    try:
        return {str(name): int(number) for name, number in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, ArithmeticError, RecursionError) as error:
        message = f"{BATCHES_KEY} is {text[:100]!r}"
        hint = "the commit was not written by a streaming sink of Hudi: repair or restore it"
        raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-019", message, commit.instant.file, hint=hint) from error
