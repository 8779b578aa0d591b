"""The reference of the command line, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from hudi_conformance.runner.markdown import markdown_table


def commands_page(app: typer.Typer) -> str:
    """Every command of `cli.whole_app()` with its arguments and options, as Markdown."""
    return "\n".join(_group(typer.main.get_command(app), "hudi-conformance", 2))


def _group(group: Any, name: str, level: int) -> Iterator[str]:
    for command in group.commands.values():
        if getattr(command, "commands", None):
            yield f"{'#' * level} {name} {command.name}\n"
            yield f"{_line(command.help)}\n"
            yield from _group(command, f"{name} {command.name}", level + 1)
        else:
            yield from _command(command, f"{name} {command.name}", level)


def _command(command: Any, name: str, level: int) -> Iterator[str]:
    parameters = [one for one in command.params if one.name != "help"]
    arguments = "".join(f" {_argument(one)}" for one in parameters if one.param_type_name == "argument")
    yield f"{'#' * level} {name}\n"
    yield f"{_line(command.help)}\n"
    yield f"```sh\n{name}{arguments}{' [OPTIONS]' if len(parameters) > arguments.count(' ') else ''}\n```\n"
    rows = [(_names(one), _line(getattr(one, "help", ""))) for one in parameters]
    if command.epilog:
        head, *examples = command.epilog.splitlines()
        yield f"{head}\n"
        yield "\n".join(("```sh", *examples, "```\n"))
    if rows:
        yield from markdown_table(("argument or option", "meaning"), rows)
        yield ""


def _called(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _argument(parameter: Any) -> str:
    name = _called(parameter)
    return name if parameter.required else f"[{name}]"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_called(parameter)}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
