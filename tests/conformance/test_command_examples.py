"""Every command shows examples in its help, and each of them is one that the command takes."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from hudi_conformance.cli import whole_app
from hudi_conformance.command_examples import EXAMPLES
from hudi_conformance.pages.site.commands import commands_page
from typer.main import get_command
from typer.testing import CliRunner

APP = whole_app()


def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for command in group.commands.values():
        name = f"{above} {command.name}".strip()
        if getattr(command, "commands", None):
            yield from commands(command, name)
        else:
            yield name, command


COMMANDS: dict[str, Any] = dict(commands(get_command(APP)))


def test_every_command_has_examples_and_no_other() -> None:
    assert COMMANDS.keys() == EXAMPLES.keys()
    assert all(EXAMPLES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_options_of_an_example_are_those_of_the_command(name: str) -> None:
    """Each fits a line of a narrow terminal."""
    for example in EXAMPLES[name]:
        words = shlex.split(example)
        assert words[: len(name.split())] == name.split()
        COMMANDS[name].make_context(name, words[len(name.split()) :])
        assert len(f" hudi-conformance {example} ") <= 96


@pytest.mark.parametrize("name", ["run", "check-table", "golden unpack", "prove"])
def test_help_ends_with_the_examples_a_line_each(name: str) -> None:
    shown = CliRunner().invoke(APP, [*name.split(), "--help"], env={"COLUMNS": "120", "TERM": "dumb"}).output
    lines = [line.strip() for line in shown.splitlines()]
    examples = [f"hudi-conformance {one}" for one in EXAMPLES[name]]
    assert lines[lines.index("Examples:") + 1 :][: len(examples)] == examples


def test_the_reference_of_the_command_line_has_them() -> None:
    page = commands_page(APP)
    assert all(f"hudi-conformance {one}\n" in page for examples in EXAMPLES.values() for one in examples)
