"""TLC configuration files: read as sections, changed for one run, written out again."""

import re
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.verification.tla.manifest import ManifestError, Run

SECTIONS = ("CONSTANTS", "SPECIFICATION", "INVARIANTS", "PROPERTIES")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The sections of a configuration file, in TLC's own words."""

    constants: dict[str, str]
    specification: str
    invariants: tuple[str, ...]
    properties: tuple[str, ...]

    def text(self) -> str:
        """The file that TLC reads."""
        lines = ["CONSTANTS", *(f"  {name} = {value}" for name, value in self.constants.items())]
        lines += ["SPECIFICATION", f"  {self.specification}"]
        lines += ["INVARIANTS", *self.invariants] if self.invariants else []
        lines += ["PROPERTIES", *self.properties] if self.properties else []
        return "\n".join(lines) + "\n"


def parse_configuration(text: str, file: str) -> Configuration:
    """Read a configuration file of this folder's plain form: each section's keyword on a line of its own.

    Raises:
        ManifestError: a line before the first section, or no specification.

    """
    sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.strip() in sections:
            current = sections[line.strip()]
        elif line.strip():
            if current is None:
                raise ManifestError(f"{file}: {line.strip()!r} stands before the first section")
            current.append(line.strip())
    if len(sections["SPECIFICATION"]) != 1:
        raise ManifestError(f"{file}: one SPECIFICATION is wanted")
    return Configuration(
        constants=_constants("\n".join(sections["CONSTANTS"])),
        specification=sections["SPECIFICATION"][0],
        invariants=tuple(sections["INVARIANTS"]),
        properties=tuple(sections["PROPERTIES"]),
    )


def load_run(folder: Path, run: Run) -> tuple[Configuration, dict[str, str]]:
    """The configuration of one run, and the text of each module of the folder by file name.

    Raises:
        ManifestError: the module or its configuration is missing, or the run does not fit it.

    """
    try:
        base = parse_configuration((folder / run.config).read_text(encoding="utf-8"), run.config)
        modules = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.tla")}
    except OSError as error:
        raise ManifestError(f"run {run.name!r}: {error}") from error
    if f"{run.module}.tla" not in modules:
        raise ManifestError(f"run {run.name!r}: there is no module {run.module}")
    return configure(base, run), modules


def configure(base: Configuration, run: Run) -> Configuration:
    """The configuration of one run: constants replaced, a rule left out, the checks narrowed.

    Raises:
        ManifestError: the run changes a constant that is not there, or leaves out a rule that is not in force.

    """
    constants = dict(base.constants)
    for name, value in run.constants:
        if name not in constants:
            raise ManifestError(f"run {run.name!r}: {run.config} has no constant {name}")
        constants[name] = value
    if run.without is not None:
        constants["Rules"] = _without(constants.get("Rules", ""), run)
    checks = [name for name in (*base.invariants, *base.properties) if not run.check or name in run.check]
    # A witness is no invariant of the configuration: it is there to be violated.
    checks += [name for name in run.check if name not in checks]
    return Configuration(
        constants,
        base.specification,
        invariants=tuple(name for name in checks if name not in base.properties),
        properties=tuple(name for name in checks if name in base.properties),
    )


def _constants(text: str) -> dict[str, str]:
    starts = list(re.finditer(r"^(\w+) = ", text, flags=re.MULTILINE))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {start[1]: " ".join(text[start.end() : end].split()) for start, end in zip(starts, ends, strict=True)}


def _without(rules: str, run: Run) -> str:
    kept = re.findall(r'"[^"]*"', rules)
    dropped = f'"{run.without}"'
    if dropped not in kept:
        raise ManifestError(f"run {run.name!r}: {dropped} is no rule of {run.config}")
    return "{" + ", ".join(rule for rule in kept if rule != dropped) + "}"
