"""What other repositories take from this one: the action, the hooks and the image do what their files say."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hudi_conformance.cli import whole_app
from hudi_format.compat import tomllib
from typer.main import get_command

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
RUN_CASES = "Ask every case"
EXPRESSION = re.compile(r"\$\{\{\s*inputs\.([\w-]+)\s*\}\}")


def run_step(name: str, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """A step of the action as GitHub runs it: bash, its own variables, inputs that are given or have their default."""
    step = STEPS[name]
    inputs = {one: str(entry.get("default", "")) for one, entry in ACTION["inputs"].items()}
    inputs |= {one.replace("_", "-"): value for one, value in given.items() if one.islower()}
    own = {key: EXPRESSION.sub(lambda found: inputs[found[1]], value) for key, value in step["env"].items()}
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
        "GITHUB_ACTION_PATH": str(ROOT),
        **{one: value for one, value in given.items() if one.isupper()},
        **own,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_action_is_composite_and_its_inputs_reach_its_steps() -> None:
    """No text of an input is a part of a command: it comes as a variable."""
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" and "${{" not in step["run"] for step in STEPS.values() if "run" in step)
    used = set(EXPRESSION.findall(json.dumps(ACTION["runs"]))) | set(
        re.findall(r"inputs\.([\w-]+)", str(ACTION["runs"]))
    )
    assert used == ACTION["inputs"].keys()
    assert all(entry["description"] for entry in ACTION["inputs"].values())


@pytest.mark.parametrize(
    ("given", "installed"),
    [
        ({}, f"file://{ROOT}"),
        ({"HUDI_CONFORMANCE": "git+file:///there"}, "git+file:///there"),
        ({"HUDI_CONFORMANCE": "git+file:///there", "package": "file:///here"}, "file:///here"),
    ],
)
def test_the_action_installs_what_is_given(tmp_path: Path, given: dict[str, str], installed: str) -> None:
    (tmp_path / "bin").mkdir()
    pip = tmp_path / "bin/python"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > installed\n', encoding="utf-8")
    pip.chmod(pip.stat().st_mode | stat.S_IXUSR)
    done = run_step("Install the suite", tmp_path, **{"HUDI_CONFORMANCE": "", **given})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "installed").read_text(encoding="utf-8").split("\n")[-2] == f"hudi-conformance @ {installed}"


def test_the_action_runs_the_cases_and_keeps_their_results(tmp_path: Path) -> None:
    """The second run says what changed since the first, from the folder that it writes to itself."""
    given = {
        "adapter": "model-in-process",
        "cases": "v9/mor_event_time_late_data::snapshot\nv9/cow_*::timeline\n",
        "areas": "merging\ntimeline",
        "require": "timeline",
        "minimum": "100",
        "last_run": "build/conformance",
    }
    first, second = (run_step(RUN_CASES, tmp_path, **given) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stdout + first.stderr + second.stderr
    assert "this is the first" in first.stdout
    assert "(+0.0)" in second.stdout
    report = tmp_path / "build/conformance"
    names = {"index.html", "runs.html", "results.jsonl", "junit.xml", "summary.md", "badge.svg", "badge.json"}
    assert names <= {path.name for path in report.iterdir()}
    assert (tmp_path / "output").read_text(encoding="utf-8") == "report=build/conformance\n" * 2
    assert (tmp_path / "step.md").read_text(encoding="utf-8").startswith("No difference in ")


def test_the_action_fails_as_the_run_fails_and_the_summary_says_why(tmp_path: Path) -> None:
    given = {"adapter": "null-empty", "cases": "v9/mor_event_time_late_data::snapshot"}
    assert run_step(RUN_CASES, tmp_path, **given).returncode == 1
    assert (tmp_path / "step.md").read_text(encoding="utf-8").startswith("`fail: ")
    (tmp_path / "step.md").unlink()
    assert run_step(RUN_CASES, tmp_path, **{**given, "cases": "nothing"}).returncode == 2
    assert not (tmp_path / "step.md").exists()


def test_the_action_checks_the_files_of_an_adapter_first(tmp_path: Path) -> None:
    check = "Check the adapter's files"
    adapter = tmp_path / "adapter.toml"
    adapter.write_text('name = "a"\ncommand = ["true"]\nskips = "skips.toml"\n', encoding="utf-8")
    assert "skips.toml, which is not there" in run_step(check, tmp_path).stdout
    (tmp_path / "skips.toml").write_text('[[skip]]\nid = "v9/*"\nreason = "slow"\n', encoding="utf-8")
    assert run_step(check, tmp_path).returncode == 0
    assert run_step(check, tmp_path, adapter="model").returncode == 0


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_runs_a_command_that_there_is(name: str) -> None:
    hook = HOOKS[name]
    known = {"id", "name", "description", "entry", "language", "files", "pass_filenames", "additional_dependencies"}
    assert hook.keys() <= known
    assert hook["language"] == "python"
    program, command = shlex.split(hook["entry"])
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert program in scripts
    commands: dict[str, Any] = get_command(whole_app()).commands  # type: ignore[attr-defined]
    assert command in commands


def test_the_hook_of_adapters_takes_the_files_of_the_suite_and_of_every_new_project(tmp_path: Path) -> None:
    """As the tool calls it: with every file of the repository that fits."""
    fits = re.compile(HOOKS["lint-adapter"]["files"]).search
    new = [str(BIN / "hudi-conformance"), "new-adapter", str(tmp_path / "reader"), "--language", "python"]
    subprocess.run(new, check=True, capture_output=True)
    own = [path for path in (ROOT / "adapters").glob("*.toml") if fits(path.relative_to(ROOT).as_posix())]
    files = [*own, *(path for path in (tmp_path / "reader").rglob("*") if fits(path.name))]
    assert {path.name for path in files} > {
        "adapter.toml",
        "skips.toml",
        "expected-failures.toml",
        "daft.expected.toml",
    }
    command = [str(BIN / "hudi-conformance"), "lint-adapter", *map(str, files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            '[[case]]\nid = "v9/mor_event_time_late_dat::snapshot"\nclause = "TL-004"\nwhy = "x"\nevidence = "y"\n',
            "late_data",
        ),
        (
            '[[case]]\nid = "v9/mor_event_time_late_data::*"\nclause = "MG-03"\nwhy = "x"\nevidence = "y"\n',
            "mean MG-003",
        ),
        ('[[skip]]\nid = "v9/*"\nreason = ""\n', "'reason' is missing"),
        ('name = "a"\n', "'command' is missing"),
        ('name = "a"\ncommand = "b"\nskps = "skips.toml"\n', "there is no key 'skps'; did you mean skips"),
        ("[[case", "Expected"),
    ],
)
def test_a_file_that_a_run_would_refuse_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    """The others of the same call are looked at all the same."""
    files = [tmp_path / "a.toml", tmp_path / "absent.toml"]
    files[0].write_text(text, encoding="utf-8")
    command = [str(BIN / "hudi-conformance"), "lint-adapter", *map(str, files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    found = done.stdout.splitlines()
    assert [one.partition(": ")[0] for one in found] == [str(file) for file in files]
    assert line in found[0]
    assert "No such file" in found[1]


def test_what_checks_tables_installs_the_engine() -> None:
    """`check-table` reads by it; both hooks then share one environment."""
    assert [hook["additional_dependencies"] for hook in HOOKS.values()] == [[".[engine]"]] * len(HOOKS)
    (installed,) = (rest for one, rest in container_steps() if one == "RUN" and "pip install" in rest)
    assert shlex.split(installed)[-1] == "/source[engine]"


def container_steps() -> list[tuple[str, str]]:
    """The instructions of the image, each with its argument; what goes on in the next line is joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    return [
        (one, rest) for one, _, rest in (line.partition(" ") for line in lines if line and not line.startswith("#"))
    ]


def test_the_image_runs_the_command_line_as_no_administrator() -> None:
    steps = container_steps()
    assert {one for one, _ in steps} <= {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    bases = [rest.split()[0] for one, rest in steps if one == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    stages = {rest.split()[2] for one, rest in steps if one == "FROM" and " AS " in rest}
    assert {found for one, rest in steps for found in re.findall(r"--from=(\w+)", rest) if one == "COPY"} == stages
    last = dict(steps)
    assert json.loads(last["ENTRYPOINT"]) == ["hudi-conformance"]
    assert last["USER"] not in {"root", "0"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".venv", ".git", "build"} <= set(ignored)
