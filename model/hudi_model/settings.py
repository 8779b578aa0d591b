"""The settings of writers and table services: keys under `hoodie.`, with the released defaults.

One default differs: a released writer believes to be alone unless told; the model's believes nothing.
"""

from collections.abc import Mapping

from hudi_model.rejection import Reason, Rejection

DEFAULTS = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.combine.before.insert": "false",
    "hoodie.combine.before.upsert": "true",
    "hoodie.combine.before.delete": "true",
    "hoodie.index.type": "SIMPLE",
    "hoodie.bucket.index.num.buckets": "4",
    "hoodie.bucket.index.hash.field": "",
    "hoodie.index.bucket.engine": "SIMPLE",
    "hoodie.simple.index.update.partition.path": "true",
    "hoodie.bloom.index.update.partition.path": "true",
    "hoodie.record.index.update.partition.path": "false",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.write.concurrency.early.conflict.detection.enable": "false",
    "hoodie.write.concurrency.record.key.check": "false",
    "hoodie.clustering.updates.strategy": "SparkRejectUpdateStrategy",
    "hoodie.write.record.merge.mode": "",
}
"""What a setting means where it is absent. Small files are not filled up: that is a writer's choice (OW-012)."""

CONCURRENCY_MODES = ("SINGLE_WRITER", "OPTIMISTIC_CONCURRENCY_CONTROL", "NON_BLOCKING_CONCURRENCY_CONTROL")


def setting(settings: Mapping[str, str], name: str) -> str:
    """A setting, or its default.

    Clauses: PR-008.
    """
    return settings.get(name, DEFAULTS[name])


def number(settings: Mapping[str, str], name: str) -> int:
    """A setting that is a whole number.

    Raises: CONFIG_INVALID.

    Clauses: PR-008.
    """
    text = setting(settings, name)
    if not text.removeprefix("-").isdecimal():
        raise Rejection(Reason.CONFIG_INVALID, "PR-008", name, f"{text!r} is no number")
    return int(text)


def switch(settings: Mapping[str, str], name: str) -> bool:
    """A setting that is on or off.

    Clauses: PR-008.
    """
    return setting(settings, name).lower() == "true"


def concurrency_mode(settings: Mapping[str, str]) -> str:
    """How a writer shares the table with others.

    Raises: CONFIG_INVALID.

    Clauses: OW-001.
    """
    mode = setting(settings, "hoodie.write.concurrency.mode").upper()
    if mode not in CONCURRENCY_MODES:
        raise Rejection(Reason.CONFIG_INVALID, "OW-001", "hoodie.write.concurrency.mode", f"{mode!r} is no mode")
    return mode


def beats_heart(settings: Mapping[str, str]) -> bool:
    """Whether a write keeps a heartbeat: where failed writes are told from living ones by it.

    Clauses: MK-005.
    """
    return setting(settings, "hoodie.clean.failed.writes.policy").upper() == "LAZY"
