"""Runs of TLC that give another result than the base says."""

from collections.abc import Callable, Iterator
from pathlib import Path

from hudi_conformance.verification.checking_specs import behaviour_of
from hudi_conformance.verification.impact.comparing import HOLDS, Changed
from hudi_conformance.verification.tla.manifest import Manifest, ManifestError, Run, load_manifest
from hudi_conformance.verification.tla.tlc import Result, run_tlc


def manifest_of(root: Path) -> Manifest:
    """The runs and agreements of a checkout; none where its files are of another form."""
    try:
        return load_manifest(root / "specs" / "tla")
    except ManifestError:
        return Manifest()


def changed_runs(
    base: Path, tree: Path, modules: tuple[str, ...], report_progress: Callable[[int, int], None], *, soak: bool
) -> Iterator[Changed]:
    """The runs of modules whose outcome differs, a soak's on request; the base runs only what it expects else."""
    before = {(one.module, one.name): one for one in manifest_of(base).runs}
    chosen = [one for one in manifest_of(tree).runs if one.module in modules and (soak or not one.soak)]
    for number, run in enumerate(chosen, start=1):
        result = run_tlc(tree / "specs" / "tla", run)
        was = before.get((run.module, run.name))
        first = _outcome_before(base, was, result) if was else "there was no such run"
        if first != outcome_of(result):
            title = "what TLC finds"
            name = f"{run.module}: {run.name}"
            yield Changed("run", name, title, (), first, outcome_of(result), (), behaviour_of(result))
        report_progress(number, len(chosen))


def outcome_of(result: Result) -> str:
    """What a run came to, in words."""
    found = result.finding
    if found is None:
        return f"no end within {result.run.limit_s:g} s"
    return HOLDS if found.passed else f"{found.violated or 'nothing that can be checked'} is violated"


def _outcome_before(base: Path, run: Run, after: Result) -> str:
    expected = f"{run.violates} is violated" if run.violates else HOLDS
    return expected if expected == outcome_of(after) else outcome_of(run_tlc(base / "specs" / "tla", run))
