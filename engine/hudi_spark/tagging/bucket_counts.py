"""How many buckets a partition has: one number for all, or by rules over the partition's path.

rules   pattern,count;pattern,count   the first pattern that is found in the path decides, else the number for all
stored  .hoodie/.bucket_index/partition_bucket_index_meta/configs/<instant>.hashing_config, JSON: these rules hold
        for the table, whatever a writer says
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from hudi_adapter.reasons import Reason
from hudi_format.errors import Reason as FormatReason
from hudi_format.json_text import read_json

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.expressions.java_patterns import python_pattern
from hudi_spark.writer_state import WriterState

COUNT_KEY: Final = "hoodie.bucket.index.num.buckets"
RULES_FOLDER: Final = ".hoodie/.bucket_index/partition_bucket_index_meta/configs"
_RULES: Final = "hoodie.bucket.index.partition.expressions"
_KIND: Final = "hoodie.bucket.index.partition.rule.type"
_SUFFIX: Final = ".hashing_config"
_REGEX: Final = "regex"
_CLAUSE: Final = "OW-022"


@dataclass(frozen=True, slots=True)
class BucketCounts:
    """The number of buckets of each partition.

    Clauses: OW-022.
    """

    default: int
    rules: tuple[tuple[re.Pattern[str], int], ...] = ()

    def of(self, partition: str) -> int:
        """The number of buckets of a partition path."""
        return next((count for pattern, count in self.rules if pattern.search(partition)), self.default)


def bucket_counts(state: WriterState) -> BucketCounts:
    """The numbers of buckets of a table: by its stored rules, or else by the options.

    Raises:
        HudiError: CONFIG_INVALID for rules that do not parse; PROPERTIES_INVALID for a stored file that does not.
        UnsupportedFeature: rules of another kind than patterns.

    Clauses: OW-022.

    """
    stored = _stored(state)
    if stored is not None:
        return stored
    default = state.options.number(COUNT_KEY)
    text = state.options.text(_RULES)
    return BucketCounts(default, parsed_rules(text, state.options.text(_KIND), _RULES) if text else ())


def parsed_rules(text: str, kind: str, place: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    """The rules in a text.

    Raises:
        HudiError: CONFIG_INVALID.
        UnsupportedFeature: another kind than patterns.

    """
    if kind.lower() != _REGEX:
        raise UnsupportedFeature(f"bucket-rules-{kind}", place)
    return tuple(_rule(part.strip(), place) for part in text.split(";") if part.strip())


def _rule(text: str, place: str) -> tuple[re.Pattern[str], int]:
    parts = [part.strip() for part in text.split(",")]
    try:
        pattern, count = parts
        found = python_pattern(pattern), int(count)
    except ValueError as error:
        hint = "write pattern,count;pattern,count"
        raise HudiError(Reason.CONFIG_INVALID, _CLAUSE, f"{text!r} is no rule: {error}", place, hint=hint) from error
    if found[1] < 1:
        raise HudiError(Reason.CONFIG_INVALID, _CLAUSE, f"{text!r} leaves no bucket", place, hint="give at least one")
    return found


def _stored(state: WriterState) -> BucketCounts | None:
    """The rules that the table keeps: the newest that no pending action is about to make."""
    pending = {one.requested for one in state.snapshot.timeline.instants if not one.is_completed}
    names = sorted(_instants(status.path for status in state.storage.list_files(RULES_FOLDER)) - pending)
    if not names:
        return None
    path = f"{RULES_FOLDER}/{names[-1]}{_SUFFIX}"
    record = read_json(state.storage.read(path), path, FormatReason.PROPERTIES_INVALID, _CLAUSE)
    if not isinstance(record, dict) or type(record.get("defaultBucketNumber")) is not int:
        message = "the file holds no rules of buckets"
        raise HudiError(Reason.PROPERTIES_INVALID, _CLAUSE, message, path, hint="restore the file")
    return BucketCounts(record["defaultBucketNumber"], _stored_rules(record, path))


def _stored_rules(record: dict[str, Any], path: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return parsed_rules(str(record.get("expressions") or ""), str(record.get("rule") or _REGEX), path)


def _instants(paths: Iterable[str]) -> set[str]:
    names = (path.rpartition("/")[2] for path in paths)
    return {name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)}
