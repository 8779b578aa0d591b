"""A process that writes, and dies where it is told to: `python killed_writer.py`, one request of JSON a line.

For each request it forks a child that does one write in-process with `KillAt` at an effect; the answer is the child's
status: 0 where it ran through, -9 where it was killed. Forking saves a start of Python for every effect.
"""

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_format.storage import LocalStorage
from hudi_spark.effects.hooks import KillAt
from hudi_spark.flows.in_process import InProcess
from hudi_spark.writing.writer import TableWriter, WriteRequest
from pyarrow import feather


def write(request: Mapping[str, Any]) -> None:
    """One write, killed before the effect of a number; how many there were is left beside the table."""
    hook = KillAt(request["effect"])
    writer = TableWriter(LocalStorage(request["table"]), InProcess(), hook=hook)
    rows = feather.read_table(request["input"]) if request["input"] else None
    asked = WriteRequest(request["operation"], rows, partitions=request["partitions"], configs=request["configs"])
    writer.write(asked)
    Path(request["table"]).with_name("effects").write_text(str(hook.seen), encoding="ascii")


def child(request: Mapping[str, Any]) -> int:
    """The status of a child that writes."""
    pid = os.fork()
    if pid == 0:
        try:
            write(request)
        except BaseException:  # noqa: BLE001 - a child answers with its status alone
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Serve until the end of input."""
    for line in sys.stdin:
        print(child(json.loads(line)), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
