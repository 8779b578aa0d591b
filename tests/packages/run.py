"""The distributions, and what they do where nothing else is installed: `run.py [PYTHON ...]`.

They are built twice, and the bytes must be the same; dist/ has them afterwards. Then an empty environment of each
interpreter gets the wheel with what it depends on, runs the example beside this file, and a few cases by the engine.
Without arguments: every interpreter from 3.11 on that is found on the PATH or below PYENV_ROOT.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from hudi_conformance.runner.resources import CACHE_VARIABLE, CORPUS_VARIABLE

ROOT: Final = Path(__file__).parents[2]
FIRST, LAST = 11, 19
CASES: Final = ("*v8/apache_mor_*::snapshot", "*v9/apache_cow_*::snapshot", "*writing/deletes::*")


def build(folder: Path) -> dict[str, str]:
    """The distributions in a folder, and what their bytes are."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.iterdir())}


def interpreters() -> list[str]:
    """One of each minor version, the newest patch of it."""
    found: dict[str, str] = {}
    kept = sorted(Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/3.*/bin/python3"))
    for one in [*map(str, kept), *filter(None, (shutil.which(f"python3.{n}") for n in range(FIRST, LAST)))]:
        answer = subprocess.run(
            [one, "-c", "import sys; print(sys.version_info[1])"], check=False, capture_output=True, text=True
        )
        if answer.returncode == 0 and int(answer.stdout) >= FIRST:
            found[answer.stdout.strip()] = one
    return [found[minor] for minor in sorted(found, key=int)]


def try_wheel(python: str, wheel: Path, folder: Path) -> None:
    """Install it into an empty environment of an interpreter, and use it in an empty folder."""
    home, place = folder / "environment", folder / "place"
    place.mkdir(parents=True)
    subprocess.run([python, "-m", "venv", "--without-pip", str(home)], check=True)
    own = str(home / "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", own, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--only-binary", ":all:", str(wheel)], check=True)
    inherited = {name: text for name, text in os.environ.items() if name not in {CORPUS_VARIABLE, "PYTHONPATH"}}
    environment = {**inherited, CACHE_VARIABLE: str(folder / "cache")}
    run = [
        str(home / "bin/hudi-conformance"),
        "run",
        "--adapter",
        "engine-in-process",
        *(f"--case={one}" for one in CASES),
    ]
    for command in ([own, str(Path(__file__).with_name("example.py"))], run):
        done = subprocess.run(command, check=False, cwd=place, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{python}: {' '.join(command)}\n{done.stdout}{done.stderr}")


def main() -> None:
    """Build, compare, and try every interpreter."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        made, again = build(dist), build(Path(scratch, "again"))
        assert made == again, f"two builds differ: {made} and {again}"
        for name, digest in made.items():
            print(f"{digest}  {name}", flush=True)
        (wheel,) = dist.glob("*.whl")
        for number, python in enumerate(sys.argv[1:] or interpreters()):
            began = time.monotonic()
            try_wheel(python, wheel, Path(scratch, str(number)))
            print(f"{python}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
