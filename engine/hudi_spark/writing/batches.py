"""Streams that write each batch once: a commit says which batch of which stream it holds.

The newest commit that says so tells of every stream of the table, as Apache Hudi's streaming sink has it.

Clauses: OW-001.
"""

import json
from collections.abc import Mapping
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.state.snapshots import Snapshot

BATCHES_KEY: Final = "_hudi_streaming_sink_checkpoint"


def written_batches(snapshot: Snapshot) -> Mapping[str, int]:
    """The last batch that each stream wrote, by the stream's name.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT for a commit whose entry does not parse.

    """
    for commit in reversed(snapshot.commits):
        text = commit.metadata.extra.get(BATCHES_KEY)
        if text:
            try:
                return {str(name): int(number) for name, number in json.loads(text).items()}
            except (ValueError, AttributeError, TypeError, ArithmeticError, RecursionError) as error:
                message = f"{BATCHES_KEY} is {text[:100]!r}"
                raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-019", message, commit.instant.file) from error
    return {}


def is_written(snapshot: Snapshot, stream: str, batch: int) -> bool:
    """Whether a batch, or one after it, was committed already."""
    return written_batches(snapshot).get(stream, -1) >= batch


def batch_entry(snapshot: Snapshot, stream: str, batch: int) -> Mapping[str, str]:
    """What the commit of a batch says, in the commit's extra metadata."""
    known = {**written_batches(snapshot), stream: batch}
    return {BATCHES_KEY: json.dumps({name: str(number) for name, number in sorted(known.items())})}
