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
    """Pending plans: compactions, cleans, rollbacks are carried out, log compactions are taken back and planned anew.

    Clauses: CP-002, MT-006.
    """
    pending = [one for one in own.timeline.instants if not one.is_completed]
    # What a rollback undoes may be a log compaction that is pending too.
    pending.sort(key=lambda one: one.action != "rollback")
    for one in pending:
        if one.action == "compaction":
            finish_compaction(own.again(), one)
        elif one.action == "clean":
            finish_clean(own.again(), one)
        elif one.action == "logcompaction":
            _recovery(own.again()).roll_back(one, action, own.clock)
        elif one.action == "rollback":
            _recovery(own.again()).finish(one, action, own.clock)
    return bool(pending)


def _recovery(own: OwnTable) -> Recovery:
    return Recovery(own.inside, own.configuration, own.timeline, own.layout)
