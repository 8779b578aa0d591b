"""What is mutated, and what is asked of each mutant."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build" / "mutation"
ENGINE: Final = ROOT / "engine"
SEED: Final = "hudi-conformance"
HISTORY: Final = "history::"
"""What stands before the seed of a drawn history, where it has a name beside those of cases."""
HISTORIES: Final = range(1, 25)
"""The seeds of the histories that mutants are put to."""
LIMIT_S: Final = 180.0
"""After this time a mutant counts as killed: it hangs."""
CORPUS_LIMIT_S: Final = 1800.0
"""The same where every case is asked."""


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """How many of those that reach its statement are put to one mutant at most.

    `cases`: of cases, of which `writing` write; `tests`: of our own tests; `histories`: of drawn histories.
    """

    cases: int
    writing: int
    tests: int
    tests_first: bool = False
    histories: int = 0


SIZES: Final = SampleSizes(24, 8, 20)
SURVIVOR_SIZES: Final = SampleSizes(80, 16, 200, tests_first=True)
CORPUS_SIZES: Final = SampleSizes(70, 30, 0, histories=6)
ALIVE_SIZES: Final = SampleSizes(240, 120, 0, histories=12)
"""No test; what survives one run is asked more in the next."""


@dataclass(frozen=True, slots=True)
class Area:
    """Modules that belong together.

    `areas`: areas of cases that are asked first. `tests`: files of tests/engine that are asked after the cases.
    """

    name: str
    why: str
    modules: tuple[str, ...]
    areas: tuple[str, ...]
    tests: tuple[str, ...]


AREAS: Final = (
    Area(
        "merge",
        "decide which version of a record a query shows: order of the blocks, ordering values, modes, payloads, "
        "partial updates, custom mergers",
        (
            "merge/kernel.py",
            "merge/keys.py",
            "merge/log_records.py",
            "merge/pairwise.py",
            "merge/rules.py",
        ),
        ("merging", "payloads", "mergers", "log-format", "log-compaction"),
        (
            "test_merging.py",
            "test_merge_completing.py",
            "test_merge_modes.py",
            "test_merge_ordering.py",
            "test_merge_positions.py",
            "test_log_winners.py",
            "test_mergers.py",
            "test_operation_field.py",
            "test_incoming_records.py",
            "test_hfile_logs.py",
            "test_log_compaction.py",
            "test_log_scan.py",
        ),
    ),
    Area(
        "slicing",
        "decide which files a query reads together, which of them it sees at all, and which blocks of their logs count",
        ("table_state/slicing.py", "table_state/snapshots.py"),
        ("reading", "storage-layout", "timeline", "incremental", "cdc"),
        (
            "test_slicing.py",
            "test_slicing_groups.py",
            "test_history.py",
            "test_timeline.py",
            "test_vanishing.py",
            "test_incremental.py",
            "test_changes.py",
            "test_following_changes.py",
        ),
    ),
    Area(
        "conflict",
        "decide whether a write may complete beside what others did meanwhile",
        ("write/conflicts.py",),
        ("optimistic-writers", "streaming-writers"),
        (
            "test_conflicts.py",
            "test_conflict_plans.py",
            "test_concurrency.py",
            "test_clustering_conflicts.py",
            "test_streams.py",
        ),
    ),
)
MODULES: Final = tuple(module for area in AREAS for module in area.modules)
_PACKAGES: Final = (
    *("concurrency", "files", "filters", "keys", "merge", "metadata", "pruning", "read", "schema", "services"),
    *("table_state", "write"),
)
_OTHERS: Final = frozenset(
    # Locks of services, Spark's part, and what the adapter does not come by.
    ("concurrency/dynamodb_lock.py", "concurrency/storage_lock.py", "concurrency/zookeeper_lock.py", "filters/sql.py")
)
CORPUS_MODULES: Final = tuple(
    name
    for package in _PACKAGES
    for path in sorted((ENGINE / "hudi_spark" / package).glob("*.py"))
    if (name := f"{package}/{path.name}") not in _OTHERS and path.name != "__init__.py"
)
"""The modules whose mutants the cases are asked about alone."""


def area_of(module: str) -> Area | None:
    """The area of a module, given as its path below the engine's package."""
    return next((area for area in AREAS if module in area.modules), None)


def test_files() -> list[Path]:
    """The test files of all areas that there are."""
    named = (ROOT / "tests" / "engine" / name for area in AREAS for name in area.tests)
    return [path for path in named if path.exists()]
