"""Whether golden_tables/ is what the recipes make of it."""

import filecmp
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hudi_conformance.corpus.golden.building import build, table_folders
from hudi_conformance.corpus.writing.building import build as build_writing_cases
from hudi_conformance.runner import manifest
from hudi_conformance.runner.archive import ARCHIVE, contents, listed
from hudi_conformance.runner.resources import WRITING_CASES


def check(root: Path) -> list[str]:
    """How the corpus on disk differs from a fresh build, in words; nothing when it does not."""
    with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
        fresh = Path(temporary) / "golden_tables"
        # Tables that Apache Hudi wrote are input: their bytes are copied, their answers are asked anew.
        shutil.copytree(root, fresh)
        build(fresh)
        return [*_folder_differences(root, fresh), *archive_differences(root), *_written_differences(root.parent)]


def _written_differences(root: Path) -> list[str]:
    """How the cases that write differ from what their recipes state."""
    with tempfile.TemporaryDirectory(prefix="writing-cases-") as temporary:
        build_writing_cases(root, Path(temporary))
        return list(_folder_differences(root / WRITING_CASES, Path(temporary)))


def archive_differences(root: Path) -> list[str]:
    """Where the archive of a table differs from the list of its files in table.toml."""
    return [
        f"{folder.relative_to(root).as_posix()}: {difference}"
        for folder in table_folders(root)
        for difference in manifest.differences(listed(folder), contents(folder / ARCHIVE))
    ]


def _folder_differences(root: Path, fresh: Path) -> Iterator[str]:
    ours, theirs = _files(root), _files(fresh)
    yield from (f"no recipe makes {name}" for name in sorted(ours - theirs))
    yield from (f"not on disk: {name}" for name in sorted(theirs - ours))
    for name in sorted(ours & theirs):
        if not filecmp.cmp(root / name, fresh / name, shallow=False):
            yield f"differs from a fresh build: {name}"


def _files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
