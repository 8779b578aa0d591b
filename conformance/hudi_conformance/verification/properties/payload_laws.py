"""Payload classes: what version 9 makes of them, and whether rows are combined before a write."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from hudi_model import merging
from hudi_model.configuration import configure
from hudi_model.creation import PACKAGE, version_9_properties
from hudi_model.merge_modes import merge_rule
from hudi_model.merge_rules import LATEST, PAYLOADS, POSTGRES, MergeRule
from hudi_model.tables import RELEASED, TEXT

from hudi_conformance.verification.properties.merge_sequences import (
    COMMIT,
    KEY,
    data,
    row,
    same_combined,
    shown,
    wholes,
)
from hudi_conformance.verification.properties.registry import Check, Counterexample, model_property


@model_property(
    "PO-135",
    "With OverwriteWithLatestAvroPayload combining a write's rows first changes no answer",
    "PL-002 MG-017",
    refuted=True,
    holds_instead="PO-134",
    assumptions="the text's reading of PL-002",
    exhaustive=True,
)
def _overwriting_combined_or_not() -> None:
    rule = replace(COMMIT, payload=LATEST)
    same_combined(rule, wholes(rule), TEXT)


@model_property(
    "PO-136",
    "Before version 9 combining a write's rows first changes no answer",
    "PL-009 MG-017",
    refuted=True,
    holds_instead="PO-134",
    exhaustive=True,
)
def _payloads_combined_or_not() -> None:
    for name in ("AWSDmsAvroPayload", "OverwriteNonDefaultsWithLatestAvroPayload"):
        rule = payload_rule(name, 8)
        same_combined(rule, wholes(rule), RELEASED)


def payload_rule(name: str, version: int) -> MergeRule:
    """The merge rule of a table of this version whose writer named a payload class."""
    stated = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.version": str(version),
        "hoodie.table.precombine.field": "ts",
        "hoodie.compaction.payload.class": PACKAGE + name,
    }
    in_9 = {key: value for key, value in stated.items() if "payload" not in key} | version_9_properties(name, "ts")
    return merge_rule(configure(stated if version < 9 else in_9))


def alike(names: Sequence[str]) -> Check:
    """A check that classes merge rows before version 9 as version 9 merges what stands in their place."""

    def check() -> None:
        values = (None, "a", "__debezium_unavailable_value")
        for name in names:
            before, after = payload_rule(name, 6), payload_rule(name, 9)
            held = [{"ts": ts, "_event_lsn": ts, "x": x, "y": y} for ts, x, y in product((1, 2), values, (None, "b"))]
            for batch in product(held, repeat=3):
                versions = [[row(rule, **one) for one in batch] for rule in (before, after)]
                old, new = (merging.fold(rule, some)[KEY] for rule, some in zip((before, after), versions, strict=True))
                if data(old) != data(new):
                    raise Counterexample(f"{name}: {data(old)} against {data(new)}", steps=shown(*versions[0]))

    return check


model_property(
    "PO-141",
    "What version 9 makes of a payload class merges rows as the class did",
    "PL-010",
    refuted=True,
    holds_instead="PO-142",
    assumptions="released readings; no deletes",
    exhaustive=True,
)(alike([POSTGRES]))


model_property(
    "PO-142",
    "What version 9 makes of a payload class that is not of Debezium merges rows as the class did",
    "PL-010 PL-003 PL-004 PL-005 PL-006",
    broken_by="partial-update-mode-ignored payload-by-commit-time",
    assumptions="released readings; no deletes",
    exhaustive=True,
)(alike([name for name, rule in PAYLOADS.items() if not rule.ordering]))
