"""Adapters: one file `adapters/<name>.toml` with a command line, or the command line itself."""

import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from hudi_format.compat import tomllib

from hudi_conformance.runner.identifiers import nearest_words


class AdapterConfigError(Exception):
    """No adapter of that name, or its file does not parse (bad usage, exit 2)."""


@dataclass(frozen=True, slots=True)
class AdapterConfig:
    """How an implementation is started (and in which folder), and the files of its expected failures and skips.

    `in_process`: "module:function" of an adapter in Python that is asked without a process of its own.
    """

    name: str
    command: tuple[str, ...]
    language: str = "unknown"
    expected_failures: Path | None = None
    skips: Path | None = None
    given: str = ""
    folder: Path | None = None
    in_process: str = ""


def adapter_names(root: Path) -> tuple[str, ...]:
    """Names of the adapters that have a file."""
    files = (path.name for path in (root / "adapters").glob("*.toml"))
    return tuple(sorted(name.removesuffix(".toml") for name in files if not name.endswith(".expected.toml")))


def find_adapter(text: str, root: Path) -> AdapterConfig:
    """The adapter that a name, the path of a file, or a command line stands for.

    Raises:
        AdapterConfigError: it is none of these.

    """
    own = root / "adapters" / f"{text}.toml"
    if own.is_file():
        return _of_file(own, root, text, folder=None)
    if text.endswith(".toml") and Path(text).is_file():
        # What a project says of its own adapter holds wherever the suite is run.
        return _of_file(Path(text), root, text, folder=Path(text).resolve().parent)
    command = _command_line(text)
    if len(command) == 1 and shutil.which(command[0]) is None:
        known = ", ".join(adapter_names(root)) or "none"
        near = nearest_words(text, adapter_names(root))
        raise AdapterConfigError(f"{text!r} is neither an adapter ({known}) nor a command on PATH{near}")
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


_KEYS: Final = ("name", "command", "language", "expected_failures", "skips", "in_process", "needs", "bundle")


def _of_file(path: Path, root: Path, given: str, folder: Path | None) -> AdapterConfig:
    try:
        entry = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = next((key for key in entry if key not in _KEYS), None)
        if unknown is not None:
            raise AdapterConfigError(f"{path.name}: there is no key {unknown!r}{nearest_words(unknown, _KEYS)}")
        _check_installed(entry)
        return AdapterConfig(
            name=str(entry["name"]),
            command=tuple(word.replace("{python}", sys.executable) for word in _words(entry["command"])),
            language=str(entry.get("language", "unknown")),
            expected_failures=_list_file(entry, "expected_failures", path, root),
            skips=_list_file(entry, "skips", path, root),
            given=given,
            folder=folder,
            in_process=str(entry.get("in_process", "")),
        )
    except KeyError as error:
        raise AdapterConfigError(f"{path.name}: {error.args[0]!r} is missing") from error
    except (ValueError, TypeError) as error:
        raise AdapterConfigError(f"{path.name}: {error}") from error


def _check_installed(entry: Mapping[str, Any]) -> None:
    """`needs` names modules of Python, and the extra of the suite that brings each."""
    for module, extra in entry.get("needs", {}).items():
        if find_spec(module) is None:
            raise AdapterConfigError(f"{entry['name']} needs {module}: install hudi-conformance[{extra}]")


def _words(command: Any) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else [str(word) for word in command]


def _list_file(entry: Mapping[str, Any], key: str, path: Path, root: Path) -> Path | None:
    named = entry.get(key)
    if named is None:
        return None
    for base in (path.parent, root):
        if (base / named).is_file():
            return Path(base / named)
    raise AdapterConfigError(f"{path.name}: {key} names {named}, which is not there")
