"""Checks of services' results, of definitions and of folders that do not look."""

from collections.abc import Iterator
from typing import Any

from hudi_conformance.corpus.mutants.registry import Function, mutant

_BLIND = {
    "results-unchecked": (
        "CP-004 CL-004",
        "What a compaction or a clustering made may hold any rows.",
        "hudi_model_tools.checks.results.rewriting_violations",
    ),
    "log-compactions-unchecked": (
        "LC-003 LC-005",
        "A log compaction may leave out blocks, and its log may bear any instant.",
        "hudi_model_tools.checks.results.log_compaction_violations",
    ),
    "fields-unchecked": (
        "OW-032",
        "A table's fields may be no columns.",
        "hudi_model_tools.checks.definition.field_violations",
    ),
    "groups-unnumbered": (
        "MT-017",
        "Groups of an index may have any numbers.",
        "hudi_model_tools.checks.metadata.group_violations",
    ),
    "doubled-keys-unchecked": (
        "DM-001",
        "A key may stand in two file groups.",
        "hudi_model_tools.checks.rows.doubled_keys",
    ),
    "entries-in-any-group": (
        "MT-017 IX-020",
        "A key of a record index may lie in any of its groups.",
        "hudi_model_tools.checks.metadata.entry_violations",
    ),
    "buckets-unchecked": (
        "OW-034 OW-036",
        "A key may lie in the file group of others.",
        "hudi_model_tools.checks.rows.bucket_violations",
    ),
    "folders-of-rows-unchecked": (
        "DM-031",
        "A row may lie in any folder.",
        "hudi_model_tools.checks.rows.place_violations",
    ),
}


def _blind(_: Function) -> Function:
    def nothing(*_: Any, **__: Any) -> Iterator[Any]:
        yield from ()

    return nothing


for _name, (_clauses, _sentence, _place) in _BLIND.items():
    mutant(_name, _clauses, _sentence, _place)(_blind)


@mutant(
    "index-versions-unchecked",
    "IX-004",
    "An index may have either version.",
    "hudi_model_tools.checks.definition.versions_of",
)
def _index_versions_unchecked(_: Function) -> Function:
    return lambda _name, _view, _evidence: ("V1", "V2")


@mutant(
    "results-by-the-mode-of-now",
    "CP-004",
    "What was compacted before an upgrade is to have the rows that the table's mode makes of it since.",
    "hudi_model_tools.checks.results.rows_by_commit_time",
)
def _results_by_the_mode_of_now(_: Function) -> Function:
    return lambda _view, _planned, _request: None
