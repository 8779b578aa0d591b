"""The two files of a table's properties, and the order in which a writer changes them.

save backup  ->  put the new file  ->  read it back  ->  remove the backup
"""

from collections.abc import Mapping, Sequence
from typing import Final

from hudi_format.errors import FormatError, Reason
from hudi_format.storage import Storage
from hudi_format.table.properties import (
    CHECKSUM_KEY,
    check_checksum,
    parse_properties,
    serialise_properties,
    table_checksum,
)

PROPERTIES_FILE: Final = ".hoodie/hoodie.properties"
BACKUP_FILE: Final = ".hoodie/hoodie.properties.backup"


def holds_table(storage: Storage) -> bool:
    """Whether a folder is a table: it has properties or their backup.

    Clauses: SL-001.
    """
    return storage.exists(PROPERTIES_FILE) or storage.exists(BACKUP_FILE)


def parse_checked_properties(data: bytes, file: str) -> dict[str, str]:
    """Properties whose checksum, where there is one, is right.

    Raises:
        FormatError: PROPERTIES_INVALID, CHECKSUM_MISMATCH, LIMIT_EXCEEDED.

    Clauses: PR-001, PR-003.

    """
    properties = parse_properties(data, file)
    check_checksum(properties, file)
    return properties


def with_checksum(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with the checksum of their database and table name.

    Clauses: PR-003.
    """
    checksum = table_checksum(properties.get("hoodie.database.name"), properties.get("hoodie.table.name", ""))
    return {**properties, CHECKSUM_KEY: str(checksum)}


def update_properties(
    storage: Storage, changes: Mapping[str, str | None], comments: Sequence[str] = ()
) -> dict[str, str]:
    """Set and, where the value is None, remove properties; the new properties.

    What an unfinished update left is repaired first. The caller holds the table's lock.

    Raises:
        FormatError: NOT_A_TABLE, or the reason why neither file can be read.

    Clauses: PR-008.

    """
    repair_properties(storage)
    old = storage.read(PROPERTIES_FILE)
    merged = {**parse_checked_properties(old, PROPERTIES_FILE), **changes}
    new = with_checksum({key: value for key, value in merged.items() if value is not None})
    storage.put_if_absent(BACKUP_FILE, old)
    storage.put(PROPERTIES_FILE, serialise_properties(new, comments))
    written = parse_checked_properties(storage.read(PROPERTIES_FILE), PROPERTIES_FILE)
    storage.delete(BACKUP_FILE)
    return written


def repair_properties(storage: Storage) -> None:
    """Finish or undo an update that stopped: a whole file makes the backup needless, a broken one is put back from it.

    Raises:
        FormatError: NOT_A_TABLE when there is neither file; otherwise the reason why neither can be read.

    Clauses: PR-008.

    """
    if not holds_table(storage):
        hint = "name the folder that holds .hoodie"
        raise FormatError(Reason.NOT_A_TABLE, "SL-001", storage.base, None, f"there is no {PROPERTIES_FILE}", hint)
    if not storage.exists(BACKUP_FILE):
        return
    if not _is_whole(storage):
        backup = storage.read(BACKUP_FILE)
        parse_checked_properties(backup, BACKUP_FILE)
        storage.put(PROPERTIES_FILE, backup)
    storage.delete(BACKUP_FILE)


def _is_whole(storage: Storage) -> bool:
    """Whether the file is there, parses and names its table; a file cut short loses the checksum or the name."""
    try:
        properties = parse_checked_properties(storage.read(PROPERTIES_FILE), PROPERTIES_FILE)
    except (FileNotFoundError, FormatError):
        return False
    return "hoodie.table.name" in properties and CHECKSUM_KEY in properties
