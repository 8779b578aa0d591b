"""A rollback's plan carried out by tasks: files are deleted, commands are added. Done again, it changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import pyarrow as pa
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import rollback_block
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.timeline.plans import RollbackPartition, RollbackRequest

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import Effects, joined
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.services.rollback.planning import absolute

PARALLELISM: Final = "hoodie.rollback.parallelism"
_COMMANDS: Final = pa.schema([("partition", pa.string()), ("name", pa.string()), ("size", pa.int64())])
_Found = list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Removal:
    """Removes what an action left, on behalf of the action `instant`; can be pickled.

    Clauses: RB-004, RB-007.
    """

    effects: Effects
    instant: str
    undone: str

    def run(self, requests: Sequence[RollbackRequest], identity: TaskIdentity) -> pa.Table:
        """The logs that hold a command now: what a task returns."""
        found: _Found = []
        for one in requests:
            for path in one.files_to_be_deleted:
                self._delete(one.partition_path, PurePosixPath(path).name)
            found += self._commanded(one, identity)
        columns = zip(*found, strict=True) if found else ((), (), ())
        return pa.table(
            [pa.array(list(column), kind.type) for column, kind in zip(columns, _COMMANDS, strict=True)], _COMMANDS
        )

    def _delete(self, partition: str, name: str) -> None:
        if self.effects.storage.exists(joined(partition, name)):
            self.effects.delete_data_file(self.instant, partition, name)

    def _commanded(self, request: RollbackRequest, identity: TaskIdentity) -> _Found:
        """The logs of a slice with a command to the undone blocks; one is added where there is none.

        Clauses: RB-004, RB-007, LF-009, LF-015.
        """
        wanted = [parse_data_file_name(PurePosixPath(path).name) for path in request.log_blocks_to_be_deleted or {}]
        named = [one for one in wanted if isinstance(one, LogFileName)]
        for one in named:
            if one.instant == self.undone:
                self._delete(request.partition_path, str(one))
        older = [one for one in named if one.instant != self.undone]
        if not older:
            return []
        first = min(older, key=lambda one: one.version)
        return self._commands_in(request.partition_path, first, identity)

    def _commands_in(self, partition: str, first: LogFileName, identity: TaskIdentity) -> _Found:
        storage = self.effects.storage
        stored = {one.path.rpartition("/")[2]: one.size for one in storage.list_files(partition, recursive=False)}
        slice_ = (first.file_id, first.instant)
        parsed = (parse_data_file_name(name) for name in stored)
        logs = [one for one in parsed if isinstance(one, LogFileName) and (one.file_id, one.instant) == slice_]
        done = [one for one in logs if one.version >= first.version and self._is_commanded(partition, one)]
        if done:
            return [(partition, str(one), stored[str(one)]) for one in done]
        version = max(one.version for one in (first, *logs)) + 1
        name = LogFileName(first.file_id, first.instant, version, identity.write_token)
        data = rollback_block(self.instant, self.undone)
        self.effects.put_log_file(self.instant, partition, str(name), data)
        return [(partition, str(name), len(data))]

    def _is_commanded(self, partition: str, log: LogFileName) -> bool:
        path = joined(partition, str(log))
        blocks = (one for one in read_blocks(self.effects.storage.read(path), path) if isinstance(one, RawBlock))
        commands = (one for one in blocks if one.type is BlockType.COMMAND)
        return any(one.header.get(HeaderKey.TARGET_INSTANT_TIME) == self.undone for one in commands)


def remove(
    work: TableWork, requests: Sequence[RollbackRequest], instant: str, undone: str
) -> tuple[RollbackPartition, ...]:
    """Carry out the requests of a plan; what was done, by partition.

    Clauses: RB-003, RB-004, RB-007.
    """
    if not requests:
        return ()
    parts = max(1, min(len(requests), work.options.number(PARALLELISM)))
    tasks = [tuple(requests[at::parts]) for at in range(parts)]
    removal = Removal(work.effects, instant, undone)
    commands = work.executor.tasks(tasks, removal.run, _COMMANDS).gathered()
    added: dict[str, dict[str, int]] = {}
    for row in commands.to_pylist():
        path = absolute(work.storage, row["partition"], row["name"])
        added.setdefault(row["partition"], {})[path] = row["size"]
    partitions = dict.fromkeys(one.partition_path for one in requests)
    return tuple(_told(one, requests, added.get(one, {})) for one in partitions)


def _told(partition: str, requests: Sequence[RollbackRequest], added: dict[str, int]) -> RollbackPartition:
    own = [one for one in requests if one.partition_path == partition]
    failed = {path: size for one in own for path, size in (one.log_blocks_to_be_deleted or {}).items()}
    return RollbackPartition(
        partition, tuple(path for one in own for path in one.files_to_be_deleted), (), added, failed
    )
