"""The distributions, and what each does where nothing else is installed: `run.py [PYTHON ...]`.

dist/ gets four wheels, one source archive of the repository, and lists of parts (SBOM): what comes with engine and with
suite. All are built twice, and the bytes must be the same. Then an empty environment of each interpreter gets one after
another, as pip finds them by name: `hudi-adapter`, which needs nothing else; `hudi-spark`, without the suite; the suite
asks the engine, and says what it lacks where that is gone; once, the engine on Spark. The oldest interpreter of each
distribution uses it once more, with the lowest version of everything that the wheels request, extras too: the engine on
Spark 3.5, on Spark 4 where a JDK is found, and with each kind of lock.
Without arguments: every interpreter from 3.9 on that is found on the PATH or below PYENV_ROOT.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.parser import BytesParser
from pathlib import Path
from typing import Final

from hudi_conformance.interop.lock_servers import free_port, running, zookeeper
from hudi_conformance.runner.resources import CACHE_VARIABLE, CORPUS_VARIABLE
from packaging.requirements import Requirement
from packaging.version import Version

ROOT: Final = Path(__file__).parents[2]
DIST: Final = ROOT / "dist"
PROJECTS: Final = {"hudi-adapter": "adapter", "hudi-format": "format", "hudi-spark": "engine", "hudi-conformance": "."}
FIRST, SUITE, LAST = 9, 10, 19
SPARK: Final = 11
CASES: Final = ("*v8/apache_mor_*::snapshot", "*v9/apache_cow_*::snapshot", "*writing/deletes::*")
QUESTIONS: Final = ("run", "--adapter", "engine-in-process", *(f"--case={one}" for one in CASES))
# What would change a build or an installation: where sources are taken from, what is beside the wheel.
OUTSIDE: Final = (CORPUS_VARIABLE, "PYTHONPATH", "HUDI_CONFORMANCE", "HUDI_CONFORMANCE_HOME")
INHERITED: Final = {name: text for name, text in os.environ.items() if name not in OUTSIDE}


def build(folder: Path) -> dict[str, str]:
    """The distributions in a folder, and what their bytes are."""
    for place in PROJECTS.values():
        kinds = ["--wheel"] if place != "." else ["--wheel", "--sdist"]
        command = [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(folder), str(ROOT / place)]
        output_of(command, ROOT, {**INHERITED, "HUDI_CONFORMANCE": "index"})
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.iterdir())}


def output_of(command: list[str], place: Path, environment: Mapping[str, str], code: int = 0) -> str:
    """What a command prints; it ends with the code, or this ends."""
    done = subprocess.run(command, check=False, cwd=place, env=environment, capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def interpreters() -> dict[int, str]:
    """One of each minor version, the newest patch of it."""
    found: dict[int, str] = {}
    kept = sorted(Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser().glob("versions/3.*/bin/python3"))
    for one in [*map(str, kept), *filter(None, (shutil.which(f"python3.{n}") for n in range(FIRST, LAST)))]:
        if (minor := minor_of(one)) is not None and minor >= FIRST:
            found[minor] = one
    return dict(sorted(found.items()))


def minor_of(python: str) -> int | None:
    """N of Python 3.N; None where it does not start."""
    command = [python, "-c", "import sys; print(sys.version_info[1])"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    return int(answer.stdout) if answer.returncode == 0 else None


class Environment:
    """An empty one of an interpreter, and an empty folder to be in."""

    def __init__(self, python: str, folder: Path, bounds: str = "") -> None:
        self.home, self.place = folder / "environment", folder / "place"
        # The newest pip serves no older interpreter than 3.10.
        self._pip = python if minor_of(python) == FIRST else sys.executable
        self.place.mkdir(parents=True)
        self._bounds = folder / "bounds"
        self._bounds.write_text(bounds, encoding="utf-8")
        output_of([python, "-m", "venv", "--without-pip", str(self.home)], folder, INHERITED)
        # Distributions of this repository come from dist/, whatever an index has under their names.
        self.variables = {**INHERITED, CACHE_VARIABLE: str(folder.parent / "cache"), "PIP_FIND_LINKS": str(DIST)}

    def pip(self, *arguments: str) -> None:
        """Install or uninstall; of wheels alone, but for Spark, which has none."""
        pip = [self._pip, "-m", "pip", "--python", str(self.home / "bin/python"), "--disable-pip-version-check"]
        output_of([*pip, *arguments], self.place, self.variables)

    def install(self, *names: str) -> None:
        """By name, from dist/ and the index of this machine."""
        wheels = ("--only-binary", ":all:", "--no-binary", "pyspark")
        # Python compiles what is imported; pip would compile every module.
        self.pip("install", "--quiet", "--no-compile", *wheels, "--constraint", str(self._bounds), *names)

    def run(self, name: str, *arguments: str, code: int = 0) -> str:
        """What a program of the environment prints."""
        return output_of([str(self.home / "bin" / name), *arguments], self.place, self.variables, code)

    def write_parts(self, distribution: str) -> None:
        """The SBOM of what is installed: CycloneDX, the same bytes whenever the same versions are."""
        own = ROOT / PROJECTS[distribution] / "pyproject.toml"
        tool = str(Path(sys.executable).with_name("cyclonedx-py"))
        form = ["--output-reproducible", "--of", "JSON", "--mc-type", "library", "--pyproject", str(own)]
        target = DIST / f"{distribution.replace('-', '_')}.cdx.json"
        command = [tool, "environment", *form, "--output-file", str(target), str(self.home / "bin/python")]
        output_of(command, self.place, self.variables)


def lower_bounds(*distributions: str, extra: str = "") -> str:
    """What the wheels of distributions request at least, as the one version: a line for each, for pip.

    Of the extras of the engine, which request other versions of Spark, one counts.
    """
    others = {"locks", "spark", "spark4"} - {extra}
    found: dict[str, Version] = {}
    for distribution in distributions:
        (wheel,) = DIST.glob(f"{distribution.replace('-', '_')}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
            stated = BytesParser().parsebytes(archive.read(name)).get_all("Requires-Dist", [])
        for one in map(Requirement, stated):
            if any(f'"{name}"' in str(one.marker) for name in others):
                continue
            for bound in one.specifier:
                if bound.operator == ">=":
                    found[one.name] = max(Version(bound.version), found.get(one.name, Version("0")))
    return "".join(f"{name}=={version}\n" for name, version in sorted(found.items()))


def lowest_uses(minor: int, python: str, folder: Path) -> Iterator[str]:
    """What the distributions do with the lowest versions of what they request; the names of those that were used."""
    if minor < SUITE:
        environment = Environment(python, folder, lower_bounds("hudi-adapter"))
        environment.install("hudi-adapter[arrow]")
        environment.run("python", str(Path(__file__).with_name("adapter_alone.py")), "arrow")
        yield "adapter"
        return
    environment = Environment(python, folder, lower_bounds(*PROJECTS))
    environment.install("hudi-spark")
    environment.run("python", str(Path(__file__).with_name("example.py")))
    yield "engine"
    environment.install("hudi-conformance[engine]")
    environment.run("hudi-conformance", *QUESTIONS)
    yield "suite"
    for extra in ("locks", "spark", "spark4"):
        environment = Environment(python, folder / extra, lower_bounds(*PROJECTS, extra=extra))
        environment.install(f"hudi-spark[{extra}]")
        yield {"locks": with_locks, "spark": on_spark, "spark4": on_spark_4}[extra](environment)


EXAMPLE: Final = str(Path(__file__).with_name("example.py"))


def with_locks(environment: Environment) -> str:
    """A lock of each library: in files, in ZooKeeper, in what moto plays of DynamoDB."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-p", str(port)]
    with zookeeper(environment.place / "zookeeper") as server, running(command, environment.place / "log", port):
        environment.run("python", EXAMPLE, "locks", str(server.port), str(port))
    return "locks"


def on_spark(environment: Environment) -> str:
    """Spark 3.5 has its Java with it."""
    environment.run("python", EXAMPLE, "spark")
    return "Spark 3.5"


def on_spark_4(environment: Environment) -> str:
    """Spark 4 needs a JDK, and is left out where there is none."""
    compiler = shutil.which("javac")
    if compiler is None:
        return "not Spark 4, as no JDK is found"
    environment.variables["JAVA_HOME"] = str(Path(compiler).resolve().parents[1])
    # As where the environment is activated: Spark 4.1 makes the rows of a frame by the `python3` of the PATH.
    environment.variables["PATH"] = f"{environment.home / 'bin'}{os.pathsep}{environment.variables['PATH']}"
    environment.run("python", EXAMPLE, "spark4")
    return "Spark 4"


def uses(minor: int, environment: Environment, *, parts: bool) -> Iterator[str]:
    """What each distribution does here; the names of those that were used."""
    environment.install("hudi-adapter")
    environment.run("python", str(Path(__file__).with_name("adapter_alone.py")))
    yield "adapter"
    if minor < SUITE:
        return
    environment.install("hudi-spark")
    environment.run("python", EXAMPLE)
    if parts:
        environment.write_parts("hudi-spark")
    yield "engine"
    if minor == SPARK:
        environment.install("hudi-spark[spark]")
        yield on_spark(environment)
    environment.install("hudi-conformance[engine]")
    environment.run("hudi-conformance", *QUESTIONS)
    if parts:
        environment.write_parts("hudi-conformance")
    environment.pip("uninstall", "--quiet", "--yes", "hudi-spark")
    missing = environment.run("hudi-conformance", *QUESTIONS, code=2)
    assert "hudi-conformance[engine]" in missing, missing
    assert "Traceback" not in missing, missing
    yield "suite"


def tried(minor: int, python: str, folder: Path, *, lowest: bool) -> str:
    """What was used by an interpreter, and how long it took."""
    began = time.monotonic()
    parts = minor == sys.version_info[1]
    used = lowest_uses(minor, python, folder) if lowest else uses(minor, Environment(python, folder), parts=parts)
    with_lowest = " with the lowest versions" if lowest else ""
    return f"Python 3.{minor}{with_lowest}: {', '.join(used)}: {time.monotonic() - began:.0f} s"


def main() -> None:
    """Build, compare, and try every interpreter."""
    shutil.rmtree(DIST, ignore_errors=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        made, again = build(DIST), build(Path(scratch, "again"))
        assert made == again, f"two builds differ: {made} and {again}"
        for name, digest in made.items():
            print(f"{digest}  {name}", flush=True)
        print(f"built twice: {time.monotonic() - began:.0f} s", flush=True)
        given = {minor_of(one) or 0: one for one in sys.argv[1:]}
        # The one with Spark takes the longest, the first the shortest.
        in_order = sorted((given or interpreters()).items(), key=lambda one: (one[0] != SPARK, -one[0]))
        oldest = [one for one in in_order if one[0] >= SUITE][-1:] + [one for one in in_order if one[0] < SUITE]
        with ThreadPoolExecutor(2) as pool:
            started = [
                pool.submit(tried, minor, python, Path(scratch, f"{minor}{lowest}"), lowest=bool(lowest))
                for lowest, several in (("", in_order[:1]), ("-lowest", oldest), ("", in_order[1:]))
                for minor, python in several
            ]
            for one in started:
                print(one.result(), flush=True)


if __name__ == "__main__":
    main()
