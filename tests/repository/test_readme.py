"""Examples of the README and of pages without a project of their own run as written, and print what is shown."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Command, commands, printed, python_blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README, QUICKSTART = ROOT / "README.md", DOCS / "quickstart.md"
PAGES = [QUICKSTART, *sorted((DOCS / "concepts").glob("*.md"))]
ON_SPARK = DOCS / "tutorials" / "first-spark-table.md"
COMMANDS = [(page, command) for page in (README, QUICKSTART) for command in commands(page)]


def run(line: str) -> subprocess.CompletedProcess[str]:
    """What a command prints on a wide terminal."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]]), "COLUMNS": "120"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = shlex.split(line)
    return subprocess.run(
        [str(scripts / command[0]), *command[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_the_readme_fits_a_screen_and_has_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 90
    assert "    make conformance" in text
    assert "    make test" in text


def test_the_quickstart_has_an_example_for_each_user() -> None:
    named = {command.line.split()[0] for page, command in COMMANDS if page == QUICKSTART}

    assert named == {"pytest", "hudi-conformance"}
    assert len(python_blocks(QUICKSTART)) >= 2


def test_the_commands_print_what_is_shown() -> None:
    """A command without an output below it succeeds and prints something; order matters within a page."""
    for page, command in COMMANDS:
        done = run(command.line)

        if command.shown.strip():
            assert lines(done.stdout) == lines(command.shown), f"{page.name}: {command.line}"
        else:
            assert done.returncode == 0, f"{command.line}\n{done.stdout}{done.stderr}"
            assert done.stdout.strip(), command.line


def test_the_readme_shows_a_failing_case() -> None:
    assert [command for command in commands(README) if command.shown.startswith("FAIL ")] != []


@pytest.mark.parametrize(
    "page",
    [
        *(pytest.param(page, id=page.stem) for page in PAGES),
        pytest.param(ON_SPARK, id=ON_SPARK.stem, marks=pytest.mark.xdist_group("spark")),
    ],
)
def test_python_examples_print_what_the_page_shows(page: Path) -> None:
    """`python tests/repository/pages.py PAGE` writes a page again."""
    blocks = python_blocks(page)
    for block, text in zip(blocks, printed(blocks, ROOT) if blocks else (), strict=True):
        assert block.shown in {None, text}, block.code


def test_a_command_and_its_output_are_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ a b\nout\n$ c\n```\n```sh\n$ not\n```\n", encoding="utf-8")

    assert list(commands(page)) == [Command("a b", "out\n"), Command("c", "")]
