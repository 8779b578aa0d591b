"""An implementation that knows nothing, in three kinds; it must pass no case, whatever the corpus holds."""

import argparse
from collections.abc import Callable, Mapping, Sequence

from hudi_adapter.protocol import (
    Adapter,
    Answer,
    Implementation,
    Operation,
    Rejected,
    Request,
    RowsAnswer,
    Unsupported,
    ValueAnswer,
)
from hudi_adapter.reasons import Reason
from hudi_adapter.rows import Rows
from hudi_adapter.serving import serve

ROW_OPS = ("read_snapshot", "read_as_of", "read_optimized", "read_unmerged", "read_incremental", "read_changes")
VALUE_OPS = ("list_timeline", "list_file_slices", "check_table")


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the protocol with empty answers, with one refusal, or with `unsupported`."""
    parser = argparse.ArgumentParser(prog="hudi_conformance.adapters.null")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--reason", choices=sorted(Reason), default=Reason.LOCK_UNAVAILABLE, help="of kind `reject`")
    options = parser.parse_args(arguments)
    serve(adapter(options.kind, Reason(options.reason)))


def adapter(kind: str, reason: Reason = Reason.LOCK_UNAVAILABLE) -> Adapter:
    """The null implementation of a kind: `empty`, `reject` or `unsupported`."""
    operation = KINDS[kind](reason)
    operations = dict.fromkeys((*ROW_OPS, *VALUE_OPS, "table_info"), operation)
    return Adapter(Implementation(f"null-{kind}", "0.1.0"), (), operations)


def _empty(_reason: Reason) -> Operation:
    def answer(request: Request) -> Answer:
        if request.op in ROW_OPS:
            return RowsAnswer(Rows((), ()))
        return ValueAnswer([] if request.op in VALUE_OPS else {"table_version": 0, "table_type": "COPY_ON_WRITE"})

    return answer


def _reject(reason: Reason) -> Operation:
    def answer(_request: Request) -> Answer:
        raise Rejected(reason, "this implementation refuses every table")

    return answer


def _unsupported(_reason: Reason) -> Operation:
    def answer(_request: Request) -> Answer:
        raise Unsupported("everything")

    return answer


KINDS: Mapping[str, Callable[[Reason], Operation]] = {
    "empty": _empty,
    "reject": _reject,
    "unsupported": _unsupported,
}

if __name__ == "__main__":
    main()
