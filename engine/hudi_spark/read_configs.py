"""The options that a read takes; which they are stands in the one catalogue of keys."""

from collections.abc import Mapping
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.options.catalogue import Catalogue, nearest, the_catalogue
from hudi_spark.options.entries import Entry, Status
from hudi_spark.options.resolving import resolve

BY_POSITIONS: Final = "hoodie.merge.use.record.positions"
FALLBACK: Final = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
END_SCHEMA: Final = "hoodie.datasource.read.schema.use.end.instanttime"
# What Hudi's own readers must be given and this one finds in the table: taken, and without effect.
_KEPT_BY_THE_TABLE: Final = (
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.streamer.keygen.timebased.",
)
_SCOPE: Final = "read"


def check_configs(configs: Mapping[str, str]) -> None:
    """Nothing when a read takes every key.

    Raises:
        HudiError: CONFIG_INVALID for a key that is neither honoured by reads nor known to have no effect on them.

    Clauses: RD-001.

    """
    catalogue = the_catalogue()
    for name in configs:
        entry = catalogue.find(name)
        if not _is_taken(entry, name):
            raise HudiError(Reason.CONFIG_INVALID, "RD-001", _message(name, entry), hint=_hint(catalogue, name, entry))


def of_reads(configs: Mapping[str, str]) -> dict[str, str]:
    """What reads take of the options of a table that is read and written, by current names.

    Raises:
        HudiError: CONFIG_INVALID for a key that neither reads nor writes take, and for a bad value.

    Clauses: PR-022.

    """
    catalogue = the_catalogue()
    return {key: value for key, value in resolve(configs).values.items() if _is_taken(catalogue.names.get(key), key)}


def _is_taken(entry: Entry | None, name: str) -> bool:
    """Reads look their options up by Hudi's own names, old ones too."""
    return (
        entry is not None
        and name.startswith("hoodie.")
        and (_SCOPE in entry.scopes or name.startswith(_KEPT_BY_THE_TABLE))
        and entry.status is not Status.REFUSED
    )


def _message(name: str, entry: Entry | None) -> str:
    known = f": {entry.says}" if entry is not None and entry.says else ""
    return f"{name} is no option of a read{known}"


def _hint(catalogue: Catalogue, name: str, entry: Entry | None) -> str:
    if entry is not None and _is_taken(entry, entry.key):
        return f"give it as {entry.key}"
    if entry is not None:
        return entry.because if _SCOPE in entry.scopes else f"it belongs to {' and '.join(sorted(entry.scopes))}"
    meant = nearest(name, (known for known, one in catalogue.names.items() if _is_taken(one, known)))
    return f"did you mean {meant}?" if meant else "docs/configuration.md lists the options of a read"
