"""runs.toml: what TLC is to run, and what each run must find."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT_LIMIT_S = 60.0


class ManifestError(ValueError):
    """runs.toml is not of the agreed form."""


@dataclass(frozen=True, slots=True)
class Run:
    """One model-checking run: a configuration, changed in places; `violates` is None when it must pass."""

    name: str
    module: str
    config: str
    violates: str | None
    constants: tuple[tuple[str, str], ...] = ()
    without: str | None = None
    check: tuple[str, ...] = ()
    limit_s: float = DEFAULT_LIMIT_S


def load_runs(path: Path) -> tuple[Run, ...]:
    """Read the manifest.

    Raises:
        ManifestError: the file does not parse, a run lacks a key or has an unknown one, or there is no run.

    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("run", [])
        runs = tuple(_run(table) for table in tables)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"{path.name} cannot be read: {error}") from error
    if not runs:
        raise ManifestError(f"{path.name} holds no run: nothing would be checked")
    return runs


def _run(table: dict[str, Any]) -> Run:
    unknown = set(table) - {"name", "module", "config", "expect", "constants", "without", "check", "limit_s"}
    missing = {"name", "module", "config", "expect"} - set(table)
    if unknown or missing:
        raise ManifestError(f"run {table.get('name')!r}: unknown keys {sorted(unknown)}, missing {sorted(missing)}")
    return Run(
        name=table["name"],
        module=table["module"],
        config=table["config"],
        violates=_expected(table),
        constants=tuple(sorted(table.get("constants", {}).items())),
        without=table.get("without"),
        check=tuple(table.get("check", ())),
        limit_s=float(table.get("limit_s", DEFAULT_LIMIT_S)),
    )


def _expected(table: dict[str, Any]) -> str | None:
    match table["expect"]:
        case "pass":
            return None
        case {"violates": str(name)}:
            return name
        case other:
            raise ManifestError(f'run {table["name"]!r}: expect is "pass" or {{ violates = "..." }}, not {other!r}')
