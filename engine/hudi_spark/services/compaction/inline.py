"""Compaction and log compaction by a writer, after its commit.

Clauses: CP-015, CP-008, LC-008.
"""

from typing import Final

from hudi_spark.committing.work import TableWork
from hudi_spark.services import running
from hudi_spark.services.log_compaction.planning import is_due_inline
from hudi_spark.state.configuration import load_configuration
from hudi_spark.state.pending_plans import COMPACTION, LOG_COMPACTION
from hudi_spark.state.timeline import load_timeline

_COMPACT: Final = "hoodie.compact.inline"
_SCHEDULE: Final = "hoodie.compact.schedule.inline"
_COMPACT_LOGS: Final = "hoodie.log.compaction.inline"


def compact_inline(work: TableWork) -> None:
    """What the options ask for: compact, plans that wait first; or only plan, unless a plan waits; compact logs.

    Nothing for copy-on-write tables, whose writers may have the same options.

    Raises:
        HudiError: as the services.

    Clauses: CP-001, CP-002, CP-008, CP-015, LC-008.

    """
    options = work.options
    if not any(options.flag(key) for key in (_COMPACT, _SCHEDULE, _COMPACT_LOGS)):
        return
    configuration = load_configuration(work.storage)
    if configuration.table_type != "MERGE_ON_READ":
        return
    if options.flag(_COMPACT):
        running.run(work, COMPACTION)
    elif options.flag(_SCHEDULE) and not load_timeline(work.storage, configuration).pending(COMPACTION):
        running.schedule(work, COMPACTION)
    if options.flag(_COMPACT_LOGS) and is_due_inline(load_timeline(work.storage, configuration), options):
        running.run(work, LOG_COMPACTION)
