"""The services of the metadata table in the order in which releases run them, before the deltacommit of an action."""

from hudi_spark.indexing.recovering import Recovery
from hudi_spark.indexing.upkeep.archiving import archive_when_due
from hudi_spark.indexing.upkeep.cleaning import clean_when_due, finish_clean
from hudi_spark.indexing.upkeep.compaction import compact_when_due, finish_compaction
from hudi_spark.indexing.upkeep.log_compaction import compact_logs_when_due
from hudi_spark.indexing.upkeep.own_table import OwnTable


def keep_up(own: OwnTable, action: str) -> bool:
    """What dead writers left of services is finished, then each service runs that is due; whether anything changed.

    Called under the table's lock, on behalf of an action that is about to commit to the metadata table.

    Raises:
        HudiError: LIMIT_EXCEEDED before version 8, when an action has been pending for too many deltacommits.
        FormatError: a file of the metadata table that is broken.

    Clauses: MT-015, MT-016.

    """
    changed = _finish(own, action)
    for service in (clean_when_due, compact_when_due, compact_logs_when_due, archive_when_due):
        own = own.again() if changed else own
        changed = service(own) or changed
    return changed


def _finish(own: OwnTable, action: str) -> bool:
    """Pending plans: compactions and cleans are carried out, log compactions are taken back and planned anew.

    Clauses: CP-002, MT-006.
    """
    pending = [one for one in own.timeline.instants if not one.is_completed]
    for one in pending:
        if one.action == "compaction":
            finish_compaction(own.again(), one)
        elif one.action == "clean":
            finish_clean(own.again(), one)
        elif one.action == "logcompaction":
            now = own.again()
            Recovery(now.inside, now.configuration, now.timeline, now.layout).roll_back(one, action, now.clock)
    return bool(pending)
