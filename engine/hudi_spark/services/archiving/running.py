"""An archival, from the lock to the last file that leaves.

Clauses: AR-001, AR-002, AR-009, AR-010, AR-011, AR-013.
"""

from typing import Final

from hudi_format.table.markers import MARKERS_FOLDER

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import joined
from hudi_spark.history.archiving import HistorySizes, archive_actions, finish_interrupted
from hudi_spark.options.resolving import Options
from hudi_spark.services.archiving.choosing import actions_to_archive
from hudi_spark.state.configuration import load_configuration
from hudi_spark.state.timeline import load_timeline

ARCHIVE: Final = "archive"


def archive(work: TableWork) -> tuple[str, ...]:
    """The oldest completed actions move to the history, where there are too many; answers their requested times.

    What an interrupted archival left is finished first.

    Raises:
        HudiError: LOCK_UNAVAILABLE; CONFIG_INVALID; TIMELINE_FILE_CORRUPT for a history that lacks what it names.
        FormatError: TIMELINE_FILE_CORRUPT when a file of the timeline or the history does not parse.

    Clauses: AR-001, AR-002, AR-009, AR-013.

    """
    with work.lock(ARCHIVE):
        configuration = load_configuration(work.storage)
        timeline = load_timeline(work.storage, configuration)
        if finish_interrupted(work.effects, configuration, timeline):
            timeline = load_timeline(work.storage, configuration)
        leaving = actions_to_archive(work.storage, configuration, timeline, work.options)
        for one in leaving:
            if work.storage.exists(joined(MARKERS_FOLDER, one.requested)):
                work.effects.delete_markers(one.requested)
        if leaving:
            archive_actions(work.effects, configuration, leaving, _sizes(work.options))
    return tuple(one.requested for one in leaving)


def _sizes(options: Options) -> HistorySizes:
    """Clauses: HS-009, HS-010."""
    return HistorySizes(
        options.number("hoodie.timeline.compaction.batch.size"), options.number("hoodie.commits.archival.batch")
    )
