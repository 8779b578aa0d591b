"""A new table appears: its folders first, its properties last, so that what stopped halfway is no table."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import PROPERTIES_FILE, holds_table

from hudi_spark.creation.definition import TableDefinition, settled
from hudi_spark.creation.properties import table_properties
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError

_FOLDERS: Final = (
    ".hoodie/.aux/.bootstrap/.partitions",
    ".hoodie/.aux/.bootstrap/.fileids",
    ".hoodie/.schema",
    ".hoodie/.temp",
)
_HISTORY_FOLDERS: Final = {"1": ".hoodie/archived", "2": ".hoodie/timeline/history"}


def create_table(effects: Effects, definition: TableDefinition, moment: datetime | None = None) -> None:
    """Create an empty table in the storage of the effects.

    `moment`: what the comments of the properties file say (now). The whole definition is checked before anything is
    written. One effect: `put_properties`.

    Raises:
        HudiError: CONFIG_INVALID for a definition that is no table, and when there is a table already;
            TABLE_VERSION_UNSUPPORTED, SCHEMA_INCOMPATIBLE, MERGER_UNKNOWN.
        UnsupportedFeature: a table that this engine could not write to.

    Clauses: SL-001, PR-001, PR-002, PR-003, PR-007, PR-020, PR-021, DM-030, MG-015, MG-016.

    """
    properties = table_properties(settled(definition))
    _refuse_table(effects.storage)
    _make_folders(effects.storage, (*_FOLDERS, _HISTORY_FOLDERS[properties["hoodie.timeline.layout.version"]]))
    content = serialise_properties(properties, _comments(moment or datetime.now(UTC)))
    if not effects.put_new_properties(PROPERTIES_FILE, content):
        raise _exists(effects.storage)


def _refuse_table(storage: Storage) -> None:
    if holds_table(storage):
        raise _exists(storage)


def _exists(storage: Storage) -> HudiError:
    hint = "open it instead, or choose another path"
    return HudiError(Reason.CONFIG_INVALID, "SL-001", "there is a table already", storage.base, hint=hint)


def _make_folders(storage: Storage, folders: tuple[str, ...]) -> None:
    """Empty folders that Apache Hudi looks for on a file system; an object store has none, so they are no effect."""
    if isinstance(storage, LocalStorage):
        for folder in folders:
            Path(storage.resolve(folder)).mkdir(parents=True, exist_ok=True)


def _comments(moment: datetime) -> tuple[str, str]:
    """The two lines that Java writes above new properties."""
    utc = moment.astimezone(UTC)
    return f"Properties saved on {utc:%Y-%m-%dT%H:%M:%S.%f}Z", f"{utc:%a %b %d %H:%M:%S} UTC {utc:%Y}"
