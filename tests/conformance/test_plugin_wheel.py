"""The suite from an installed wheel, in a foreign folder: what a user in another repository has."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hudi_conformance.runner.cases import load_cases
from hudi_conformance.runner.resources import CACHE_VARIABLE, CORPUS_VARIABLE

PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "--conformance")
ROOT = Path(__file__).resolve().parents[2]


def _python(arguments: list[str], folder: Path, exits: int = 0, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != CORPUS_VARIABLE}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**inherited, "COLUMNS": "200", "PYTEST_ADDOPTS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    _python(["-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)], folder)
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    _python([*pip, "--target", str(target), str(wheel)], folder)
    return target


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """An empty folder of somebody else."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_every_case_runs_from_the_wheel(installed: Path, foreign: Path, tmp_path: Path):
    """All tables are in the archive: an adapter that lacks everything is asked every case."""
    environment = {"PYTHONPATH": str(installed), CACHE_VARIABLE: str(tmp_path / "cache")}
    where = _python(["-c", "import hudi_conformance; print(hudi_conformance.__file__)"], foreign, **environment)
    assert where.startswith(str(installed))

    printed = _python(
        [*PYTEST, "--adapter", "null-unsupported"],
        foreign,
        # It judges nothing, which is no green run.
        exits=pytest.ExitCode.USAGE_ERROR,
        **environment,
    )

    skipped = re.search(r"(\d+) skipped", printed)
    assert skipped is not None
    assert int(skipped[1]) == len(load_cases(ROOT)) > 0


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_answers_and_tables_of_the_wheel_are_whole(installed: Path, foreign: Path, tmp_path: Path):
    """The model, from the wheel, passes the cases of one version: hidden files and empty folders are there."""
    printed = _python(
        [*PYTEST, "--adapter", "model", "--conformance-case", "v8/*"],
        foreign,
        PYTHONPATH=str(installed),
        **{CACHE_VARIABLE: str(tmp_path / "cache")},
    )

    assert re.search(r"^\d+ passed in", printed, re.MULTILINE), printed


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_a_new_adapter_begins_with_the_wheel_alone(installed: Path, foreign: Path, tmp_path: Path):
    """Templates are in the wheel, hidden files too; two lines of configuration ask one area."""
    environment = {"PYTHONPATH": str(installed), CACHE_VARIABLE: str(tmp_path / "cache")}
    cli = ("-m", "hudi_conformance.cli")

    for language in ("java", "python", "rust"):
        _python([*cli, "new-adapter", f"{language}-reader", "--language", language], foreign, **environment)
        assert (foreign / f"{language}-reader" / ".github" / "workflows" / "conformance.yml").is_file()
    project = foreign / "python-reader"
    greeted = _python([*cli, "smoke", "--adapter", "adapter.toml"], project, **environment)
    output = _python([*PYTEST, "--conformance-area", "history"], project, **environment)

    assert "python-reader speaks the protocol" in greeted
    assert re.search(r"^[1-9]\d* passed, \d+ skipped in", output, re.MULTILINE), output


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_a_clause_is_explained_from_the_wheel(installed: Path, foreign: Path, tmp_path: Path):
    """Whoever fails a case has no checkout to look into: the wheel shows the same."""
    environment = {"PYTHONPATH": str(installed), CACHE_VARIABLE: str(tmp_path / "cache")}
    arguments = ["-m", "hudi_conformance.cli", "clause", "tl14", "MG-003"]

    shown = _python(arguments, foreign, **environment)

    assert shown == _python(arguments, ROOT)
    assert "hudi_format.timeline.commit_metadata.content_kind" in shown


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_corpus_is_collected_in_little_time(installed: Path, foreign: Path, tmp_path: Path):
    """Three seconds on an idle machine; processor time is what a busy one can be held to."""
    environment = {"PYTHONPATH": str(installed), CACHE_VARIABLE: str(tmp_path / "cache")}
    arguments = [*PYTEST, "--adapter", "model", "--collect-only"]
    _python(arguments, foreign, **environment)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = _python(arguments, foreign, **environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert f"{len(load_cases(ROOT))} tests collected" in printed
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 6
