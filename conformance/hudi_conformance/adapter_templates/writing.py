"""A new adapter's project from a template: Python, Rust or Java."""

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable

LANGUAGES = ("java", "python", "rust")
_NAME = "template-adapter"
_SHARED = "shared"
# Names that a wheel or a checkout of this project would take for its own.
_PLACES = {"gitignore": ".gitignore", "workflow.yml": ".github/workflows/conformance.yml"}
_LEFT_OUT = frozenset({"__pycache__", "target", "Cargo.lock"})


class NewAdapterError(ValueError):
    """The project cannot be written: the folder is not empty, or its name is none."""


def write_adapter(language: str, folder: Path, name: str | None = None) -> tuple[Path, ...]:
    """Write a project into a new or empty folder; the files written, below it.

    Raises:
        NewAdapterError: the folder holds something, or the name is not one of letters, digits and dashes.

    """
    called = name or folder.resolve().name.lower().replace("_", "-").replace(" ", "-")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", called):
        raise NewAdapterError(f"{called!r} is no name for an adapter (small letters, digits and dashes): give --name")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NewAdapterError(f"{folder} is not empty")
    written = dict(_files(language))
    for place, text in written.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_renamed(text, called), encoding="utf-8")
    return tuple(Path(place) for place in sorted(written))


def _files(language: str) -> Iterator[tuple[str, str]]:
    root = resources.files("hudi_conformance") / "adapter_templates"
    for part in (_SHARED, language):
        yield from _below(root / part, "")


def _below(folder: "Traversable", above: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.name in _LEFT_OUT:
            continue
        place = above + _PLACES.get(entry.name, entry.name)
        if entry.is_dir():
            yield from _below(entry, f"{place}/")
        else:
            yield place, entry.read_text(encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    return text.replace(_NAME, name).replace(_NAME.replace("-", "_"), name.replace("-", "_"))
