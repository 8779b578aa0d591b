"""What Apache Hudi states its log rather than its caller: the corrupt log blocks that it skipped.

The protocol wants them as warnings, so the session's log of that one class goes to a file of its own.
"""

import re
from pathlib import Path

from hudi_adapter.protocol import AnswerWarning

_READER = "org.apache.hudi.common.table.log.HoodieLogFileReader"
# Up to 1.1 `{pathStr='...', fileLen=944}`, from 1.2 on `(pathStr=..., fileSize=944)`.
_CORRUPT = re.compile(
    r"Log HoodieLogFile[{(]pathStr='?(?P<path>.*?)'?, file(?:Len|Size)=.*has a corrupted block at (?P<position>\d+)"
)
_MAGIC_LENGTH = 6  # the position is the one behind the magic


def settings_text(folder: Path) -> str:
    """The logging settings of a session: errors to stderr, the log reader's notices to a file."""
    return "\n".join(
        (
            "status = error",
            "rootLogger.level = error",
            "rootLogger.appenderRef.console.ref = console",
            "appender.console.type = Console",
            "appender.console.name = console",
            "appender.console.target = SYSTEM_ERR",
            "appender.console.layout.type = PatternLayout",
            "appender.console.layout.pattern = %d %p %c{1}: %m%n%ex",
            "appender.notices.type = File",
            "appender.notices.name = notices",
            f"appender.notices.fileName = {notices_file(folder).as_posix()}",
            "appender.notices.layout.type = PatternLayout",
            "appender.notices.layout.charset = UTF-8",
            "appender.notices.layout.pattern = %m%n",
            f"logger.reader.name = {_READER}",
            "logger.reader.level = info",
            "logger.reader.additivity = false",
            "logger.reader.appenderRef.notices.ref = notices",
            "",
        )
    )


def notices_file(folder: Path) -> Path:
    """Where the notices of a session go."""
    return folder / "notices.log"


def log_after(folder: Path, offset: int) -> str:
    """The notices from a size of the file on."""
    return notices_file(folder).read_bytes()[offset:].decode("utf-8", "replace")


def log_length(folder: Path) -> int:
    """The present size of the file."""
    return notices_file(folder).stat().st_size


def corrupt_blocks(text: str, table: Path) -> tuple[AnswerWarning, ...]:
    """One warning for each corrupt block that the notices name, however often they do."""
    found = {(match["path"], int(match["position"]) - _MAGIC_LENGTH) for match in _CORRUPT.finditer(text)}
    return tuple(_warning(path, offset, table) for path, offset in sorted(found))


def _warning(path: str, offset: int, table: Path) -> AnswerWarning:
    name = path.removeprefix("file:").removeprefix(f"{table}/")
    return AnswerWarning("LF-010", "corrupt block skipped, says Apache Hudi's log reader", name, offset)
