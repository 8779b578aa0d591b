"""Adapters: one file `adapters/<name>.toml` with a command line, or the command line itself."""

import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class AdapterConfigError(Exception):
    """No adapter of that name, or its file does not parse (bad usage, exit 2)."""


@dataclass(frozen=True, slots=True)
class AdapterConfig:
    """How an implementation is started, and the file of its expected failures."""

    name: str
    command: tuple[str, ...]
    language: str = "unknown"
    expected_failures: Path | None = None
    given: str = ""


def adapter_names(root: Path) -> tuple[str, ...]:
    """Names of the adapters that have a file."""
    files = (path.name for path in (root / "adapters").glob("*.toml"))
    return tuple(sorted(name.removesuffix(".toml") for name in files if not name.endswith(".expected.toml")))


def find_adapter(text: str, root: Path) -> AdapterConfig:
    """The adapter that a name, the path of a file, or a command line stands for.

    Raises:
        AdapterConfigError: it is none of these.

    """
    for path in (root / "adapters" / f"{text}.toml", Path(text)):
        if path.suffix == ".toml" and path.is_file():
            return _of_file(path, root, text)
    command = _command_line(text)
    if len(command) == 1 and shutil.which(command[0]) is None:
        known = ", ".join(adapter_names(root)) or "none"
        raise AdapterConfigError(f"{text!r} is neither an adapter ({known}) nor a command on PATH")
    return AdapterConfig(_name_of(command), command, given=text)


def _command_line(text: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise AdapterConfigError(f"{text!r} is no command line: {error}") from error
    if not command:
        raise AdapterConfigError("an adapter is a name or a command line, not an empty text")
    return command


def _name_of(command: tuple[str, ...]) -> str:
    """The program's name; that of the script or module where an interpreter runs one."""
    words = [Path(word).name for word in command if not word.startswith("-")]
    interpreted = words[0].startswith("python") and len(words) > 1
    return re.sub(r"[^\w.-]", "_", words[1].removesuffix(".py") if interpreted else words[0])


def _of_file(path: Path, root: Path, given: str) -> AdapterConfig:
    try:
        entry = tomllib.loads(path.read_text(encoding="utf-8"))
        return AdapterConfig(
            name=str(entry["name"]),
            command=tuple(str(word).replace("{python}", sys.executable) for word in entry["command"]),
            language=str(entry.get("language", "unknown")),
            expected_failures=_expected_failures(entry, path, root),
            given=given,
        )
    except KeyError as error:
        raise AdapterConfigError(f"{path.name}: {error.args[0]!r} is missing") from error
    except (ValueError, TypeError) as error:
        raise AdapterConfigError(f"{path.name}: {error}") from error


def _expected_failures(entry: Mapping[str, Any], path: Path, root: Path) -> Path | None:
    named = entry.get("expected_failures")
    if named is None:
        return None
    for base in (root, path.parent):
        if (base / named).is_file():
            return Path(base / named)
    raise AdapterConfigError(f"{path.name}: expected_failures names {named}, which is not there")
