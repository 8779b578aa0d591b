"""TLC's classes as the JVM maps them (class data sharing): a third of a short run's time is their loading."""

import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from hudi_adapter.java import java_home

from hudi_conformance.runner.resources import cache_folder

_LIMIT_S = 60
_MODULE = """---- MODULE Warm ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
CONSTANT Last
VARIABLES at, seen
Init == at = 0 /\\ seen = <<>>
Step == at < Last /\\ at' = at + 1 /\\ seen' = Append(seen, [was |-> at, one |-> {at}])
Spec == Init /\\ [][Step]_<<at, seen>> /\\ WF_<<at, seen>>(Step)
Typed == at \\in 0..Last /\\ Cardinality({seen}) = 1
Before == \\A place \\in DOMAIN seen : seen[place].was < Last - 1
Ends == <>(at = Last)
====
"""
_CONFIGURATION = "CONSTANT Last = 3\nSPECIFICATION Spec\nINVARIANTS Typed Before\nPROPERTY Ends\n"


@cache
def sharing_options(jar: Path) -> tuple[str, ...]:
    """What a JVM is reported so that it finds TLC's classes loaded; made once, and nothing where that fails.

    A JVM that cannot use the archive goes on without it.
    """
    archive = cache_folder() / "tlc" / f"{_fingerprint(jar)}.jsa"
    if not archive.is_file() and not _made(jar, archive):
        return ()
    return ("-Xshare:auto", f"-XX:SharedArchiveFile={archive}")


def _fingerprint(jar: Path) -> str:
    """The jar's bytes and place, and the release of Java: the archive fits these alone."""
    release = java_home() / "release"
    parts = (jar.read_bytes(), str(jar).encode(), release.read_bytes() if release.is_file() else b"")
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]


def _made(jar: Path, archive: Path) -> bool:
    with tempfile.TemporaryDirectory(prefix="hudi-tlc-") as folder:
        place = Path(folder)
        (place / "Warm.tla").write_text(_MODULE, encoding="utf-8")
        (place / "Warm.cfg").write_text(_CONFIGURATION, encoding="utf-8")
        listing = ("-Xshare:off", "-XX:DumpLoadedClassList=classes", f"-Djava.io.tmpdir={place}")
        _java(place, *listing, "-cp", str(jar), "tlc2.TLC", "-deadlock", "-workers", "1", "Warm.tla")
        dumping = ("-Xshare:dump", "-XX:SharedClassListFile=classes", "-XX:SharedArchiveFile=made.jsa")
        _java(place, "-XX:+UseSerialGC", *dumping, "-cp", str(jar))
        return _moved(place / "made.jsa", archive)


def _moved(made: Path, archive: Path) -> bool:
    """Into its place whole: other processes look for it meanwhile."""
    if not made.is_file():
        return False
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=archive.parent, delete=False) as copy:
        copy.write(made.read_bytes())
    Path(copy.name).replace(archive)
    return True


def _java(place: Path, *arguments: str) -> None:
    """A JVM that may fail: then there is no archive."""
    command = [str(java_home() / "bin" / "java"), *arguments]
    subprocess.run(command, cwd=place, capture_output=True, timeout=_LIMIT_S, check=False)
