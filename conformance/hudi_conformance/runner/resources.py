"""Where the corpus is: the folders of an editable checkout, or the archive in the wheel, unpacked once into a cache."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

CACHE_VARIABLE = "HUDI_CONFORMANCE_CACHE"
CORPUS_VARIABLE = "HUDI_CONFORMANCE_CORPUS"
TABLES = "golden_tables"
WRITING_CASES = "conformance/writing_cases"


class CorpusError(Exception):
    """The corpus is absent, or bytes of it are: no verdict can be given (exit 2)."""


def suite_root() -> Path:
    """The folder that holds golden_tables/, specs/ and adapters/.

    `HUDI_CONFORMANCE_CORPUS` names another one.

    Raises:
        CorpusError: neither a checkout nor the archive of the wheel is there.

    """
    chosen = os.environ.get(CORPUS_VARIABLE)
    if chosen:
        return _existing(Path(chosen))
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / TABLES).is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout
    return unpacked(Path(__file__).resolve().parents[1] / "_data" / "corpus.zip")


def cache_folder() -> Path:
    """The folder for what may be made again: `HUDI_CONFORMANCE_CACHE`, else one below the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hudi-conformance"


def _existing(root: Path) -> Path:
    if not (root / TABLES).is_dir():
        raise CorpusError(f"{root} has no {TABLES} folder")
    return root.resolve()


def unpacked(archive: Path) -> Path:
    """The root in the cache folder that holds what an archive holds; unpacked at the first call."""
    if not archive.is_file():
        raise CorpusError(f"no {TABLES} folder and no {archive.name} in the package: install the wheel again")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    return made_once(cache_folder() / f"corpus-{digest}", lambda aside: _extract(archive, aside))


def _extract(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as bundle:
        bundle.extractall(folder)
    (folder / TABLES).mkdir(exist_ok=True)


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """A folder of the cache, made aside and renamed: processes that make it at once never see half of it."""
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        make(aside)
        aside.rename(target)
    except OSError:
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def commit_of(folder: Path) -> str:
    """The commit that is checked out."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S607
    return done.stdout.strip()


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
