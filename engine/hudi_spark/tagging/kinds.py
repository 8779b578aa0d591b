"""Which index a write uses, and what does not go together with it."""

from dataclasses import dataclass
from typing import Final, Literal

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.writer_state import WriterState

IndexKind = Literal["simple", "bloom", "bucket", "ring", "record"]

_TYPE: Final = "hoodie.index.type"
_ENGINE: Final = "hoodie.index.bucket.engine"
_KINDS: Final[dict[str, tuple[IndexKind, bool]]] = {
    "SIMPLE": ("simple", False),
    "GLOBAL_SIMPLE": ("simple", True),
    "BLOOM": ("bloom", False),
    "GLOBAL_BLOOM": ("bloom", True),
    "BUCKET": ("bucket", False),
    "RECORD_INDEX": ("record", True),
    "GLOBAL_RECORD_LEVEL_INDEX": ("record", True),
    "RECORD_LEVEL_INDEX": ("record", False),
}
_MOVES: Final = "hoodie.{kind}.index.update.partition.path"
_CONSISTENT: Final = "CONSISTENT_HASHING"
_MERGE_ON_READ: Final = "MERGE_ON_READ"


class MissingIndexWarning(UserWarning):
    """The table has no record index to look keys up in; they are found in the files.

    Clauses: OW-020.
    """


@dataclass(frozen=True, slots=True)
class Index:
    """How keys are found.

    `anywhere`: a key lives once in the table, else once in each partition. `moves`: a row of another partition than
    the stored one moves there.

    Clauses: OW-020, OW-021.
    """

    kind: IndexKind
    anywhere: bool = False
    moves: bool = False


def index_of(state: WriterState) -> Index:
    """The index of a write.

    Raises:
        HudiError: CONFIG_INVALID for an index that the table cannot have.
        UnsupportedFeature: an index that is not built.

    Clauses: OW-020, OW-021.

    """
    name = state.options.text(_TYPE).upper()
    if name not in _KINDS:
        raise UnsupportedFeature(f"index-{name.lower()}", f"{_TYPE} may be one of {', '.join(_KINDS)}")
    kind, anywhere = _KINDS[name]
    if kind == "bucket" and state.options.text(_ENGINE).upper() == _CONSISTENT:
        kind = "ring"
        _refuse_copy_on_write(state)
    partitioned = bool(state.configuration.partition_by)
    moves = anywhere and partitioned and state.options.flag(_MOVES.format(kind=kind))
    return Index(kind, anywhere, moves)


def is_global(state: WriterState) -> bool:
    """Whether a key lives once in the table, so that rows of one write combine across partitions.

    Clauses: OW-019, OW-021.
    """
    return index_of(state).anywhere


def _refuse_copy_on_write(state: WriterState) -> None:
    """Clauses: OW-034."""
    if state.configuration.table_type != _MERGE_ON_READ:
        message = f"{_ENGINE}={_CONSISTENT} is for merge-on-read tables"
        hint = f"choose {_ENGINE}=SIMPLE, or make the table MERGE_ON_READ"
        raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)
