"""The two sides of a comparison: the working tree, and a revision unpacked beside it."""

import hashlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.runner.resources import CORPUS_VARIABLE

WORKING_TREE = "working tree"
ROOMS = ("model", "format", "conformance")
SOURCES = (*ROOMS, "adapter", "engine", "golden_tables", "specs", "pyproject.toml")
"""Everything in a checkout that an answer or an outcome can depend on."""
GENERATED = ("__pycache__/", "*.egg-info/", ".*_cache/", ".hypothesis/")
_REMEDY = "run it inside a clone of the repository of hudi-conformance, which holds the base and your change"


class ImpactError(RuntimeError):
    """The two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Side:
    """A checkout that can be asked: its name, where it lies, and the sum of its sources."""

    name: str
    root: Path
    sources: str = ""
    """Sides of the same sum give the same answers; empty where nothing may be concluded from it."""
    others: str = ""
    """The sum of the sources without the model's modules."""

    @property
    def is_working_tree(self) -> bool:
        """Whether somebody may edit it meanwhile."""
        return self.name == WORKING_TREE

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Python finds this side's packages before any installed ones."""
        path = os.pathsep.join(str(self.root / room) for room in (*ROOMS, "adapter", "engine"))
        # Sets are walked in one order on both sides; compiled modules are left in a folder that is gone afterwards.
        kept = "1" if self.is_working_tree else ""
        return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": kept}


def working_tree(start: Path, *, fresh: bool = False) -> Side:
    """The checkout that a folder lies in; without the sum of its sources where everything is to be asked afresh.

    Raises:
        ImpactError: it lies in none, or in that of another project; or there is no git.

    """
    root = Path(git(start, "rev-parse", "--show-toplevel", hint=f"; {_REMEDY}").strip())
    missing = [room for room in ROOMS if not (root / room).is_dir()]
    if missing:
        raise ImpactError(f"{root} is no checkout of this project: it has no folder {missing[0]}; {_REMEDY}")
    # A corpus from elsewhere is no part of the sum.
    return Side(WORKING_TREE, root, *(("", "") if fresh or CORPUS_VARIABLE in os.environ else sources_of(root)))


def sources_of(root: Path, commit: str = "") -> tuple[str, str]:
    """The sum of the sources of a checkout as its files are, or as a commit holds them; that without the model's."""
    if commit:
        listed = (one.partition("\t") for one in git(root, "ls-tree", "-r", "-z", commit, "--", *SOURCES).split("\0"))
        found = {path: head.split()[2] for head, _, path in listed if path}
    else:
        excluded = (f"--exclude={one}" for one in GENERATED)
        listing = git(root, "ls-files", "-z", "--cached", "--others", *excluded, "--", *SOURCES)
        paths = {name: root / name for name in listing.split("\0") if name}
        found = {name: _blob_id(path) for name, path in paths.items() if path.exists() or path.is_symlink()}
    others = {path: one for path, one in found.items() if not (path.startswith("model/") and path.endswith(".py"))}
    return _sum_of(found), _sum_of(others)


def _sum_of(files: Mapping[str, str]) -> str:
    return hashlib.sha256("\n".join(f"{one} {path}" for path, one in sorted(files.items())).encode()).hexdigest()


def _blob_id(path: Path) -> str:
    """The name that git gives to a file's bytes; a folder, which is a repository of its own, equals nothing."""
    if path.is_dir() and not path.is_symlink():
        return "folder"
    content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@contextmanager
def unpacked(tree: Side, revision: str) -> Iterator[Side]:
    """A revision of the working tree's repository in a folder of its own, which is gone afterwards.

    One whose sources are those of the working tree byte for byte is not unpacked: the tree stands for it.
    It is unpacked, not checked out: the repository does not learn of it, however this ends.

    Raises:
        ImpactError: there is no such revision, or it holds no model.

    """
    if revision.startswith("-"):
        raise ImpactError(f"there is no revision {revision}")
    commit = git(
        tree.root,
        "rev-parse",
        "--verify",
        "--quiet",
        f"{revision}^{{commit}}",
        wrong=f"there is no revision {revision}",
    )
    name = f"{revision} ({commit.strip()[:10]})"
    sources, others = sources_of(tree.root, commit.strip()) if tree.sources else ("", "")
    if sources and sources == tree.sources:
        yield Side(name, tree.root, sources, others)
        return
    with tempfile.TemporaryDirectory(prefix="hudi-impact-") as place:
        archive = Path(place) / "base.tar"
        git(tree.root, "archive", "--format=tar", f"--output={archive}", commit.strip())
        with tarfile.open(archive) as bundle:
            bundle.extractall(Path(place) / "base", filter="data")
        archive.unlink()
        missing = [room for room in ROOMS if not (Path(place) / "base" / room).is_dir()]
        if missing:
            raise ImpactError(f"{name} cannot be compared: it has no folder {missing[0]}")
        yield Side(name, Path(place) / "base", sources, others)


def git(folder: Path, *arguments: str, wrong: str = "", hint: str = "") -> str:
    """What git answers.

    Raises:
        ImpactError: it refuses, in its own first words and the hint, or in the words given; or it is not installed.

    """
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - git is found on PATH wherever it is
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ImpactError("git is not installed: a revision cannot be read without it") from error
    if done.returncode:
        first = next(iter(done.stderr.strip().splitlines()), "git refuses")
        raise ImpactError(wrong or first.removeprefix("fatal: ") + hint)
    return done.stdout
