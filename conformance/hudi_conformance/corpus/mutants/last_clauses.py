"""Rules of new tables, of indexes that are being built and of rebuilt tables, broken."""

from collections.abc import Iterator, Mapping

from hudi_model.actions import IndexDefinition
from hudi_model.configuration import Configuration, property_names
from hudi_model.creation import MODE, PACKAGE, PAYLOAD, PAYLOAD_OF_MODE, STRATEGY, without
from hudi_model.effects import Effects
from hudi_model.files import Schema
from hudi_model.indexes import Contents
from hudi_model.merge_modes import mode_of_payload, mode_of_strategy
from hudi_model.merge_rules import MergeMode
from hudi_model.metadata import BUILT
from hudi_model.slicing import data_files
from hudi_model.tables import Table, View, open_table
from hudi_model.time import InstantTime
from hudi_model_tools.checks.finding import Violation

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "new-modes-by-ordering-alone",
    "MG-015",
    "What a new table states of merging without a mode does not matter.",
    "creation.merging_stated",
)
def _new_modes_by_ordering_alone(_: Function) -> Function:
    def unheard(stated: Mapping[str, str]) -> dict[str, str]:
        return dict(stated) if MODE in stated else without(stated, PAYLOAD, STRATEGY)

    return unheard


@mutant(
    "strategy-first-in-every-version",
    "MG-015 MG-009",
    "The strategy id of a new table decides in version 6, too.",
    "creation.merging_stated",
)
def _strategy_first_in_every_version(original: Function) -> Function:
    def strategy_alone(stated: Mapping[str, str]) -> dict[str, str]:
        properties: dict[str, str] = original(without(stated, PAYLOAD) if stated.get(STRATEGY) else stated)
        return properties

    return strategy_alone


@mutant(
    "payload-first-in-every-version",
    "MG-015",
    "The payload class decides in every version.",
    "creation.mode_of_names",
)
def _payload_first_in_every_version(_: Function) -> Function:
    def payload_first(configuration: Configuration) -> MergeMode | None:
        return mode_of_payload(configuration) or mode_of_strategy(configuration)

    return payload_first


def _by(mode: MergeMode) -> None:
    """A mutant whose new tables merge by one mode where they say nothing."""
    word = mode.value.partition("_")[0].lower()
    chosen = {MODE: mode.value, PAYLOAD: PACKAGE + PAYLOAD_OF_MODE[mode]}

    @mutant(
        f"new-modes-by-{word}-time",
        "MG-015",
        f"A new table that says nothing of merging merges by {word} time.",
        "creation.merging_stated",
    )
    def _replacement(original: Function) -> Function:
        def decided(stated: Mapping[str, str]) -> dict[str, str]:
            properties: dict[str, str] = original(stated)
            return properties if {MODE, PAYLOAD} & properties.keys() else {**properties, **chosen}

        return decided


for _mode in PAYLOAD_OF_MODE:
    _by(_mode)


@mutant(
    "new-tables-contradict-themselves",
    "MG-016 MG-015",
    "A new table may state two ways of merging.",
    "creation.refuse_contradiction",
)
def _new_tables_contradict_themselves(_: Function) -> Function:
    return lambda _configuration: None


@mutant(
    "given-up-payloads-contradict-their-modes",
    "MG-016 PL-010",
    "A payload class that version 9 gives up agrees with custom merging alone.",
    "creation.mode_of_given_up_payload",
)
def _given_up_payloads_contradict_their_modes(_: Function) -> Function:
    return lambda _configuration: None


@mutant(
    "rebuild-reports-nothing-unknown",
    "SR-011",
    "A rebuild does not report what it cannot know.",
    "hudi_model_tools.recovery.unknown",
)
def _rebuild_reports_nothing_unknown(_: Function) -> Function:
    return tuple


@mutant(
    "recovery-forgets-waiting-compactions",
    "SR-010 RD-008",
    "In a rebuilt table of version 6 a slice without a base file begins anew.",
    "hudi_model_tools.recovery.waiting",
)
def _recovery_forgets_waiting_compactions(_: Function) -> Function:
    return lambda _table: ()


@mutant(
    "recovery-takes-the-first-write-alone",
    "SR-011 SR-010",
    "Of a rebuilt table the first write counts, and no other.",
    "hudi_model_tools.recovery.recovered",
)
def _recovery_takes_the_first_write_alone(original: Function) -> Function:
    def first_alone(table: Table, instant: InstantTime, schema: Schema) -> Effects:
        found: Effects = original(table, instant, schema)
        return found if instant == min(one.instant for one in data_files(table)) else ()

    return first_alone


@mutant(
    "writers-ignore-indexes-being-built",
    "IG-003",
    "A write logs to the indexes that readers use, and to no other.",
    "metadata.logged_to",
)
def _writers_pass_by_what_is_being_built(original: Function) -> Function:
    def in_use(table: Table, metadata: Table) -> tuple[IndexDefinition, ...]:
        names = property_names(open_table(table).configuration.properties, BUILT)
        return tuple(one for one in original(table, metadata) if one.name in names)

    return in_use


@mutant(
    "indexes-being-built-unchecked",
    "IG-003",
    "An index that is being built may lack what completed since.",
    "hudi_model_tools.checks.building.being_built",
)
def _indexes_being_built_unchecked(_: Function) -> Function:
    return lambda _view, _metadata: ()


@mutant(
    "logs-to-new-indexes-unseen",
    "IG-003",
    "Of an index that is being built a check reads nothing.",
    "hudi_model_tools.checks.building.passed_by",
)
def _logs_to_new_indexes_unseen(original: Function) -> Function:
    def unseen(index: IndexDefinition, view: View, metadata: Table, _stored: Contents) -> Iterator[Violation]:
        found: Iterator[Violation] = original(index, view, metadata, {})
        return found

    return unseen
