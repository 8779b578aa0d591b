"""The README's examples run as written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(python|console)\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
PYTHON = [code for kind, code in BLOCKS if kind == "python"]
COMMANDS = [[line[2:] for line in code.splitlines()] for kind, code in BLOCKS if kind == "console"]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]])}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [str(scripts / command[0]), *command[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_the_readme_has_an_example_for_each_user() -> None:
    assert len(PYTHON) >= 3
    assert {command.split()[0] for block in COMMANDS for command in block} == {"pytest", "hudi-conformance"}


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_a_python_example_runs_and_prints(code: str) -> None:
    done = run(["python", "-c", code])

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("commands", COMMANDS, ids=[block[0] for block in COMMANDS])
def test_the_commands_of_a_block_succeed_in_their_order(commands: list[str]) -> None:
    for command in commands:
        done = run(shlex.split(command))

        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout.strip(), command
