"""The drawings of the documentation, of golden tables and of the model; `make pictures` writes them."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from hudi_model.tables import Table
from hudi_model_tools.store import Store

from hudi_conformance.bridge import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.report.file_layout import files_read, layout_of
from hudi_conformance.report.slices_drawing import slices_svg
from hudi_conformance.runner.archive import golden_table
from hudi_conformance.verification.counterexamples.picture import behaviour_svg
from hudi_conformance.verification.counterexamples.sources import of_moves
from hudi_conformance.verification.lint.checkout import find_root
from hudi_conformance.verification.properties.scenarios import SCENARIOS
from hudi_conformance.verification.proving import broken

FOLDER = Path("docs") / "pictures" / "concepts"


def timeline(table: str, title: str, *, history: bool = False) -> str:
    """The timeline of a golden table, with archived actions where they are wanted."""
    return timeline_svg(evaluate(_table(table), "list_timeline", {"include_history": history}).content, title)


def slices(table: str, title: str, op: str = "read_snapshot") -> str:
    """The file slices of a golden table; what a query reads is filled."""
    held = _table(table)
    return slices_svg(layout_of(held), files_read(held, op, {}), title)


def metadata_slices(table: str, title: str) -> str:
    """The file slices of a golden table's metadata table."""
    return slices_svg(layout_of(load(golden_table(table) / ".hoodie" / "metadata")), frozenset(), title)


def broken_interleaving(scenario: str, mutant: str) -> str:
    """The shortest interleaving of a scenario that breaks a law, with one rule of the model broken."""
    explored = SCENARIOS[scenario]
    with broken(mutant):
        found = explored.search()
    if found.broken is None:
        raise ValueError(f"no interleaving of {scenario} breaks a law under {mutant}")
    return behaviour_svg(of_moves(found.broken, f"scenario {scenario}", explored.start(Store()), found.steps))


def _table(name: str) -> Table:
    return load(golden_table(name))


PICTURES: Mapping[str, Callable[[], str]] = {
    "timeline": partial(timeline, "v9/apache_mor_overlapping_writers", "Four writes, the second of them slow"),
    "timeline-states": partial(timeline, "v9/apache_mor_clustered", "Writes, a clustering, a planned clustering"),
    "file-slices": partial(slices, "v9/apache_mor_compacted", "File slices before and after a compaction"),
    "file-slices-optimized": partial(
        slices, "v9/apache_mor_compacted", "What a read-optimized query reads", "read_optimized"
    ),
    "merge-modes": partial(slices, "v9/mor_event_time_late_data", "The file slices that the rows are merged from"),
    "failed-write": partial(timeline, "v9/mor_rolled_back", "A failed write and its rollback"),
    "overlapping-slices": partial(slices, "v9/apache_mor_overlapping_writers", "Log files of two writers at once"),
    "completion-time-before-lock": partial(broken_interleaving, "travel", "completion-time-before-lock"),
    "compaction": partial(timeline, "v9/apache_mor_compacted", "A compaction among writes, and a planned one"),
    "clustering": partial(slices, "v9/apache_mor_clustered", "File groups that a clustering replaced"),
    "cleaning": partial(slices, "v9/cow_cleaned", "File slices that a clean left"),
    "metadata-table": partial(
        metadata_slices, "v9/apache_mor_indexes_serviced", "The metadata table: one partition for each index"
    ),
    "archival-active": partial(timeline, "v9/mor_archived", "The active timeline after archival"),
    "archival-history": partial(timeline, "v9/mor_archived", "The same timeline with its history", history=True),
}


def write_pictures(root: Path) -> Path:
    """Write every drawing below docs/pictures/concepts of a checkout."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8")
    return folder


if __name__ == "__main__":
    sys.stdout.write(f"{len(PICTURES)} drawings in {write_pictures(find_root(Path.cwd()))}\n")
