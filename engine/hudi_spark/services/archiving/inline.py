"""An archival after a write."""

from hudi_spark.committing.work import TableWork
from hudi_spark.services.archiving.choosing import refuse_bad_limits
from hudi_spark.services.archiving.running import archive

_AUTOMATIC = "hoodie.archive.automatic"


def archive_inline(work: TableWork) -> None:
    """Archive, unless the options say that somebody else does.

    Raises:
        HudiError: as `archive`.

    Clauses: AR-001, AR-003.

    """
    if work.options.flag(_AUTOMATIC):
        archive(work)


def refuse_unarchivable(work: TableWork) -> None:
    """Nothing, unless the archival after a write is going to refuse its options: that is told before the write.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: AR-003.

    """
    if work.options.flag(_AUTOMATIC):
        refuse_bad_limits(work.options)
