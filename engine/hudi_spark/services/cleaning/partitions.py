"""Which partitions a clean looks at: those written since the last clean, or all.

Clauses: CN-015.
"""

from collections.abc import Iterable
from typing import Final

from hudi_format.storage import Storage
from hudi_format.timeline.plans import CleanMetadata, parse_clean_metadata

from hudi_spark.services.cleaning.needed import Needed
from hudi_spark.state.commits import Commit
from hudi_spark.state.timeline import Instant, Timeline

SAVEPOINTS: Final = "savepointed_timestamps"
"""Where a plan and its clean say which savepoints there were."""


def last_clean(storage: Storage, timeline: Timeline) -> CleanMetadata | None:
    """What the last clean did that completed; None where there is none, or where it says nothing.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse.

    Clauses: CN-009.

    """
    done = timeline.completed("clean")
    data = storage.read(done[-1].file) if done else b""
    return parse_clean_metadata(data, done[-1].file) if data else None


def changed_partitions(
    timeline: Timeline, commits: Iterable[Commit], last: CleanMetadata | None, earliest: Instant, needed: Needed
) -> frozenset[str] | None:
    """The partitions in which a clean can find more than the last one did; None where it has to look at all.

    That is so without a last clean that retained an instant which the timeline still reaches, and where a savepoint is
    gone that it knew of: whatever that one kept may be anywhere.

    Clauses: CN-015.
    """
    since = last.earliest_commit_to_retain if last is not None else ""
    first = timeline.first_write()
    if last is None or not since or first is None or since < first:
        return None
    known = (last.extra_metadata or {}).get(SAVEPOINTS, "")
    if any(one not in needed.savepoints for one in known.split(",") if one):
        return None
    between = (one for one in commits if since <= one.instant.requested < earliest.requested)
    return frozenset(partition for one in between for partition in _touched(one))


def _touched(commit: Commit) -> set[str]:
    return {partition for partition, _ in (*commit.groups(), *commit.replaced_groups())}
