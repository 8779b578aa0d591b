"""What an implementation imports to speak the adapter protocol."""

from hudi_adapter.protocol import (
    Adapter,
    AnswerWarning,
    Implementation,
    Rejected,
    Request,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
)
from hudi_adapter.reasons import Reason
from hudi_adapter.rows import Rows
from hudi_adapter.serving import serve

__all__ = [
    "Adapter",
    "AnswerWarning",
    "Implementation",
    "Reason",
    "Rejected",
    "Request",
    "Rows",
    "RowsAnswer",
    "Unsupported",
    "ValueAnswer",
    "serve",
]
