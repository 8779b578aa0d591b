"""What holds for every tracked file."""

import gzip
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = frozenset({".py", ".tla", ".md", ".toml", ".cfg", ".html", ".css", ".js", ".j2", ".sh", ".txt", ".in", ""})

# Written in pieces, so that this file keeps its own rules.
HOSTS = re.compile(
    r"pypi\.|pythonhosted\.|repo1?\.maven\.|maven\.apache\.|registry\.npmjs|ghcr\.|docker\.i[o]|quay\.i[o]|proxy\.golang"
    r"|crates\.i[o]|conda\.anaconda|index-ur[l]|find-link[s]"
)
MACHINE = re.compile(r"/(?:home|Users)/[A-Za-z]|/roo[t]/|/wor[k]/|C:\\\\Users")
UNDONE = re.compile(
    r"\b(?:TOD[O]|FIXM[E]|XX[X])\b|raise NotImplementedErro[r]|pytest\.mark\.ski[p]\b|@unittest\.ski[p]"
)


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)  # noqa: S607
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]


def sources() -> list[Path]:
    tables = ROOT / "golden_tables"
    return [
        path for path in tracked() if path.suffix in SOURCE and tables not in path.parents and path != Path(__file__)
    ]


def test_no_file_names_a_registry():
    """Packages come through pip's own configuration, whatever that is on the machine."""
    assert lines_with(HOSTS, sources()) == []


def test_no_file_names_a_path_of_a_machine():
    assert lines_with(MACHINE, sources()) == []


def test_no_tracked_byte_names_this_checkout():
    """Golden tables that another implementation wrote must not carry the folder they were written in."""
    place = str(ROOT).encode()

    assert [
        path.relative_to(ROOT).as_posix() for path in tracked() if any(place in one for one in bytes_in(path))
    ] == []


def bytes_in(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is inside where it is an archive or compressed."""
    yield path.read_bytes()
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    if path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())


def test_nothing_is_left_undone():
    assert lines_with(UNDONE, [path for path in sources() if path.suffix != ".md"]) == []


def requirements(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_every_locked_package_is_pinned_and_hashed(name: str):
    lines = requirements(name)

    assert lines
    form = re.compile(r"[A-Za-z0-9._-]+(?:\[[a-z0-9,-]+\])?==\S+(?:\s*;[^@]*?)?(?:\s+--hash=sha256:[0-9a-f]{64})+")
    assert [line[:80] for line in lines if not form.fullmatch(line)] == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_the_lock_names_no_address(name: str):
    text = (ROOT / name).read_text(encoding="utf-8")

    assert "://" not in text
    assert not HOSTS.search(text)
