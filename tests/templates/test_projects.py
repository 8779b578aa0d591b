"""Each template as somebody gets it: written, built and asked by the steps of its own workflow file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hudi_conformance.adapter_templates.writing import LANGUAGES, write_adapter
from hudi_conformance.runner.results import read_results

BIN = Path(sys.executable).parent
REQUIRED = "HUDI_CONFORMANCE_REQUIRE_TEMPLATES"
TOOLS = {"python": (), "rust": ("cargo", "rustc"), "java": ("mvn", "javac", "java")}


def run(folder: Path, command: str, **more: str) -> str:
    """What a command prints; it must end well."""
    # Another Java than the project's tools would choose is no part of the project, nor is the worker that runs this.
    left_out = ("JAVA_HOME", "PYTEST_XDIST")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    environment = {
        **inherited,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
        "PYTEST_ADDOPTS": "",
    }
    done = subprocess.run(
        ["/bin/bash", "-e", "-c", command],
        cwd=folder,
        env=environment | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def workflow_steps(folder: Path) -> dict[str, str]:
    """The commands of a project's workflow, by the names of their steps."""
    workflow = yaml.safe_load((folder / ".github/workflows/conformance.yml").read_text(encoding="utf-8"))
    return {step["name"]: step["run"] for step in workflow["jobs"]["conformance"]["steps"] if "run" in step}


# Each language is built once, by whichever worker takes it.
@pytest.fixture(scope="module", params=[pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in sorted(TOOLS)])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, written by the command and built; where its tools are absent, skipped or, in CI, failed."""
    language = str(request.param)
    absent = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
    if absent:
        reason = f"{', '.join(absent)} not on PATH"
        assert REQUIRED not in os.environ, reason
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("templates") / f"{language}-reader"
    run(folder.parent, f"hudi-conformance new-adapter {folder.name} --language {language}")
    for name, command in workflow_steps(folder).items():
        if name.lower().endswith("unit tests"):
            run(folder, command)
    return folder


@pytest.mark.templates
def test_the_steps_of_its_workflow_pass(project: Path):
    """What somebody copies into CI is green on the first day; one area stands for all here."""
    seen = {name: command for name, command in workflow_steps(project).items() if not command.startswith("pip ")}
    command_name = "hudi-conformance run "
    steps = {
        name: run(
            project, command.replace(command_name, f"{command_name}--area history "), GITHUB_STEP_SUMMARY="summary.md"
        )
        for name, command in seen.items()
        if not name.lower().endswith("unit tests")
    }

    assert "speaks the protocol" in steps["Does the adapter speak the protocol?"]
    assert "100.0 % of " in steps["Ask every case"]
    assert (project / "summary.md").read_text(encoding="utf-8").startswith("No difference in ")
    assert {"index.html", "junit.xml", "badge.json"} <= {path.name for path in (project / "conformance").iterdir()}


@pytest.mark.templates
def test_what_it_answers_is_right_and_it_says_what_it_lacks(project: Path):
    """Timelines of every version agree; nothing is wrong, and nothing is claimed."""
    areas = " ".join(f"--area {area}" for area in ("timeline", "history", "properties", "versions"))
    run(project, f"hudi-conformance run --adapter adapter.toml {areas} --jobs 2 --report out")

    results = read_results(project / "out")
    seen = [line for line in results.cases if line["verdict"] not in {"unsupported", "skipped"}]
    assert {line["verdict"] for line in seen} == {"pass"}
    assert all(line["message"].startswith("a draft") for line in results.cases if line["verdict"] == "skipped")
    assert len(seen) > 50
    assert {line["table_version"] for line in seen} == {4, 5, 6, 8, 9}
    assert results.footer["implementations"][project.name]["name"] == project.name


def test_every_language_is_built(tmp_path: Path):
    """A template that no lane builds would rot."""
    assert set(LANGUAGES) == set(TOOLS)
    with pytest.raises(FileNotFoundError):
        write_adapter("cobol", tmp_path / "cobol")
