"""Statements of a file, carried out by Apache Hudi's SQL: `apache_sql.py STATEMENTS ANSWERS`, both JSON.

Statements are lists, one for each table; the answer of each is what its last one reads, sorted, or its error.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hudi_conformance.apache.bundles import bundle_jar
from hudi_conformance.apache.session import start_session


def answer(session: Any, statements: list[str]) -> list[Any] | str:
    """What the last statement reads."""
    try:
        for one in statements:
            found = session.sql(one)
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
