"""Questions that most tables are asked, with the mutants that most tables tell apart."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.operations import SKIPPING
from hudi_conformance.corpus.golden.answers import expected, killed, verdict
from hudi_conformance.corpus.golden.questions import QueryBuilder, Question, WrittenTable
from hudi_conformance.corpus.mutants import MUTANTS

_UNMERGED = Question(
    "unmerged", "read_unmerged", "every version of a row is answered, and tombstones take none away", ("RD-019",), ()
)
_UNMERGED_KILLS = (
    "unmerged-merged",
    "unmerged-without-base",
    "unmerged-newest-of-logs",
    "unmerged-without-deleted",
    "unmerged-without-marked",
    "unmerged-without-partial",
    "rollback-ignored",
    "log-compaction-read-twice",
    "pending-slice-not-joined",
    "absent-instant-committed",
)
_RELEASED_VERSIONS = (6, 8, 9)


def unmerged(state: Table, others: Iterable[Question]) -> Iterator[Question]:
    """The unmerged read, of tables that are read and whose files hold other rows than a snapshot; no recipe asks it.

    It has the options that the table's snapshots have.
    """
    read = [one for one in others if one.op.startswith("read_")]
    given = (one.params for one in read if one.op == "read_snapshot" and "filter" not in one.params)
    configs = next((params["configs"] for params in given if "configs" in params), None)
    question = replace(_UNMERGED, params={} if configs is None else {"configs": configs})
    answer = verdict(state, question)
    if read and answer.answers and open_table(state).configuration.rules.version in _RELEASED_VERSIONS:
        merged = verdict(state, replace(question, op="read_snapshot"))
        if merged.answers and not merged.satisfies(answer):
            named = (MUTANTS[name] for name in _UNMERGED_KILLS)
            yield replace(question, kills=tuple(killed(state, question, expected(state, question), named)))


def deep_check(table: QueryBuilder, then: str, clauses: str, kills: str) -> None:
    """Ask what is wrong with the table, rows and what indexes hold of them included."""
    table.query("check_table", "check", then, clauses, kills, deep=True)


def no_columns(table: QueryBuilder, kills: str = "projection-ignored") -> None:
    """Where no column is requested, rows are counted."""
    then = "where no column is requested there are as many rows"
    table.query("read_snapshot", "no-columns", then, "RD-012", kills, columns=[])


def counted_range(table: QueryBuilder, begin: str, end: str | None = None, kills: str = "range-begin-ignored") -> None:
    """The rows of a range, of which no column is requested."""
    until = {} if end is None else {"end": end}
    then = "where no column is requested of a range there are as many rows as changed in it"
    table.query(
        "read_incremental", "incremental-no-columns", then, "IN-001 RD-012", kills, begin=begin, **until, columns=[]
    )


def past_in_part(table: WrittenTable, kills: str = "as-of-reads-everything") -> None:
    """Some columns of some rows as of the moment before the newest commit was requested, and no column of all."""
    instant = table.after(len(table.commits) - 2)
    then = "a filter and columns of the past see its rows as merging left them, whatever they leave out"
    part = {"filter": ["ts", "<", 200], "columns": ["note", "id"]}
    table.query("read_as_of", "as-of-in-part", then, "RD-010 RD-012", kills, instant=instant, **part)
    then = "where no column of the past is requested there are as many rows as there were"
    table.query("read_as_of", "as-of-no-columns", then, "RD-010 RD-012", kills, instant=instant, columns=[])


def base_files_in_part(table: WrittenTable, kills: str = "optimized-reads-logs") -> None:
    """Some columns of some rows of base files, with the table's own."""
    then = "a filter and columns of base files see their rows, whatever logs hold"
    part = {"filter": ["ts", "<", 200], "columns": ["note", "id"], "meta_columns": True}
    table.query("read_optimized", "read-optimized-in-part", then, "RD-009 RD-012 MF-002", kills, **part)


def first_commit(table: WrittenTable, kills: str = "as-of-reads-everything") -> None:
    """As of the moment before the second commit was requested."""
    then = "of all commits only the first is there"
    table.as_of(table.after(0), "as-of-first-commit", then, "RD-010 RD-001", kills)


def last_but_one(table: WrittenTable, then: str, clauses: str, kills: str = "as-of-reads-everything") -> None:
    """As of the moment before the newest commit was requested."""
    table.as_of(table.after(len(table.commits) - 2), "as-of-last-but-one", then, clauses, kills)


def exact_request(table: WrittenTable, kills: str = "as-of-reads-everything") -> None:
    """As of the requested time of the newest commit but one: by the text it has not completed yet."""
    then = "a commit counts from its requested time on; by the text, from its completion on"
    table.as_of(table.commits[-2], "as-of-exact-request", then, "RD-010", kills)


def before_all(table: WrittenTable, kills: str = "cleaned-range-answered") -> None:
    """As of a time before the first commit."""
    instant = InstantTime(str(int(table.commits[0]) - 1))
    table.as_of(instant, "as-of-before-all", "a time that cleaning did not retain is refused", "RD-014", kills)


def check(table: QueryBuilder, then: str, clauses: str, kills: str, **params: Any) -> None:
    """Ask what is wrong with the table."""
    table.query("check_table", "check", then, clauses, kills, **params)


def base_files_only(table: WrittenTable, kills: str = "optimized-reads-logs") -> None:
    """The read-optimized query."""
    table.optimized("read-optimized", "logs are left out", "RD-009 TT-003 TT-002", kills)


def file_slices(
    table: WrittenTable, kills: str = "log-order-reversed", clauses: str = "RD-004 SL-003 SL-004 SL-005"
) -> None:
    """Which slices a snapshot reads."""
    table.slices("slices", "each group's newest slice, its logs in merge order", clauses, kills)


def timeline(table: WrittenTable, kills: str = "lowest-state-rules", clauses: str = "TL-004 TL-001") -> None:
    """The listed timeline."""
    table.instants("timeline", "every action stands once, in its highest state", clauses, kills)


def description(table: WrittenTable, clauses: str, kills: str) -> None:
    """What the table says of itself."""
    table.info("table-info", "keys, partitions, ordering and merge mode as the properties amount to", clauses, kills)


def skipping(  # noqa: PLR0917 - the filter comes first, as what is asked
    table: QueryBuilder,
    name: str,
    form: Any,
    then: str,
    clauses: str,
    kills: str,
    op: str = "read_snapshot",
    **params: Any,
) -> None:
    """The rows of a snapshot that a filter wants, asked of a reader that may skip what indexes rule out."""
    table.query(op, name, then, clauses, kills, filter=form, configs=dict.fromkeys(SKIPPING, "true"), **params)


def meta_fields(table: WrittenTable, kills: str = "meta-columns-never") -> None:
    """The rows with the table's own columns."""
    then = "each row names the write that brought it and the file it lies in"
    table.snapshot("meta-columns", then, "MF-001 MF-010 MF-013", kills, meta_columns=True)


def some_columns(table: WrittenTable, kills: str = "event-time-ignores-ordering") -> None:
    """Two columns, none of which decides which row wins."""
    then = "leaving out the ordering column changes no winner"
    table.snapshot("projection", then, "RD-012 MG-003", kills, columns=["note", "id"])


def chunk(  # noqa: PLR0917 - begin and end come first, as in the protocol
    table: WrittenTable, after: int, up_to: int, then: str, clauses: str, kills: str
) -> None:
    """The rows that writes brought after the n-th commit but one and up to another."""
    name = f"incremental-{after + 1}-{up_to + 1}"
    table.incremental(table.after(after), table.after(up_to), name, then, clauses, kills)


def filtered_after_merging(table: WrittenTable, kills: str = "filter-before-merge") -> None:
    """The rows of one range of ordering values."""
    then = "a filter sees the rows that merging leaves, and no version that lost"
    table.snapshot("filter-after-merge", then, "RD-012", kills, filter=["ts", "<", 200])


def since_first(table: WrittenTable, kills: str = "range-begin-ignored") -> None:
    """What came after the first commit."""
    then = "rows that later commits brought, each once and as it is now"
    table.incremental(table.after(0), None, "incremental-since-first", then, "IN-001 IN-002", kills)


def up_to_last_but_one(table: WrittenTable, kills: str = "range-end-exclusive") -> None:
    """What came up to the newest commit but one, its own completion included."""
    begin, end = table.after(0), table.after(len(table.commits) - 2)
    then = "a range ends where it says, whatever came later"
    table.incremental(begin, end, "incremental-up-to", then, "IN-002 IN-001", kills)
