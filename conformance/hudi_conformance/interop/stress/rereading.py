"""The table that a stress run leaves, read by any implementation, with its metadata table and without."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hudi_conformance.interop.stress.running import Played
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import StepExecutor

_LIMIT_S = 240.0


@dataclass(frozen=True, slots=True)
class Reader:
    """An adapter's process that reads table after table."""

    name: str
    session: Session


@contextmanager
def readers_named(names: Sequence[str], logs: Path) -> Iterator[tuple[Reader, ...]]:
    """The readers, whose processes end with the block; each starts with its first table."""
    with ExitStack() as stack:
        commands = {name: find_adapter(name, suite_root()).command for name in names}
        sessions = {name: Session(command, logs / f"{name}.log") for name, command in commands.items()}
        yield tuple(Reader(name, stack.enter_context(session)) for name, session in sessions.items())


def reread(played: Played, readers: Sequence[Reader]) -> Played:
    """The history, judged by what readers answer of its last table, too."""
    found = [line for reader in readers for kept in ("true", "false") for line in _differences(played, reader, kept)]
    decided = replace(played.verdict, wrong=(*played.verdict.wrong, *found))
    return replace(played, verdict=decided, rereads=played.rereads + 2 * len(readers))


def _differences(played: Played, reader: Reader, kept: str) -> Iterator[str]:
    """What a reader answers otherwise, with the metadata table or without it."""
    answers = played.table.parent / "out" / f"{reader.name}-{kept}"
    executor = StepExecutor(reader.session, played.table, answers, _LIMIT_S, reader.name)
    answer = executor.request("read_snapshot", {"configs": {"hoodie.metadata.enable": kept}})
    where = f"{reader.name}, metadata table {kept}"
    if answer.rows is None:
        yield f"{where}: {answer.describe()}"
        return
    found = compare_rows(played.verdict.rows, answer.rows)
    if found:
        yield f"{where}: {'; '.join(found[:6])}"
