"""The two sides of a comparison: the working tree, and a revision unpacked beside it."""

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("model", "format", "conformance")
_REMEDY = "run it inside a clone of the repository of hudi-conformance, which holds the base and your change"


class ImpactError(RuntimeError):
    """The two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Side:
    """A checkout that can be asked: its name, and where it lies."""

    name: str
    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Python finds this side's packages before any installed ones."""
        path = os.pathsep.join(str(self.root / room) for room in (*ROOMS, "adapter", "engine"))
        # Sets are walked in one order on both sides.
        return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def working_tree(start: Path) -> Side:
    """The checkout that a folder lies in.

    Raises:
        ImpactError: it lies in none, or in that of another project; or there is no git.

    """
    root = Path(git(start, "rev-parse", "--show-toplevel", hint=f"; {_REMEDY}").strip())
    missing = [room for room in ROOMS if not (root / room).is_dir()]
    if missing:
        raise ImpactError(f"{root} is no checkout of this project: it has no folder {missing[0]}; {_REMEDY}")
    return Side("working tree", root)


@contextmanager
def unpacked(tree: Side, revision: str) -> Iterator[Side]:
    """A revision of the working tree's repository in a folder of its own, which is gone afterwards.

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
    with tempfile.TemporaryDirectory(prefix="hudi-impact-") as place:
        archive = Path(place) / "base.tar"
        git(tree.root, "archive", "--format=tar", f"--output={archive}", commit.strip())
        with tarfile.open(archive) as bundle:
            bundle.extractall(Path(place) / "base", filter="data")
        archive.unlink()
        missing = [room for room in ROOMS if not (Path(place) / "base" / room).is_dir()]
        if missing:
            raise ImpactError(f"{name} cannot be compared: it has no folder {missing[0]}")
        yield Side(name, Path(place) / "base")


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
