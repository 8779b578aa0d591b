"""Questions about tables that Apache Hudi put together of several writes: partial updates and payload classes."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import base_files_only, description, filtered_after_merging, meta_fields


@written("v9/apache_mor_partial_update")
def partial_update(table: WrittenTable) -> None:
    """MERGE INTO assigns a price, then a name, some of them late, a null, and then both."""
    table.snapshot(
        "snapshot",
        "each column is that of the version that says what it holds",
        "MG-021 MG-025 MG-013 LF-025",
        "partial-as-whole partial-null-unset",
    )
    table.snapshot(
        "projection", "so is a column asked for alone", "MG-021 RD-012", "partial-as-whole", columns=["price"]
    )
    base_files_only(table)
    meta_fields(table)
    filtered_after_merging(table, "event-time-ignores-ordering")


def _payload(table: WrittenTable, clauses: str, kills: str) -> None:
    table.snapshot("snapshot", "rows merge as the payload class has it", clauses, kills)
    table.snapshot(
        "meta-columns",
        "each row has the meta fields of its winner, or of what came late",
        f"{clauses} MF-001",
        kills,
        meta_columns=True,
    )
    base_files_only(table)


@written("v8/apache_mor_payload_partial_update")
def payload_partial_update_8(table: WrittenTable) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again."""
    _payload(table, "PL-004 MG-013", "defaults-overwrite payload-by-commit-time")
    filtered_after_merging(table, "event-time-ignores-ordering")


@written("v9/apache_mor_payload_partial_update")
def payload_partial_update_9(table: WrittenTable) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again."""
    _payload(table, "PL-004 PL-010 MG-023 MG-013", "defaults-overwrite partial-update-mode-ignored")
    description(table, "MG-012 PL-010", "mode-always-commit-time")
    filtered_after_merging(table, "event-time-ignores-ordering")


@written("v9/apache_mor_payload_postgres")
def payload_postgres(table: WrittenTable) -> None:
    """Changes with unavailable values, on time and late, deletes by marker, a row written again."""
    _payload(table, "PL-007 PL-010 MG-024 MG-013", "unavailable-leaks partial-update-mode-ignored")
    filtered_after_merging(table, "event-time-ignores-ordering")
