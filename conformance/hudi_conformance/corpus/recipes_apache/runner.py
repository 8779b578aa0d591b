"""`python -m hudi_conformance.corpus.recipes_apache.runner BUNDLE INTO [ID ...]`: write the tables of one bundle.

A table is written below one fixed folder (plans hold absolute paths), loses Hadoop's checksum files, and is packed.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from hudi_format.compat import ExceptionGroup, add_note

from hudi_conformance.apache.bundles import bundle_jar
from hudi_conformance.apache.session import start_session
from hudi_conformance.corpus.golden.building import pack_written
from hudi_conformance.corpus.recipes_apache.catalogue import Golden, Recipe, golden_recipes
from hudi_conformance.corpus.recipes_apache.writer import TableWriter
from hudi_conformance.runner.archive import ARCHIVE

WRITTEN_BELOW = Path("/tmp/hudi-conformance")  # noqa: S108  a neutral path, since it stays in the bytes


def write_tables(bundle: str, into: Path, chosen: tuple[str, ...] = ()) -> list[str]:
    """Write the tables of one bundle that `into` does not have yet; answers their ids."""
    wanted = [one for one in golden_recipes() if one[0].bundle == bundle and _is_wanted(one[0], into, chosen)]
    if not wanted:
        return []
    failures: list[Exception] = []
    with tempfile.TemporaryDirectory() as scratch:
        session = start_session(bundle_jar(bundle), Path(scratch))
        for each, golden in wanted:
            try:
                write_table(session, each, golden, into / each.id)
            except Exception as failure:  # noqa: BLE001  the other tables are written all the same
                add_note(failure, f"recipe {each.id} with bundle {bundle}")
                failures.append(failure)
        session.stop()
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(wanted)} recipes failed", failures)
    return [each.id for each, _ in wanted]


def write_table(session: object, made: Recipe, golden: Golden, target: Path) -> None:
    """Run one recipe and keep its table below `target`."""
    place = WRITTEN_BELOW / made.id.replace("/", "_")
    shutil.rmtree(place, ignore_errors=True)
    made.steps(TableWriter(session, place, made.type, made.version, made.bundle))
    remove_side_files(place)
    pack_written(target, place, table_toml(made, golden))
    shutil.rmtree(place)


def remove_side_files(table: Path) -> None:
    """Delete Hadoop's `.name.crc` files; they are no part of the format."""
    for path in table.rglob(".*.crc"):
        path.unlink()


def table_toml(made: Recipe, golden: Golden) -> str:
    """What is known of the table before anyone asked it anything; clauses are added with its cases."""
    features = ", ".join(f'"{each}"' for each in made.features)
    lines = [
        f'id = "{made.id}"',
        f'title = "{golden.title}"',
        f"table_version = {made.version}",
        f'table_type = "{made.type}"',
        f'written_by = "Apache Hudi {made.bundle}"',
        f'recipe = "{made.reference}"',
        f"features = [{features}]",
        "clauses = []",
        f'how = "{made.how}"',
    ]
    return "\n".join(lines) + "\n"


def _is_wanted(made: Recipe, into: Path, chosen: tuple[str, ...]) -> bool:
    return not (into / made.id / ARCHIVE).exists() and (not chosen or made.id in chosen)


if __name__ == "__main__":
    for written in write_tables(sys.argv[1], Path(sys.argv[2]), tuple(sys.argv[3:])):
        print(written)  # noqa: T201  the command's answer
