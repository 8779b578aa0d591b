"""Checks that can fail: every invariant and property of the TLA+ modules has a run that must violate it."""

from collections.abc import Iterator
from pathlib import Path

from hudi_conformance.runner.clauses import Problem
from hudi_conformance.verification.tla.configuration import parse_configuration
from hudi_conformance.verification.tla.manifest import ManifestError, load_manifest

TYPES = "TypeOK"
"""Stands in for types, and needs no run that violates it."""


def check_guards(root: Path) -> Iterator[Problem]:
    """What no declared run violates; nothing where a checkout has no modules.

    Raises:
        OSError: a configuration cannot be read.

    """
    folder = root / "specs" / "tla"
    if not (folder / "runs").is_dir():
        return
    try:
        manifest = load_manifest(folder)
        for module in sorted({run.module for run in manifest.runs}):
            name = f"MC{module}.cfg"
            configuration = parse_configuration((folder / name).read_text(encoding="utf-8"), name)
            violated = {run.violates for run in manifest.runs if run.module == module}
            for check in (*configuration.invariants, *configuration.properties):
                if check not in {TYPES, *violated}:
                    yield Problem(f"specs/tla/{name}", 1, f"{check}: no run in runs/{module}.toml must violate it")
    except ManifestError as error:
        yield Problem("specs/tla/runs", 1, str(error))
        return
    for module in sorted({one.run.module for one in manifest.bounded}):
        own = [one.run.violates for one in manifest.bounded if one.run.module == module]
        if None not in own or set(own) == {None}:
            yield Problem(
                f"specs/tla/runs/{module}.toml", 1, "Apalache is to find that something holds, and that something fails"
            )
