"""The command `new-adapter`."""

from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.adapter_templates.writing import LANGUAGES, NewAdapterError, write_adapter
from hudi_conformance.runner.identifiers import nearest_words


def new_adapter(
    folder: Annotated[Path, typer.Argument(help="A folder that is new or empty.")],
    language: Annotated[str, typer.Option(help="python, rust or java.", show_default=False)] = "",
    name: Annotated[str | None, typer.Option(help="The adapter's name; by default that of the folder.")] = None,
) -> None:
    """Write a project to begin an adapter with: it passes `smoke` as it is."""
    try:
        if not language:
            raise NewAdapterError(f"say which language it is in: --language {', '.join(LANGUAGES)}")  # noqa: TRY301
        if language not in LANGUAGES:
            raise NewAdapterError(f"{language!r} is none of {', '.join(LANGUAGES)}{nearest_words(language, LANGUAGES)}")  # noqa: TRY301 - reported below
        files = write_adapter(language, folder, name)
    except NewAdapterError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    for file in files:
        typer.echo(str(folder / file))
    typer.echo(f"next: read {folder / 'README.md'}")
