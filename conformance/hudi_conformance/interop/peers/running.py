"""Putting the corpus to the peers again: what changed, and a sample of what did not."""

import os
import tempfile
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import tomllib
from rich.console import Console

from hudi_conformance.apache.bundles import BundleUnavailableError, bundle_jar
from hudi_conformance.interop.peers.recorded import (
    Record,
    by_subject,
    contradicted,
    load_record,
    longest_unqueried,
    pattern_of,
    patterns_of,
    relabelled,
    save_record,
    stale_tables,
    with_results,
)
from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.cases import Case, Selection, load_cases
from hudi_conformance.runner.expected_failures import load_expected_failures, resolved
from hudi_conformance.runner.results import read_results
from hudi_conformance.runner.suite import BAD_VERDICT, SuiteOptions, run_suite

PEERS = (
    "apache-hudi-0.15.0",
    "apache-hudi-1.0.2",
    "apache-hudi-1.1.1",
    "apache-hudi-1.2.0",
    "hudi-rs",
    "daft",
)
REQUIRE_VARIABLE = "HUDI_CONFORMANCE_REQUIRE_PEERS"
_SAMPLE = 5


@dataclass(frozen=True, slots=True)
class PeerRun:
    """What became of one peer: the subjects it was asked about, the exit code, or why it could not be asked."""

    adapter: str
    tables: tuple[str, ...]
    code: int
    missing: str = ""


def peers_required() -> bool:
    """Whether a peer that cannot be had is a failure: so it is in CI."""
    return os.environ.get(REQUIRE_VARIABLE, "") not in {"", "0"}


def run_peer(
    root: Path, adapter: str, out: Console, tables: Iterable[str] | None = None, sample: int = _SAMPLE
) -> PeerRun:
    """Ask one peer about these subjects, or about what changed and those asked longest ago; keep the answers."""
    cases = load_cases(root)
    record = relabelled(load_record(root, adapter), _listed(root, adapter, cases))
    chosen = tuple(tables) if tables is not None else due_tables(record, cases, sample)
    present = tuple(sorted(set(chosen) & by_subject(cases).keys()))
    why = missing_bundle(root, adapter)
    if why:
        return PeerRun(adapter, present, int(peers_required()), why)
    record = _without_unknown_cases(record, cases)
    code = 0
    if present:
        patterns = {one for name in present for one in _patterns(record, name, cases, whole=tables is not None)}
        code, record = _run(root, out, cases, patterns, record)
    save_record(root, record)
    return PeerRun(adapter, present, code)


def relist(root: Path, adapter: str) -> None:
    """Hold the record of a peer against its list as it stands now, without asking it."""
    record = load_record(root, adapter)
    if record.tables:
        save_record(root, relabelled(record, _listed(root, adapter, load_cases(root))))


def _listed(root: Path, adapter: str, cases: Iterable[Case]) -> Container[str]:
    failures = load_expected_failures(find_adapter(adapter, root).expected_failures)
    return resolved(failures, (case.id for case in cases)).keys() if failures else ()


def due_tables(record: Record, cases: Iterable[Case], sample: int = _SAMPLE) -> tuple[str, ...]:
    """What changed, what was answered wrongly and not expected to be, and a sample of what was asked longest ago."""
    return tuple(sorted({*stale_tables(record, cases), *contradicted(record), *longest_unqueried(record, sample)}))


def missing_bundle(root: Path, adapter: str) -> str:
    """Why the bundle that an adapter needs cannot be had; empty when it can, or none is needed."""
    try:
        entry = tomllib.loads((root / "adapters" / f"{adapter}.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AdapterConfigError(f"{adapter}.toml: {error}") from error
    if "bundle" not in entry:
        return ""
    try:
        bundle_jar(str(entry["bundle"]))
    except BundleUnavailableError as error:
        return str(error)
    return ""


def _patterns(record: Record, name: str, cases: tuple[Case, ...], *, whole: bool) -> tuple[str, ...]:
    """What a subject is asked: all of its cases when it is named, its new ones where these alone are due."""
    return (pattern_of(name, cases),) if whole else patterns_of(record, name, cases)


def _run(
    root: Path, out: Console, cases: tuple[Case, ...], patterns: Iterable[str], record: Record
) -> tuple[int, Record]:
    with tempfile.TemporaryDirectory(prefix="hudi-peers-") as folder:
        selection = Selection(cases=tuple(sorted(patterns)))
        options = SuiteOptions(root, (record.adapter,), selection, Path(folder), step_limit_s=120.0)
        # A peer may support nothing of what is due: that is an answer too.
        code = int(run_suite(options, out) == BAD_VERDICT)
        results = read_results(Path(folder))
    implementation = results.footer.get("implementations", {}).get(record.adapter) or {}
    return code, with_results(record, implementation, cases, results.cases)


def _without_unknown_cases(record: Record, cases: Iterable[Case]) -> Record:
    known = by_subject(cases)
    kept = {name: table for name, table in record.tables.items() if name in known}
    return Record(record.adapter, record.implementation, kept)
