"""Each template as somebody gets it: written, built with its language's own tools, put before the suite."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hudi_conformance.adapter_templates.writing import write_adapter
from hudi_conformance.results import read_results

CLI = (sys.executable, "-m", "hudi_conformance.cli")
REQUIRED = "HUDI_CONFORMANCE_REQUIRE_TEMPLATES"


@dataclass(frozen=True)
class Kit:
    """What builds a project and runs its own tests; the tools that takes."""

    tools: tuple[str, ...]
    commands: tuple[Sequence[str], ...]


KITS = {
    "python": Kit((), ((sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),)),
    "rust": Kit(("cargo", "rustc"), (("cargo", "test", "--release", "--quiet"), ("cargo", "build", "--release"))),
    "java": Kit(("mvn", "javac"), (("mvn", "-B", "-q", "package"),)),
}


def run(folder: Path, command: Sequence[str], code: int = 0) -> str:
    """What a command says; it must end as told."""
    # Another Java than the project's tools would choose is no part of the project.
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PYTEST_ADDOPTS": "", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module", params=sorted(KITS))
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was written by the command and built; where its tools are absent, skipped or, in CI, failed."""
    kit = KITS[request.param]
    absent = [tool for tool in kit.tools if shutil.which(tool) is None]
    if absent:
        told = f"{', '.join(absent)} not on PATH"
        assert REQUIRED not in os.environ, told
        pytest.skip(told)
    folder = tmp_path_factory.mktemp("templates") / f"{request.param}-reader"
    run(folder.parent, (*CLI, "new-adapter", folder.name, "--language", str(request.param)))
    for command in kit.commands:
        run(folder, command)
    return folder


@pytest.mark.templates
def test_it_passes_smoke_as_it_is(project: Path):
    """The first thing that its README says works."""
    assert "speaks the protocol" in run(project, (*CLI, "smoke", "--adapter", "adapter.toml"))


@pytest.mark.templates
def test_what_it_answers_is_right_and_it_says_what_it_lacks(project: Path):
    """Timelines of every version agree; nothing is wrong, and nothing is claimed."""
    areas = (f"--area={area}" for area in ("timeline", "history", "properties", "versions"))
    run(project, (*CLI, "run", "--adapter", "adapter.toml", *areas, "--jobs", "2", "--report", "out"))

    results = read_results(project / "out")
    asked = [line for line in results.cases if line["verdict"] != "unsupported"]
    assert {line["verdict"] for line in asked} == {"pass"}
    assert len(asked) > 50
    assert {line["table_version"] for line in asked} == {4, 5, 6, 8, 9}
    assert results.footer["implementations"][project.name]["name"] == project.name


@pytest.mark.templates
def test_the_plugin_needs_no_more_than_its_configuration(project: Path):
    """`pytest --conformance` in the project's folder, one area."""
    told = run(
        project,
        (
            sys.executable,
            "-m",
            "pytest",
            "--conformance",
            "--conformance-area",
            "timeline",
            "-q",
            "-p",
            "no:cacheprovider",
        ),
    )

    assert " passed" in told
    assert "failed" not in told


def test_every_language_is_built(tmp_path: Path):
    """A template that no lane builds would rot."""
    for language in KITS:
        write_adapter(language, tmp_path / language)
    with pytest.raises(FileNotFoundError):
        write_adapter("cobol", tmp_path / "cobol")
