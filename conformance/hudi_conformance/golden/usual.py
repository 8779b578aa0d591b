"""Questions that most tables are asked, with the mutants that most tables tell apart."""

from hudi_conformance.golden.questions import WrittenTable


def first_commit(table: WrittenTable, kills: str = "as-of-reads-everything") -> None:
    """As of the moment before the second commit was requested."""
    then = "of all commits only the first is there"
    table.as_of(table.after(0), "as-of-first-commit", then, "RD-010 RD-001", kills)


def last_but_one(table: WrittenTable, then: str, clauses: str, kills: str = "as-of-reads-everything") -> None:
    """As of the moment before the newest commit was requested."""
    table.as_of(table.after(len(table.commits) - 2), "as-of-last-but-one", then, clauses, kills)


def newest_commit(table: WrittenTable, kills: str = "as-of-exclusive") -> None:
    """As of the requested time of the newest commit: by the text it has not completed yet."""
    then = "the newest commit counts by its requested time; by the text it completes later"
    table.as_of(table.commits[-1], "as-of-newest-request", then, "RD-010", kills)


def base_files_only(table: WrittenTable, kills: str = "optimized-reads-logs") -> None:
    """The read-optimized query."""
    table.optimized("read-optimized", "logs are left out", "RD-009", kills)


def file_slices(table: WrittenTable, kills: str = "log-order-reversed", clauses: str = "RD-004 SL-003") -> None:
    """Which slices a snapshot reads."""
    table.slices("slices", "each group's newest slice, its logs in merge order", clauses, kills)


def timeline(table: WrittenTable, kills: str = "lowest-state-rules", clauses: str = "TL-004 TL-001") -> None:
    """The listed timeline."""
    table.instants("timeline", "every action stands once, in its highest state", clauses, kills)


def description(table: WrittenTable, clauses: str, kills: str) -> None:
    """What the table says of itself."""
    table.info("table-info", "keys, partitions, ordering and merge mode as the properties amount to", clauses, kills)
