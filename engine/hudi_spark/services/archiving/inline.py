"""An archival after a write."""

from typing import Final

from hudi_spark.committing.work import TableWork
from hudi_spark.services.archiving.choosing import MOST, refuse_bad_limits
from hudi_spark.services.archiving.running import archive

_AUTOMATIC: Final = "hoodie.archive.automatic"


def archive_inline(work: TableWork) -> None:
    """Archive where there are too many writes, unless the options say that somebody else does.

    Without too many nothing is asked of the history: what an interrupted archival left is in nobody's way till then.

    Raises:
        HudiError: as `archive`.

    Clauses: AR-001, AR-003.

    """
    if not work.options.flag(_AUTOMATIC):
        return
    if len(work.timeline().completed_data()) > work.options.number(MOST):
        archive(work)


def refuse_unarchivable(work: TableWork) -> None:
    """Nothing, unless the archival after a write is going to refuse its options: that is told before the write.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: AR-003.

    """
    if work.options.flag(_AUTOMATIC):
        refuse_bad_limits(work.options)
