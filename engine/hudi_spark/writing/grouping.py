"""How the file groups of a table take rows: by its type, and by whether its index finds keys in logs.

Clauses: OW-012, OW-015, OW-016.
"""

from dataclasses import replace
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.tagging.kinds import index_of
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.context import WriteContext
from hudi_spark.writing.operations import Operation
from hudi_spark.writing.routing import Groups, TargetKind

_INDEX: Final = "hoodie.index.type"
_BUCKET: Final = "BUCKET"


def is_bucketed(state: WriterState) -> bool:
    """Whether a key's hash tells its file group.

    Clauses: OW-022.
    """
    return state.options.text(_INDEX) == _BUCKET


def groups_of(state: WriterState, context: WriteContext) -> Groups:
    """How groups take rows: merge-on-read logs changes; new keys open base files, or logs where a hash finds them.

    Clauses: OW-012, OW-015, OW-016.
    """
    slices = {(one.partition, one.file_id): one for one in state.slices}
    if state.configuration.table_type == "COPY_ON_WRITE":
        return Groups(slices, "merge", "merge", "create", context.new_file_id)
    new: TargetKind = "append" if is_bucketed(state) and not context.operation.bulk else "create"
    small: TargetKind = "append" if is_bucketed(state) or context.operation.partial else "merge"
    return Groups(slices, small, "append", new, context.new_file_id)


def state_for_tags(state: WriterState, operation: Operation) -> WriterState:
    """The table as an index is asked about it: an operation that replaces file groups goes to none of them.

    Clauses: OW-018, OW-020.
    """
    if operation.replaces == "nothing":
        return state
    if index_of(state).kind == "ring":
        message = f"{operation.name} does not go together with an index of consistent hashing"
        hint = "delete the rows and insert the new ones, or use the bucket engine SIMPLE"
        raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)
    return replace(state, snapshot=replace(state.snapshot, slices=()))
