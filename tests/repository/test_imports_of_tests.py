"""Tests of behaviour use public names, so that modules of the engine can move; each of these imports few others."""

import ast
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
PUBLIC: Final = frozenset(f"hudi_spark{name}" for name in ("", ".errors", ".mergers", ".readings", ".testing"))
# Tests of an algorithm by itself, and the packages of the engine that they may look into.
ALGORITHMS: Final = {
    "checked_tables": "keys",
    "configuration_page": "options",
    "dynamodb_locks": "concurrency",
    "engine_here": "concurrency",
    "tagging_tables": "keys",
    "test_clustering_layout": "services",
    "test_compaction_choice": "services",
    "test_evolution_schema": "schema",
    "test_evolution_types": "schema",
    "test_files_changes": "files",
    "test_files_logs": "files merge",
    "test_files_statistics": "files",
    "test_filter_grammar": "filters",
    "test_filter_sql": "filters",
    "test_filters": "filters",
    "test_incoming_records": "merge",
    "test_indexing_entries": "metadata",
    "test_instants": "table_state",
    "test_keying": "keys merge pruning schema",
    "test_keying_vectors": "keys",
    "test_locks": "concurrency",
    "test_locks_dynamodb": "concurrency",
    "test_log_blocks": "merge table_state",
    "test_log_scan": "table_state",
    "test_log_winners": "merge table_state",
    "test_merge_completing": "merge table_state",
    "test_merge_modes": "merge",
    "test_merge_ordering": "merge table_state",
    "test_merge_positions": "merge table_state",
    "test_mergers": "merge",
    "test_merging": "merge table_state",
    "test_metadata_table": "table_state",
    "test_options": "options",
    "test_options_catalogue": "options pruning",
    "test_pending_plans": "table_state",
    "test_processes": "concurrency",
    "test_promotions": "schema",
    "test_pruning": "filters pruning",
    "test_pruning_functions": "filters spark",
    "test_pruning_indexes": "filters pruning schema table_state",
    "test_pruning_partitions": "pruning table_state",
    "test_schema_scans": "spark",
    "test_schema_values": "schema",
    "test_slicing_groups": "table_state",
    "test_spark": "spark",
    "test_tagging": "keys",
    "test_tagging_buckets": "keys",
    "test_tagging_hashes": "keys",
    "test_timeline": "table_state",
    "test_upgrade_steps": "services write",
}


def internals(path: Path) -> set[str]:
    """The packages of the engine that a file imports beside the public names."""
    modules = {
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {name.split(".")[1] for name in modules if name.startswith("hudi_spark.") and name not in PUBLIC}


def test_only_tests_of_algorithms_look_into_the_engine() -> None:
    found = {path.stem: internals(path) for path in sorted(TESTS.rglob("*.py"))}

    assert {name: packages for name, packages in found.items() if packages} == {
        name: set(packages.split()) for name, packages in ALGORITHMS.items()
    }


def test_no_module_of_the_engine_imports_more_than_twelve_others() -> None:
    """A package counts as one; what hands on the names of a package is no module of its own."""
    engine = TESTS.parent / "engine" / "hudi_spark"
    found = {
        str(path.relative_to(engine)): {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hudi_spark")
        }
        for path in engine.rglob("*.py")
        if path.name != "__init__.py"
    }

    assert {name: sorted(modules) for name, modules in found.items() if len(modules) > 12} == {}
