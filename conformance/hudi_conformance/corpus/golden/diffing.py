"""How two tables differ: their timelines, file slices, rows and files, as the model and the bytes say."""

import io
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hudi_format.errors import FormatError
from hudi_model.rejection import Rejection, Unsupported

from hudi_conformance.bridge import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.runner import manifest
from hudi_conformance.runner.archive import ARCHIVE, golden_ids, unpacked
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.resources import TABLES, CorpusError, suite_root
from hudi_conformance.runner.value_comparison import compare_values

_PARTS = (("timeline", "list_timeline"), ("slices", "list_file_slices"), ("rows", "read_snapshot"))


def diff(one: str, other: str) -> dict[str, list[str]]:
    """What differs, in words, by `timeline`, `slices`, `rows` and `files`; parts that are equal are left out.

    Each side is the id of a golden table, a folder, an archive, or `REVISION:ID` for the golden table as git has it.

    Raises:
        CorpusError: a side names no table.

    """
    with table_at(one) as left, table_at(other) as right:
        found = {name: list(_answers(op, left, right)) for name, op in _PARTS}
        found["files"] = manifest.differences(manifest.scan(left, 0), manifest.scan(right, 0))
    return {name: lines for name, lines in found.items() if lines}


@contextmanager
def table_at(name: str) -> Iterator[Path]:
    """The folder of a table while it is looked at.

    Raises:
        CorpusError: the name is neither an id of a golden table, a folder, an archive nor `REVISION:ID`.

    """
    path, golden = Path(name), suite_root() / TABLES / name
    if (golden / ARCHIVE).is_file():
        yield unpacked(golden)
    elif path.is_dir():
        yield path
    else:
        with tempfile.TemporaryDirectory(prefix="golden-diff-") as folder:
            try:
                with zipfile.ZipFile(path if path.is_file() else _of_revision(name)) as archive:
                    archive.extractall(folder)
            except zipfile.BadZipFile as error:
                raise CorpusError(f"{name}: {error}") from error
            yield Path(folder)


def _of_revision(name: str) -> io.BytesIO:
    revision, colon, table_id = name.partition(":")
    if not colon:
        raise CorpusError(
            f"{name} is no golden table, no folder, no archive and no REVISION:ID{nearest_words(name, golden_ids())}"
        )
    command = ["git", "show", f"{revision}:{TABLES}/{table_id}/{ARCHIVE}"]
    done = subprocess.run(command, cwd=suite_root(), capture_output=True, check=False)
    if done.returncode:
        raise CorpusError(f"{name}: {done.stderr.decode(errors='replace').strip()}")
    return io.BytesIO(done.stdout)


def _answers(op: str, left: Path, right: Path) -> Iterator[str]:
    one, other = _answer(op, left), _answer(op, right)
    if isinstance(one, str) or isinstance(other, str):
        if one != other:
            yield f"{one if isinstance(one, str) else 'answered'} | {other if isinstance(other, str) else 'answered'}"
    elif op == "read_snapshot":
        yield from compare_rows(one, other)
    else:
        yield from compare_values(op, one, other)


def _answer(op: str, table: Path) -> Any:
    """The model's answer, or in words why there is none."""
    try:
        return evaluate(load(table), op, {"meta_columns": True} if op == "read_snapshot" else {}).content
    except (Rejection, FormatError, Unsupported) as error:
        return f"refused: {error}"
