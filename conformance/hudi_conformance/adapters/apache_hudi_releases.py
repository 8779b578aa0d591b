"""What each line of Apache Hudi's releases can be asked."""

from pathlib import Path

from hudi_adapter.protocol import Unsupported
from hudi_format.errors import FormatError
from hudi_format.table.properties import parse_properties

from hudi_conformance.adapters.apache_hudi_writing import PROPERTIES

FEATURES = (
    "table-version-4",
    "table-version-5",
    "table-version-6",
    "table-version-8",
    "table-version-9",
    "cow",
    "mor",
    "log-avro",
    "log-delete",
    "log-rollback",
    "log-corrupt",
    "log-parquet",
    "base-parquet",
    "base-orc",
    "record-positions",
    "log-compaction",
    "payload-DefaultHoodieRecordPayload",
    "payload-OverwriteWithLatestAvroPayload",
    "schema-evolution",
    "merge-commit-time",
    "merge-event-time",
    "time-travel",
    "read-optimized",
    "filter",
    "projection",
    "meta-columns",
    "history",
    "incremental",
    "cdc",
    "log-cdc",
)

# What a line of releases does not have yet.
_LACKING = {
    "0.": ("table-version-8", "table-version-9", "record-positions", "merge-commit-time", "merge-event-time"),
    "1.0.": ("table-version-9",),
}

_NEWEST_VERSION, _LAST_VERSION = {"0.": 6, "1.0.": 8}, 9


def features_of(version: str) -> tuple[str, ...]:
    """What a release has of the features: the newest ones all of them."""
    line = next((line for line in _LACKING if version.startswith(line)), "")
    return tuple(feature for feature in FEATURES if feature not in _LACKING.get(line, ()))


def too_new(table: Path, release: str) -> Unsupported | None:
    """That a table is of a version which came after the release, whatever the release says of it."""
    for name in (PROPERTIES, f"{PROPERTIES}.backup"):
        try:
            return newer(parse_properties((table / name).read_bytes(), name).get("hoodie.table.version"), release)
        except (OSError, FormatError):
            continue
    return None


def newer(version: object, release: str) -> Unsupported | None:
    """That a table version came after the release; a version that there is not is for the release to refuse."""
    newest = next((known for line, known in _NEWEST_VERSION.items() if release.startswith(line)), _LAST_VERSION)
    later = {str(known) for known in range(newest + 1, _LAST_VERSION + 1)}
    return Unsupported(f"table-version-{version}") if str(version) in later else None
