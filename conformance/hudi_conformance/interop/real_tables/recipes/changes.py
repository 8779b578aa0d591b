"""What happened in a range of time: change feeds in each logging mode, ranges over services, archived timelines."""

from collections.abc import Callable, Sequence

from hudi_conformance.corpus.recipes_apache.catalogue import Question, Steps, recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.writer import RealTable

_LATEST = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9")
_ARCHIVAL = {
    "hoodie.archive.automatic": "true",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.commits.archival.batch": "1",
    "hoodie.timeline.compaction.batch.size": "2",
}
_More = tuple[tuple[str, ...], tuple[Question, ...]]
_FEW = ("0.15.0 v6", "1.1.1 v9")
_UPGRADED = {"hoodie.write.auto.upgrade": "true"}


def _releases(name: str, *, cow: Sequence[str], mor: Sequence[str], more: _More) -> Callable[[Steps], Steps]:
    """Each type by the releases named."""
    features, questions = more

    def register(steps: Steps) -> Steps:
        recipe(name, on=mor, types=("mor",), features=features, questions=questions)(steps)
        return recipe(name, on=cow, types=("cow",), features=features, questions=questions)(steps)

    return register


def _each(op: str, writes: int) -> tuple[Question, ...]:
    """One question for each write but the first, by its own range."""
    name = op.removeprefix("read_")
    return tuple(
        Question(f"{name}_of_{at}", op, {"begin": f"${at - 1}.completed", "end": f"${at}.completed"})
        for at in range(1, writes)
    )


def _feed(table: RealTable, mode: str) -> None:
    """Without the decimal column, which the change query of 1.1.1 does not render."""
    table.schema = "id string, region string, ts bigint, note string, _hoodie_is_deleted boolean"
    logging = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    table.configure({**EVENT_TIME, **logging})


def _rows(*chosen: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [(*row[:4], row[5]) for rows in chosen for row in rows]


def _feed_history(table: RealTable, mode: str) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, one partition overwritten, another dropped."""
    _feed(table, mode)
    table.write(_rows(orders(range(8), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late"), deletes((4,), 150)))
    table.delete(_rows(orders((3,), 300, "delete")))
    table.upsert(_rows(orders((8,), 100, "new"), orders((0, 5), 300, "again")))
    table.write(_rows(orders((1, 9), 400, "overwritten")), "insert_overwrite")
    table.upsert(_rows(orders((1, 6), 500, "after")))


@_releases("changes/feed_key_only", cow=_LATEST, mor=_FEW, more=(("cdc",), _each("read_changes", 6)))
def feed_key_only(table: RealTable) -> None:
    """Operations and keys are logged; both images come from the data files."""
    _feed_history(table, "OP_KEY_ONLY")


@_releases(
    "changes/feed_before",
    cow=("1.0.2 v8", "1.1.1 v9"),
    mor=("0.15.0 v6", "1.2.0 v9"),
    more=(("cdc",), _each("read_changes", 6)),
)
def feed_before(table: RealTable) -> None:
    """Before images are logged; after images come from the data files."""
    _feed_history(table, "DATA_BEFORE")


@_releases(
    "changes/feed_before_after",
    cow=_LATEST,
    mor=_LATEST,
    more=(("cdc",), (*_each("read_changes", 6), *_each("read_incremental", 6))),
)
def feed_before_after(table: RealTable) -> None:
    """Both images are logged."""
    _feed_history(table, "DATA_BEFORE_AFTER")


@_releases(
    "changes/feed_services", cow=_FEW, mor=_LATEST, more=(("cdc", "clustering", "compaction"), _each("read_changes", 5))
)
def feed_services(table: RealTable) -> None:
    """A feed across a compaction (where there are logs), a clustering, an emptied group and a dropped partition."""
    _feed(table, "DATA_BEFORE_AFTER")
    table.write(_rows(orders(range(8), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late")))
    if table.made.type == "MERGE_ON_READ":
        table.schedule_compaction()
        table.compact()
        table.upsert(_rows(orders((0,), 300, "after the compaction"), orders((1,), 150, "late")))
    table.cluster()
    table.upsert(_rows(orders((0, 3), 400, "after the clustering")))
    table.delete(_rows(orders((0, 2, 4, 6), 500, "all of one group")))
    table.write(_rows(orders((1,), 600, "drop")), "delete_partition")


@recipe("changes/feed_cleaned", on=_FEW, types=("cow",), features=("cdc", "clean"))
def feed_cleaned(table: RealTable) -> None:
    """A feed of which a clean removed the older files."""
    _feed(table, "OP_KEY_ONLY")
    table.write(_rows(orders(range(4), 100, "first")), "insert")
    for step in range(4):
        table.upsert(_rows(orders((step, (step + 1) % 4), 200 + step, "update")))
    table.configure({"hoodie.clean.automatic": "true", "hoodie.cleaner.commits.retained": "2"})
    table.configure({"hoodie.clean.commits.retained": "2"})
    table.upsert(_rows(orders((0,), 300, "cleaning")))


@_releases(
    "changes/ranges",
    cow=("0.15.0 v6", "1.1.1 v9", "1.2.0 v9"),
    # No release writes on after these steps where tables are merge-on-read.
    mor=(),
    more=(("incremental", "clustering"), _each("read_incremental", 7)),
)
def ranges(table: RealTable) -> None:
    """Late data, deletes, a failed write, an overwrite, a clustering, a dropped partition."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late"), *deletes((4,), 150)])
    table.delete(orders((3,), 300, "delete"))
    table.fail(orders((0, 5), 900, "never"))
    table.upsert([*orders((8,), 100, "new"), *orders((0,), 150, "late"), *orders((5,), 300, "again")])
    table.write(orders((1, 9), 400, "overwritten"), "insert_overwrite")
    table.cluster()
    table.upsert(orders((0, 1), 500, "after"))
    table.write(orders((1,), 600, "drop"), "delete_partition")


@recipe(
    "changes/ranges_compacted",
    # 1.0.2 does not compact its own deletes.
    on=("0.15.0 v6", "1.1.1 v9", "1.2.0 v9", "1.1.1 v6"),
    features=("incremental", "compaction"),
    questions=_each("read_incremental", 6),
)
def ranges_compacted(table: RealTable) -> None:
    """Log appends, a compaction, more of them, one more compaction that stays pending."""
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late"), *deletes((4,), 150)])
    table.upsert(orders((0, 3), 300, "again"))
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((0, 5), 400, "after"), *orders((1,), 150, "late")])
    table.schedule_compaction()
    table.upsert(orders((1, 5), 500, "behind the plan"))


def _archived(table: RealTable) -> None:
    table.configure({**EVENT_TIME, **_ARCHIVAL})
    table.write(orders(range(8), 100, "first"), "insert")
    for step in range(7):
        table.upsert(orders((step % 4, (step + 2) % 4), 200 + step, f"step {step}"))
    table.write(orders((1, 9), 400, "overwritten"), "insert_overwrite")
    table.upsert(orders((0, 9), 500, "after"))


@_releases(
    "changes/archived",
    cow=(*_LATEST, "1.1.1 v6"),
    mor=(*_LATEST, "1.1.1 v8"),
    more=(("history", "clean", "archival"), ()),
)
def archived(table: RealTable) -> None:
    """Ten writes of which most have left the timeline; groups that no later write touched keep their first files."""
    if table.made.type == "MERGE_ON_READ":
        table.configure({"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"})
    _archived(table)


def _upgraded(table: RealTable) -> None:
    table.configure({**EVENT_TIME, **_ARCHIVAL, **_UPGRADED})
    table.upsert(orders((0, 2), 600, "upgraded"))
    table.upsert(orders((0, 3), 700, "after the upgrade"))


@recipe(
    "changes/upgraded_history",
    on=("1.0.2 v8", "1.1.1 v9"),
    types=("cow",),
    features=("history", "upgrade"),
    begins_with="changes/archived-cow-0.15.0-v6",
)
def upgraded_history(table: RealTable) -> None:
    """An archived log of version 6 that an upgrade brought into the history's files."""
    _upgraded(table)


@recipe(
    "changes/upgraded_history",
    on=("1.0.2 v8", "1.1.1 v9"),
    types=("mor",),
    features=("history", "upgrade"),
    begins_with="changes/archived-mor-0.15.0-v6",
)
def upgraded_logs(table: RealTable) -> None:
    """The same with logs and compactions."""
    _upgraded(table)
