"""The operations of a write, and in what they differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError

OperationName = Literal[
    "insert",
    "upsert",
    "bulk_insert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "delete_partition",
    "partial_update",
]
Replaces = Literal["nothing", "partitions", "table"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    `stored`: its name in commit metadata. `tags`: whether incoming keys are looked up in the table.
    `combines`: the option by which versions of one key in the input are combined first, None where they never are.
    `replaces`: which file groups leave the table when it completes.

    Clauses: TL-019, RD-003.
    """

    name: OperationName
    stored: str
    tags: bool = False
    combines: str | None = None
    replaces: Replaces = "nothing"
    bulk: bool = False

    @property
    def deletes(self) -> bool:
        """Whether every incoming key leaves the table."""
        return self.name == "delete"

    @property
    def partial(self) -> bool:
        """Whether the incoming rows hold some of the columns only."""
        return self.name == "partial_update"


_INSERTS: Final = "hoodie.combine.before.insert"
_UPSERTS: Final = "hoodie.combine.before.upsert"
_DELETES: Final = "hoodie.combine.before.delete"

OPERATIONS: Final[Mapping[str, Operation]] = {
    one.name: one
    for one in (
        Operation("insert", "INSERT", combines=_INSERTS),
        Operation("upsert", "UPSERT", tags=True, combines=_UPSERTS),
        Operation("bulk_insert", "BULK_INSERT", combines=_INSERTS, bulk=True),
        Operation("delete", "DELETE", tags=True, combines=_DELETES),
        Operation("insert_overwrite", "INSERT_OVERWRITE", combines=_INSERTS, replaces="partitions"),
        Operation("insert_overwrite_table", "INSERT_OVERWRITE_TABLE", combines=_INSERTS, replaces="table"),
        Operation("delete_partition", "DELETE_PARTITION", replaces="partitions"),
        Operation("partial_update", "UPSERT", tags=True, combines=_UPSERTS),
    )
}


def operation_named(name: str) -> Operation:
    """The operation of a name.

    Raises:
        HudiError: CONFIG_INVALID for another name.

    """
    found = OPERATIONS.get(name)
    if found is None:
        hint = f"use one of {', '.join(OPERATIONS)}"
        raise HudiError(Reason.CONFIG_INVALID, "TL-019", f"{name!r} is no operation", hint=hint)
    return found
