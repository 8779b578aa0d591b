"""Old versions of the history, which stay for readers that have begun with one."""

from hudi_conformance.corpus.golden import corruption
from hudi_conformance.corpus.golden.layout import merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import fleet, rides, second
from hudi_conformance.corpus.golden.usual import check


@golden(
    "v9/bad_history_versions", "A file that an older version of the history names is gone", merge_on_read(9), also=(8,)
)
def lost_version(table: GoldenTable) -> None:
    """Eight writes, archived after each; a file that was merged went before the last version but two did."""
    table.insert(second(1), fleet(10))
    for number in range(2, 9):
        table.upsert(second(number), rides(10 * number, ("r01", "r11")))
        table.archive(2, batch=2)
    table.damage(corruption.remove(f".hoodie/timeline/history/{_named_by_older_versions_alone(table)[-1]}"))
    if table.version > 8:
        table.full_timeline("timeline", "the current version is whole", "HS-002", "history-not-listed")
    check(table, "who began with an older version cannot go on", "HS-011", "violations-never")


def _named_by_older_versions_alone(table: GoldenTable) -> list[str]:
    current, *older = sorted(table.history.manifests, key=lambda one: -one.version)[:3]
    return sorted({name for one in older for name in one.files} - set(current.files))
