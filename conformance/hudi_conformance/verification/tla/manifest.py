"""specs/tla/runs/<Module>.toml: what TLC and Apalache are to find in a module, and where it agrees with the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_format.compat import tomllib

DEFAULT_LIMIT_S = 60.0
RUN = frozenset({"name", "expect", "config", "constants", "without", "check", "soak", "limit_s"})
BOUNDED = RUN | {"init", "next", "depth"}
TABLES = frozenset({"run", "agreement", "apalache", "tlc_only"})
AGREEMENT = frozenset(
    {
        "name",
        "scenario",
        "config",
        "constants",
        "without",
        "processes",
        "crashes",
        "mutant",
        "violates",
        "law",
        "soak",
        "limit_s",
    }
)


class ManifestError(ValueError):
    """A file of runs is not of the agreed form."""


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
    soak: bool = False
    """Whether it is for `make soak` alone: larger constants."""
    limit_s: float = DEFAULT_LIMIT_S


@dataclass(frozen=True, slots=True)
class Agreement:
    """A run whose states and steps are those of a scenario of the model.

    `processes` are those of the scenario that take part, all where there are none; `crashes` how many of them may die;
    `mutant` breaks the rule in the model that the run leaves out. Where `law` is named, it and the run's invariant are
    broken, each by a shortest way of the same length.
    """

    run: Run
    scenario: str
    processes: tuple[str, ...] = ()
    crashes: int = 0
    mutant: str | None = None
    law: str | None = None


@dataclass(frozen=True, slots=True)
class BoundedCheck:
    """What Apalache checks: the invariants of a run in every behaviour of so many steps that begins in `init`."""

    run: Run
    depth: int
    init: str = "Init"
    next: str = "Next"


@dataclass(frozen=True, slots=True)
class Manifest:
    """All runs, agreements and checks of a folder, by module."""

    runs: tuple[Run, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    bounded: tuple[BoundedCheck, ...] = ()
    tlc_only: Mapping[str, str] = field(default_factory=dict)
    """Modules that Apalache cannot read, and why."""


def load_manifest(folder: Path) -> Manifest:
    """Read the files of runs beside the modules.

    Raises:
        ManifestError: a file does not parse, a run lacks a key or has an unknown one, or there is no run.

    """
    runs: list[Run] = []
    agreements: list[Agreement] = []
    bounded: list[BoundedCheck] = []
    tlc_only: dict[str, str] = {}
    for path in sorted((folder / "runs").glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ManifestError(f"{path.name} cannot be read: {error}") from error
        if unknown := set(tables) - TABLES:
            raise ManifestError(f"{path.name}: unknown tables {sorted(unknown)}")
        runs += (_run(path.stem, table) for table in tables.get("run", []))
        agreements += (_agreement(path.stem, table) for table in tables.get("agreement", []))
        bounded += (_bounded(path.stem, table) for table in tables.get("apalache", []))
        if "tlc_only" in tables:
            tlc_only[path.stem] = tables["tlc_only"]
    if not runs:
        raise ManifestError(f"{folder.name} holds no run: nothing would be checked")
    return Manifest(tuple(runs), tuple(agreements), tuple(bounded), tlc_only)


def _run(module: str, table: dict[str, Any]) -> Run:
    _refuse_keys(table, RUN, {"name", "expect"})
    return _made(module, table, _expected(table))


def _agreement(module: str, table: dict[str, Any]) -> Agreement:
    _refuse_keys(table, AGREEMENT, {"name", "scenario"})
    if ("law" in table) != ("violates" in table):
        raise ManifestError(f"agreement {table['name']!r}: law and violates come together")
    violates = table.get("violates")
    return Agreement(
        # Without the rule other invariants may be broken too, and sooner.
        run=_made(module, {**table, "check": [violates] if violates else []}, violates),
        scenario=table["scenario"],
        processes=tuple(table.get("processes", ())),
        crashes=table.get("crashes", 0),
        mutant=table.get("mutant"),
        law=table.get("law"),
    )


def _bounded(module: str, table: dict[str, Any]) -> BoundedCheck:
    _refuse_keys(table, BOUNDED, {"name", "expect", "depth"})
    run = _made(module, table, _expected(table))
    return BoundedCheck(run, int(table["depth"]), table.get("init", "Init"), table.get("next", "Next"))


def _made(module: str, table: dict[str, Any], violates: str | None) -> Run:
    return Run(
        name=table["name"],
        module=module,
        config=table.get("config", f"MC{module}.cfg"),
        violates=violates,
        constants=tuple(sorted(table.get("constants", {}).items())),
        without=table.get("without"),
        check=tuple(table.get("check", ())),
        soak=bool(table.get("soak", False)),
        limit_s=float(table.get("limit_s", DEFAULT_LIMIT_S)),
    )


def _refuse_keys(table: dict[str, Any], known: frozenset[str], needed: set[str]) -> None:
    unknown, missing = set(table) - known, needed - set(table)
    if unknown or missing:
        raise ManifestError(f"run {table.get('name')!r}: unknown keys {sorted(unknown)}, missing {sorted(missing)}")


def _expected(table: dict[str, Any]) -> str | None:
    match table["expect"]:
        case "pass":
            return None
        case {"violates": str(name)}:
            return name
        case other:
            raise ManifestError(f'run {table["name"]!r}: expect is "pass" or {{ violates = "..." }}, not {other!r}')
