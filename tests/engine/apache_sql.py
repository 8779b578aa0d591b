"""Statements of a file, carried out by Apache Hudi's SQL: `apache_sql.py STATEMENTS ANSWERS`, both JSON.

Statements are lists; the answer of each is what its last one reads, sorted, or its error.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hudi_conformance.apache.bundles import bundle_jar
from hudi_conformance.apache.session import start_session


def with_times(text: str) -> str:
    """A statement in which `<completed 0 of PATH>` is the time when the first action of a table completed."""

    def time(found: re.Match[str]) -> str:
        names = [one.name for one in Path(found[2], ".hoodie/timeline").iterdir()]
        return sorted(name[18:35] for name in names if re.match(r"\d{17}_\d{17}\.", name))[int(found[1])]

    return re.sub(r"<completed (\d+) of (.+?)>", time, text)


def answer(session: Any, statements: list[str]) -> list[Any] | str:
    """What the last statement reads."""
    try:
        for one in statements:
            found = session.sql(with_times(one))
        return sorted(map(list, found.collect()), key=repr)
    except Exception as error:  # noqa: BLE001 - whatever Spark or Hudi raise is the answer
        return f"refused: {str(error).splitlines()[0]}"


def main() -> None:
    """All lists of the file."""
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        session = start_session(bundle_jar("1.1.1"), Path(scratch))
        answers = [answer(session, one) for one in given]
        session.stop()
    Path(sys.argv[2]).write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main()
