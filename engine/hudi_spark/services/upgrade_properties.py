"""What each step between table versions changes in the properties.

Clauses: VR-007, VR-008, VR-009, PR-006, PR-007, PL-010.
"""

from collections.abc import Mapping
from typing import Final

from hudi_spark.errors import HudiError, Reason
from hudi_spark.keys import CLASSES, generator_type
from hudi_spark.merge import BY_PAYLOAD, PARTIAL_UPDATES, PAYLOAD_MODES, PROPERTY, STRATEGIES, MergeMode, payload_name
from hudi_spark.write import PAYLOAD_OF_MODE, STRATEGY_OF_MODE, TRANSLATED

Changes = dict[str, str | None]
"""New values by key, None for a key that goes."""

_VERSION: Final = "hoodie.table.version"
_MODE: Final = "hoodie.record.merge.mode"
_STRATEGY: Final = "hoodie.record.merge.strategy.id"
_PAYLOAD: Final = "hoodie.compaction.payload.class"
_LEGACY: Final = "hoodie.table.legacy.payload.class"
_ORDERING: Final = "hoodie.table.ordering.fields"
_PRECOMBINE: Final = "hoodie.table.precombine.field"
_GENERATOR_CLASS: Final = "hoodie.table.keygenerator.class"
_GENERATOR_TYPE: Final = "hoodie.table.keygenerator.type"
_BOOTSTRAP_CLASS: Final = "hoodie.bootstrap.index.class"
_BOOTSTRAP_TYPE: Final = "hoodie.bootstrap.index.type"
_BOOTSTRAP_CLASSES: Final = {
    "HFILE": "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex",
    "NO_OP": "org.apache.hudi.common.bootstrap.index.NoOpBootstrapIndex",
}
_DEFAULT_PAYLOAD: Final = PAYLOAD_OF_MODE["EVENT_TIME_ORDERING"]
_SEQUENCE_OF_MYSQL: Final = "_event_seq"
_MYSQL: Final = "MySqlDebeziumAvroPayload"
# What 6 has no key for; a new table's archive lies where the history was.
_ONLY_NEWER: Final = (
    _MODE,
    _STRATEGY,
    "hoodie.timeline.path",
    "hoodie.timeline.history.path",
    "hoodie.table.multiple.base.file.formats.enable",
    "hoodie.table.format",
    _GENERATOR_TYPE,
    _BOOTSTRAP_TYPE,
)


def step_changes(properties: Mapping[str, str], old: int, new: int) -> Changes:
    """The changes of one step: 6 to 8, 8 to 9, 9 to 8 or 8 to 6.

    Raises:
        HudiError: CONFIG_INVALID for what the lower version cannot say.

    Clauses: VR-004, VR-007, VR-008, VR-009.

    """
    changes = _STEPS[old, new](properties)
    return {**changes, _VERSION: str(new)}


def applied(properties: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The properties with changes made."""
    return {key: value for key, value in {**properties, **changes}.items() if value is not None}


def _six_to_eight(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-007, PR-007."""
    generator = properties.get(_GENERATOR_CLASS, "").strip()
    index = properties.get(_BOOTSTRAP_CLASS, "").strip()
    kinds = {name: kind for kind, name in _BOOTSTRAP_CLASSES.items()}
    return {
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.table.initial.version": properties.get("hoodie.table.initial.version") or "6",
        **({_GENERATOR_TYPE: generator_type(generator)} if generator else {}),
        **({_BOOTSTRAP_TYPE: kinds.get(index, "HFILE")} if index else {}),
        **_stated_merging(properties),
    }


def _stated_merging(properties: Mapping[str, str]) -> Changes:
    """Mode, strategy id and payload class; a copy-on-write table of 0.15 without class orders by its ordering fields.

    Clauses: VR-007.
    """
    payload = properties.get(_PAYLOAD, "").strip()
    if payload and payload_name(payload) not in PAYLOAD_MODES:
        return {_PAYLOAD: payload, _MODE: "CUSTOM", _STRATEGY: BY_PAYLOAD}
    on_read = properties.get("hoodie.table.type", "").strip() == "MERGE_ON_READ"
    ordered = bool(_ordering(properties))
    event = payload == _DEFAULT_PAYLOAD or (ordered and (on_read or not payload))
    mode: MergeMode = "EVENT_TIME_ORDERING" if event else "COMMIT_TIME_ORDERING"
    return {_PAYLOAD: PAYLOAD_OF_MODE[mode], _MODE: mode, _STRATEGY: STRATEGY_OF_MODE[mode]}


def _eight_to_nine(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-008, PL-010."""
    payload = properties.get(_PAYLOAD, "").strip()
    changes: Changes = {}
    if properties.get(_MODE, "").strip() != "CUSTOM":
        changes[_STRATEGY] = None
    if _ordering(properties):
        changes |= {_ORDERING: _ordering(properties), _PRECOMBINE: None}
    meant = TRANSLATED.get(payload)
    if meant is None or _names_merger(properties):
        return changes
    changes |= {_LEGACY: payload, _PAYLOAD: None, _MODE: meant.mode, _STRATEGY: None}
    changes |= {PROPERTY + key: value for key, value in (meant.merge_properties or {}).items()}
    if meant.partial:
        changes[PARTIAL_UPDATES] = meant.partial
    if meant.ordering:
        changes |= {_ORDERING: meant.ordering, _PRECOMBINE: None}
    return changes


def _nine_to_eight(properties: Mapping[str, str]) -> Changes:
    """The released downgrade leaves the delete properties of Debezium payloads behind; here they go, too.

    Clauses: VR-008.
    """
    legacy = properties.get(_LEGACY, "").strip()
    changes: Changes = {PARTIAL_UPDATES: None}
    meant = TRANSLATED.get(legacy)
    if _partial(properties) and (meant is None or meant.partial != _partial(properties)):
        raise _unsayable(
            f"{PARTIAL_UPDATES} is {_partial(properties)}, which version 8 says by payload classes only",
            f"set {PARTIAL_UPDATES} to NONE in the table's properties, where that is what is wanted",
        )
    built = _built_mode(properties)
    if built is not None:
        changes[_STRATEGY] = STRATEGY_OF_MODE[built]
    if _ordering(properties):
        changes |= {_PRECOMBINE: _ordering(properties), _ORDERING: None}
    if meant is not None:
        changes |= _payload_again(legacy, properties)
    return changes


def _payload_again(legacy: str, properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-008."""
    changes: Changes = {_LEGACY: None, _PAYLOAD: legacy}
    meant = TRANSLATED[legacy]
    for key, value in (meant.merge_properties or {}).items():
        if properties.get(PROPERTY + key) == value:
            changes[PROPERTY + key] = None
    if payload_name(legacy) not in PAYLOAD_MODES:
        changes |= {_MODE: "CUSTOM", _STRATEGY: BY_PAYLOAD}
    if payload_name(legacy) == _MYSQL:
        changes |= {_PRECOMBINE: _SEQUENCE_OF_MYSQL, _ORDERING: None}
    return changes


def _eight_to_six(properties: Mapping[str, str]) -> Changes:
    """Clauses: VR-007, VR-009, PR-007."""
    changes: Changes = dict.fromkeys(_ONLY_NEWER)
    changes |= {"hoodie.timeline.layout.version": "1", "hoodie.archivelog.folder": "archived"}
    payload, custom = properties.get(_PAYLOAD, "").strip(), properties.get(_MODE, "").strip() == "CUSTOM"
    if _names_merger(properties) or (custom and not payload):
        raise _unsayable(
            f"the table merges by its own merger {properties.get(_STRATEGY, '')!r}, which version 6 cannot name",
            "keep the table at version 8, or write it anew with a payload class",
        )
    default: MergeMode = "EVENT_TIME_ORDERING" if _ordering(properties) else "COMMIT_TIME_ORDERING"
    changes[_PAYLOAD] = payload or PAYLOAD_OF_MODE[_built_mode(properties) or default]
    if _ordering(properties):
        changes |= {_PRECOMBINE: _ordering(properties), _ORDERING: None}
    fields = properties.get("hoodie.table.partition.fields", "")
    if ":" in fields:
        changes["hoodie.table.partition.fields"] = ",".join(one.strip().partition(":")[0] for one in fields.split(","))
    changes[_GENERATOR_CLASS] = properties.get(_GENERATOR_CLASS) or CLASSES.get(properties.get(_GENERATOR_TYPE, ""))
    kind = properties.get(_BOOTSTRAP_TYPE, "").strip()
    changes[_BOOTSTRAP_CLASS] = properties.get(_BOOTSTRAP_CLASS) or _BOOTSTRAP_CLASSES.get(kind)
    return changes


def _ordering(properties: Mapping[str, str]) -> str:
    return properties.get(_ORDERING, "").strip() or properties.get(_PRECOMBINE, "").strip()


def _built_mode(properties: Mapping[str, str]) -> MergeMode | None:
    """The mode, where it is one of the two that need no merger."""
    return next((mode for mode in PAYLOAD_OF_MODE if mode == properties.get(_MODE, "").strip()), None)


def _partial(properties: Mapping[str, str]) -> str:
    found = properties.get(PARTIAL_UPDATES, "").strip()
    return "" if found == "NONE" else found


def _names_merger(properties: Mapping[str, str]) -> bool:
    named = properties.get(_STRATEGY, "").strip()
    custom = properties.get(_MODE, "").strip() == "CUSTOM"
    return custom and named not in ("", BY_PAYLOAD, *STRATEGIES)


def _unsayable(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "VR-009", message, hint=hint)


_STEPS: Final = {
    (6, 8): _six_to_eight,
    (8, 9): _eight_to_nine,
    (9, 8): _nine_to_eight,
    (8, 6): _eight_to_six,
}
