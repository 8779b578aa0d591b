"""Apalache, when the machine has it: the type annotations of every module are checked."""

import os
import shutil
import subprocess
from pathlib import Path

IMAGE = "apalache/mc"
ABSENT = "Apalache: neither apalache-mc on PATH nor a docker engine answers, types are not checked."


def apalache_command(folder: Path) -> list[str] | None:
    """How to call Apalache here: the program on PATH, else its image in a docker engine that answers, else None."""
    program = shutil.which("apalache-mc")
    if program:
        return [program]
    docker = shutil.which("docker")
    if docker and _answers([docker, "info"]):
        image = os.environ.get("APALACHE_IMAGE", IMAGE)
        return [docker, "run", "--rm", "--volume", f"{folder.resolve()}:/var/apalache", image]
    return None


def typecheck(command: list[str], module: Path) -> str | None:
    """None when the module's types agree, else what Apalache says."""
    try:
        done = subprocess.run(
            [*command, "typecheck", module.name],
            cwd=module.parent,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stdout + done.stderr


def _answers(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
