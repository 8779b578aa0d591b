"""Apalache, when the machine has it: types of every module, invariants to a bounded depth, inductive invariants."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hudi_conformance.verification.tla.configuration import Configuration, parse_configuration

IMAGE = "apalache/mc"
ABSENT = "Apalache: neither apalache-mc on PATH nor a docker engine answers: types, depth and induction go unchecked."
INDUCTIVE = "Inductive"
"""How the modules begin that state an inductive invariant; they define InductiveInit."""
CONSTANTS = "constants.cfg"
DEPTH = 6
"""Steps of a bounded check. Each costs several times what the one before did."""
LIMIT_S = 1800


@dataclass(frozen=True, slots=True)
class ApalacheCheck:
    """One call: what it shows, of which module, with which command and options; constants of its configuration."""

    title: str
    module: str
    options: tuple[str, ...]
    configuration: Configuration | None = None


def apalache_command(folder: Path) -> list[str] | None:
    """How to call Apalache here: the program on PATH, else its image in a docker engine that answers, else None."""
    program = shutil.which("apalache-mc")
    if program:
        return [program]
    docker = shutil.which("docker")
    if docker and _engine_answers(docker):
        image = os.environ.get("APALACHE_IMAGE", IMAGE)
        return [docker, "run", "--rm", "--volume", f"{folder.resolve()}:/var/apalache", image]
    return None


def apalache_checks(folder: Path) -> Iterator[ApalacheCheck]:
    """What is to be checked of a folder of modules.

    Raises:
        ManifestError: a configuration is not of this folder's form.

    """
    for module in sorted(folder.glob("*.tla")):
        yield ApalacheCheck("types", module.stem, ("typecheck",))
    for path in sorted(folder.glob("MC*.cfg")):
        configuration = parse_configuration(path.read_text(encoding="utf-8"), path.name)
        name = path.stem.removeprefix("MC")
        if (folder / f"{name}.tla").exists():
            yield from _depths(name, configuration)


def _depths(module: str, configuration: Configuration) -> Iterator[ApalacheCheck]:
    """An inductive invariant holds at first and is kept by a step; any other is checked as far as time allows."""
    check = ("check", f"--config={CONSTANTS}", "--no-deadlock", f"--inv={','.join(configuration.invariants)}")
    if module.startswith(INDUCTIVE):
        kept = ("--init=InductiveInit", "--next=Next", "--length=1")
        yield ApalacheCheck(
            "holds at first", module, (*check, "--init=Init", "--next=Next", "--length=0"), configuration
        )
        yield ApalacheCheck("is kept by every step", module, (*check, *kept), configuration)
    else:
        bounded = ("--init=Init", "--next=Next", f"--length={DEPTH}")
        yield ApalacheCheck(f"invariants to depth {DEPTH}", module, (*check, *bounded), configuration)


def run_apalache(folder: Path, check: ApalacheCheck, kept: Path | None = None) -> str | None:
    """None when all is well, else what Apalache says; its counterexamples (ITF) go to the folder `kept`."""
    with tempfile.TemporaryDirectory(prefix="hudi-apalache-") as place:
        for module in folder.glob("*.tla"):
            shutil.copy(module, place)
        if check.configuration:
            constants = "".join(f"  {name} = {value}\n" for name, value in check.configuration.constants.items())
            (Path(place) / CONSTANTS).write_text(f"CONSTANTS\n{constants}", encoding="utf-8")
        command = apalache_command(Path(place))
        if command is None:
            return ABSENT
        wrong = _wrong([*command, *check.options, "--out-dir=out", f"{check.module}.tla"], Path(place))
        if wrong and kept:
            for found in (Path(place) / "out").rglob("violation1.itf.json"):
                shutil.copy(found, kept / f"{check.module}.itf.json")
    return wrong


def _wrong(command: list[str], place: Path) -> str | None:
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stdout + done.stderr


@cache
def _engine_answers(docker: str) -> bool:
    """Whether an engine stands behind the client; asked once, for it is asked of every check."""
    try:
        return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
