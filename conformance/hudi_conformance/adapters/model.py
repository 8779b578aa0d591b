"""The model as an adapter: `python -m hudi_conformance.adapters.model [--mutant NAME] [--reading text]`."""

import argparse
import importlib
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from hudi_adapter.protocol import (
    Adapter,
    Answer,
    AnswerWarning,
    Implementation,
    Operation,
    Rejected,
    Request,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
)
from hudi_adapter.serving import serve
from hudi_format.errors import FormatError
from hudi_model import rejection
from hudi_model.queries import Warning as ModelWarning
from hudi_model.tables import RELEASED, Readings

from hudi_conformance.bridge import load_for, writing
from hudi_conformance.bridge.operations import OPERATIONS, READINGS, ModelAnswer, evaluate

FEATURES = (
    "table-version-4",
    "table-version-5",
    "table-version-6",
    "table-version-8",
    "table-version-9",
    "table-version-10",
    "cow",
    "mor",
    "log-avro",
    "log-delete",
    "log-rollback",
    "log-corrupt",
    "log-parquet",
    "log-hfile",
    "log-compaction",
    "base-parquet",
    "merge-commit-time",
    "merge-event-time",
    "merge-custom",
    "partial-update",
    "payload",
    "operation-field",
    "time-travel",
    "read-optimized",
    "filter",
    "projection",
    "meta-columns",
    "virtual-keys",
    "history",
    "clock",
    "schema-evolution",
    "schema-on-read",
    "bootstrap",
    "drop-partition-columns",
    "incremental",
    "cdc",
    "log-cdc",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the protocol, with one rule broken where configured."""
    parser = argparse.ArgumentParser(prog="hudi_conformance.adapters.model")
    parser.add_argument("--mutant", help="answer with this one rule broken")
    parser.add_argument("--reading", choices=sorted(READINGS), default="released", help="where a clause has two")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        if options.mutant:
            # Hundreds of rules broken: a process that breaks none starts without them.
            mutants = importlib.import_module("hudi_conformance.corpus.mutants")
            if options.mutant not in mutants.MUTANTS:
                parser.error(f"no mutant is named {options.mutant}: hudi-conformance mutants list")
            stack.enter_context(mutants.mutated(mutants.MUTANTS[options.mutant]))
        serve(adapter(READINGS[options.reading], options.mutant))


def adapter(
    readings: Readings = RELEASED, mutant: str | None = None, *, makes_metadata_tables: bool = False
) -> Adapter:
    """The model under the given readings; `makes_metadata_tables`: where the settings of a write request one."""
    name = f"model with {mutant}" if mutant else "model"
    session = writing.Session(makes_metadata_tables=makes_metadata_tables)
    operations = {
        **{op: _refusing(partial(_read, readings)) for op in OPERATIONS},
        **{op: _refusing(partial(_write, session)) for op in writing.OPERATIONS},
    }
    return Adapter(Implementation(name, "0.1.0"), FEATURES, operations)


def _read(readings: Readings, request: Request) -> Answer:
    return _answer(evaluate(load_for(request.op, request.table, request.params), request.op, request.params, readings))


def _write(session: writing.Session, request: Request) -> Answer:
    value = session.run(request.op, request.table, request.params)
    return ValueAnswer(value, tuple(AnswerWarning(*one) for one in session.warnings))


def _refusing(operation: Operation) -> Operation:
    """The operation, its errors in the protocol's words."""

    def answer(request: Request) -> Answer:
        try:
            return operation(request)
        except rejection.Rejection as refusal:
            raise Rejected(refusal.reason.value, str(refusal), refusal.clause) from refusal
        except FormatError as error:
            raise Rejected(str(error.reason), str(error), error.clause) from error
        except rejection.Unsupported as lack:
            raise Unsupported(lack.feature) from lack

    return answer


def _answer(answered: ModelAnswer) -> Answer:
    warnings = tuple(map(_warning, answered.warnings))
    return RowsAnswer(answered.content, warnings) if answered.has_rows else ValueAnswer(answered.content, warnings)


def _warning(warning: ModelWarning) -> AnswerWarning:
    return AnswerWarning(warning.clause, warning.message, warning.file, warning.offset)


if __name__ == "__main__":
    main()
