"""Real tables: small ones that Apache Hudi's releases write on demand, and what its reader says of them.

A recipe is a function over a `RealTable`. It stands in `recipes/<area>.py`, which is found by being there:

    @recipe("merging/partial", on=("1.0.2 v8", "1.1.1 v8", "1.1.1 v9"), types=("mor",), features=("log-avro",))
    def partial(table: RealTable) -> None:
        \"\"\"Insert, then update one column.\"\"\"
        table.configure(EVENT_TIME)
        table.write(orders(range(8), 100, "first"), "insert")

makes one table for each release, table version and type: `merging/partial-mor-1.1.1-v9` and so on. Beside the usual
questions (see `questions.py`) a recipe may ask its own: `questions=(Question("recent", "read_snapshot", {...}),)`,
where `"$0.requested"` and `"$-1.completed"` name times of the table's completed writes. Apache Hudi 1.1.1 answers
them, or the release that wrote the table (`oracle="own"`).

`hudi-conformance real build` writes what is not there yet below build/real_tables, with the answers beside it;
`real compare` asks the adapters the same. What is known to differ stands in conformance/real_tables with its reason.
"""
