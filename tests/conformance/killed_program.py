"""A process that runs programs, and ends where it is configured to: `python killed_program.py`, a JSON request a line.

For each request it forks a child that runs one program in-process with `KillAt` at an effect; the answer is the child's
status: 0 where it ran through, -9 where it was killed. Forking saves a start of Python for every effect; a table made
beforehand leaves every child what is imported and kept after a first write.
"""

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hudi_format.storage import LocalStorage
from hudi_spark.testing import KillAt

sys.path.insert(0, str(Path(__file__).parent))
from table_programs import PROGRAMS, made, writer_of


def run(request: Mapping[str, Any]) -> None:
    """One program, killed before the effect of a number; how many there were is left beside the table."""
    hook = KillAt(request["effect"])
    PROGRAMS[request["program"]].run(writer_of(LocalStorage(request["table"]), hook))
    Path(request["table"]).with_name("effects").write_text(str(hook.seen), encoding="ascii")


def child(request: Mapping[str, Any]) -> int:
    """The status of a child that runs a program."""
    pid = os.fork()
    if pid == 0:
        try:
            run(request)
        except BaseException:  # noqa: BLE001 - a child answers with its status alone
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Serve until the end of input."""
    with TemporaryDirectory() as folder:
        made(Path(folder) / "table", PROGRAMS["v8-mor-clean"])
    for line in sys.stdin:
        print(child(json.loads(line)), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
