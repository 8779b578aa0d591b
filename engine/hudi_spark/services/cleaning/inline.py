"""A clean after a write."""

from hudi_spark.committing.work import TableWork
from hudi_spark.services.cleaning.service import clean


def clean_inline(work: TableWork) -> None:
    """Clean, unless the options say that somebody else does.

    Raises:
        HudiError: as `clean`.

    Clauses: CN-001, CN-012.

    """
    if work.options.flag("hoodie.clean.automatic"):
        clean(work)
