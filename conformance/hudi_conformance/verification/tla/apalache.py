"""Apalache, where it can be had: types of the modules, invariants to a declared depth, inductive invariants."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hudi_conformance.verification.tla.configuration import Configuration, load_run
from hudi_conformance.verification.tla.manifest import BoundedCheck

PROGRAM = "apalache-mc"
OLDEST_JAVA = 21
MEMORY = "-Xmx4g -Xss512m"
"""Formulas are deep: the default stack of a JVM does not hold them."""
ABSENT = (
    f"Apalache is not here: no {PROGRAM} on PATH, no APALACHE_JAR with a Java of {OLDEST_JAVA} or later, "
    "no APALACHE_IMAGE with a docker engine that answers: types, depth and induction go unchecked."
)
MODULE = "Checked"
"""The module that is checked: it extends the one that is meant, and gives types to constants that are empty sets."""
VIOLATED = 12
"""Apalache's exit code for a counterexample."""
CONSTANT_TYPE = re.compile(r"\\\* @type: (?P<type>[^;]*);\n\s*(?P<name>\w+)\s*(?:,|\n)")
IN_RULES = re.compile(r'"(?P<rule>[^"]*)"\s*\\(?P<negation>not)?in\s+Rules\b')
WITHIN_RULES = re.compile(r'\{(?P<rules>"[^{}]*")\}\s*\\subseteq\s+Rules\b')
EXTENDED = re.compile(r"^EXTENDS (?P<names>[\w, \n]+?)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Apalache:
    """A way to call Apalache: its command, what is set for it, and where it was found."""

    command: tuple[str, ...]
    found: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def version(self) -> str:
        """What it says of itself.

        Raises:
            OSError: it cannot be started.

        """
        printed = self.run(["version"], Path(tempfile.gettempdir()), 120)[1].strip().splitlines()
        return printed[-1] if printed else "of unknown version"

    def run(self, arguments: list[str], place: Path, limit_s: float) -> tuple[int | None, str]:
        """The exit code, None where it was stopped at the limit; and what it printed.

        Raises:
            OSError: it cannot be started.

        """
        command = [part.replace("{place}", str(place.resolve())) for part in self.command]
        with subprocess.Popen(
            [*command, *arguments],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **self.variables, "TMPDIR": str(place)},
        ) as process:
            try:
                printed = process.communicate(timeout=limit_s)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                return None, process.communicate()[0]
            return process.returncode, printed


@dataclass(frozen=True, slots=True)
class ApalacheResult:
    """A check, how long it took, and why it is a failure: None where Apalache found what was expected."""

    module: str
    title: str
    seconds: float
    fault: str | None
    check: BoundedCheck | None = None


def find_apalache() -> Apalache | None:
    """How to call Apalache here: the program on PATH, else the jar, else the image that a variable names; else None."""
    if program := shutil.which(PROGRAM):
        return Apalache((program,), f"{PROGRAM} on PATH", {"JVM_ARGS": MEMORY})
    jar, java = os.environ.get("APALACHE_JAR"), _java()
    if jar and Path(jar).is_file() and java:
        return Apalache((java, *MEMORY.split(), "-jar", jar), "APALACHE_JAR")
    image, docker = os.environ.get("APALACHE_IMAGE"), shutil.which("docker")
    if image and docker and _engine_answers(docker):
        volume = ("--volume", "{place}:/var/apalache", "--env", f"JVM_ARGS={MEMORY}")
        return Apalache((docker, "run", "--rm", *volume, image), f"the image {image}")
    return None


def typed_modules(folder: Path, left_out: Mapping[str, str]) -> Iterator[str]:
    """The modules whose types are checked: those that no other extends, whose types are checked with theirs.

    `left_out` are those that Apalache cannot read.

    Raises:
        OSError: a module cannot be read.

    """
    modules = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.tla")}
    extended = {
        name
        for module, text in modules.items()
        for match in EXTENDED.finditer(text)
        for name in re.findall(r"\w+", match["names"])
        if module not in left_out
    }
    yield from sorted(set(modules) - extended - set(left_out))


def check_types(apalache: Apalache, folder: Path, module: str, limit_s: float = 300) -> ApalacheResult:
    """Whether every expression of a module and of those that it extends has a type.

    Raises:
        OSError: Apalache cannot be started.

    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hudi-apalache-") as place:
        for path in folder.glob("*.tla"):
            shutil.copy(path, place)
        code, printed = apalache.run(["typecheck", "--out-dir=out", f"{module}.tla"], Path(place), limit_s)
    return ApalacheResult(module, "types", time.monotonic() - started, None if code == 0 else printed or "stopped")


def run_apalache(apalache: Apalache, folder: Path, check: BoundedCheck, kept: Path | None = None) -> ApalacheResult:
    """Check the invariants of a declared check; a counterexample (ITF) goes to the folder `kept`.

    Raises:
        ManifestError: the module or its configuration is missing, or the check does not fit it.
        OSError: Apalache cannot be started.

    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hudi-apalache-") as name:
        place = Path(name)
        configuration = prepare(folder, check, place)
        invariants = ",".join(configuration.invariants)
        options = ("check", "--config=run.cfg", "--no-deadlock", f"--inv={invariants}", f"--length={check.depth}")
        code, printed = apalache.run([*options, "--out-dir=out", f"{MODULE}.tla"], place, check.run.limit_s)
        if kept:
            for found in (place / "out").rglob("violation1.itf.json"):
                shutil.copy(found, kept / f"{check.run.module}.itf.json")
    fault = fault_of(check, code, printed)
    return ApalacheResult(check.run.module, check.run.name, time.monotonic() - started, fault, check)


def fault_of(check: BoundedCheck, code: int | None, printed: str) -> str | None:
    """Why an exit code is not the expected one; None where it is."""
    violates = check.run.violates
    if code is None:
        return f"stopped: more than {check.run.limit_s:g} s"
    if code == VIOLATED and "violated" in printed:
        return None if violates else f"an invariant is violated, it was to hold\n{printed}"
    if code == 0:
        return f"holds, {violates} was to be violated" if violates else None
    return f"Apalache could not check it\n{printed}"


def prepare(folder: Path, check: BoundedCheck, place: Path) -> Configuration:
    """Put modules and configuration of a check into a folder, in the form that Apalache reads.

    A rule is in force or is not: where a module asks for one, the copy has the answer.

    Raises:
        ManifestError: the module or its configuration is missing, or the check does not fit it.

    """
    run = check.run
    configuration, modules = load_run(folder, run)
    rules = frozenset(re.findall(r'"([^"]*)"', configuration.constants.get("Rules", "")))
    for name, text in modules.items():
        (place / name).write_text(with_rules(text, rules), encoding="utf-8")
    types = {match["name"]: match["type"] for text in modules.values() for match in CONSTANT_TYPE.finditer(text)}
    empty = sorted(name for name, value in configuration.constants.items() if value == "{}")
    definitions = [f"\\* @type: {types.get(name, 'Set(Str)')};\nNo{name} == {{}}" for name in empty]
    body = "\n".join(definitions)
    module = f"---- MODULE {MODULE} ----\nEXTENDS {run.module}\n{body}\n====\n"
    (place / f"{MODULE}.tla").write_text(module, encoding="utf-8")
    lines = [
        f"  {name} <- No{name}" if name in empty else f"  {name} = {value}"
        for name, value in configuration.constants.items()
    ]
    invariants = (run.violates,) if run.violates else configuration.invariants
    text = "\n".join(["CONSTANTS", *lines, f"INIT {check.init}", f"NEXT {check.next}", ""])
    (place / "run.cfg").write_text(text, encoding="utf-8")
    return Configuration(configuration.constants, configuration.specification, invariants, ())


def with_rules(text: str, rules: frozenset[str]) -> str:
    """A module in which these rules are in force: questions for a rule replaced by their answers."""

    def one(match: re.Match[str]) -> str:
        return "TRUE" if (match["rule"] in rules) == (match["negation"] is None) else "FALSE"

    def several(match: re.Match[str]) -> str:
        return "TRUE" if set(re.findall(r'"([^"]*)"', match["rules"])) <= rules else "FALSE"

    return WITHIN_RULES.sub(several, IN_RULES.sub(one, text))


def _java() -> str | None:
    """A Java that is recent enough: of JAVA_HOME, of PATH, else one that is installed beside them."""
    home = os.environ.get("JAVA_HOME")
    named = [f"{home}/bin/java"] if home else []
    installed = sorted(str(path) for path in Path("/usr/lib/jvm").glob("*/bin/java"))
    for java in (*named, shutil.which("java"), *installed):
        if java and _release(java) >= OLDEST_JAVA:
            return java
    return None


def _release(java: str) -> int:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', done.stderr + done.stdout)
    return int(match[1]) if match else 0


@cache
def _engine_answers(docker: str) -> bool:
    """Whether an engine stands behind the client; asked once, for it is asked of every check."""
    try:
        return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
