"""Examples of every command, which end its `--help` and its entry in the reference of the command line."""

from collections.abc import Mapping

import typer

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": (
        "run --adapter adapter.toml --report build/report",
        "run -a adapter.toml --area timeline --require timeline --minimum 95",
        "run -a adapter.toml --report build/run --trend build/run --summary s.md",
        "run -a model -a engine-in-process --case 'v9/mor_*::snapshot' --jobs 2",
    ),
    "list": ("list --area merging", "list --clause TL-004 --json", "list --adapters"),
    "new-adapter": ("new-adapter my-reader --language python",),
    "lint-adapter": ("lint-adapter adapter.toml skips.toml expected-failures.toml",),
    "smoke": ("smoke --adapter adapter.toml", "smoke --adapter 'python adapter.py'"),
    "repro": (
        "repro v9/mor_event_time_late_data::snapshot --adapter adapter.toml",
        "repro v9/mor_event_time_late_data::snapshot -a model --keep build/kept",
    ),
    "fuzz": (
        "fuzz --adapter adapter.toml --histories 20 --save build/failing",
        "fuzz -a engine-in-process --minutes 5 --table-version 9 --no-services",
    ),
    "lint": ("lint",),
    "clause": ("clause TL-014", "clause tl-14 MG3 --all", "clause TL-014 --json"),
    "specs": ("specs", "specs --shard 1/3", "specs Recovery --no-apalache"),
    "report": ("report build/run build/report", "report build/runs build/report --all-cases"),
    "check-table": (
        "check-table lake/rides",
        "check-table lake/rides lake/orders --deep --html build/tables.html",
        "check-table --below lake --json",
        "check-table s3://bucket/rides --option aws_region=eu-north-1",
    ),
    "timeline": ("timeline lake/rides", "timeline lake/rides --history --svg timeline.svg"),
    "prove": ("prove", "prove PO-262", "prove PO-262 --mutant local-timestamps-are-instants"),
    "explore": ("explore list", "explore writers --crashes 1", "explore writers --draw build/writers.html"),
    "counterexample": ("counterexample violation.itf.json --draw build/steps.html",),
    "impact": ("impact --base main", "impact --base HEAD~1 --html build/impact.html"),
    "trace": ("trace build/trace.ndjson", "trace build/trace.ndjson --model"),
    "golden build": ("golden build", "golden build v9/mor_event_time_late_data --kills"),
    "golden unpack": ("golden unpack v9/bad_saved_file_gone build/tables/gone",),
    "golden diff": ("golden diff v8/mor_event_time_late_data v9/mor_event_time_late_data",),
    "golden check": ("golden check",),
    "interleavings count": ("interleavings count",),
    "interleavings run": ("interleavings run writers-same-cow-6", "interleavings run --adapter engine-in-process"),
    "interleavings draw": ("interleavings draw writers-same-cow-6",),
    "interleavings soak": ("interleavings soak",),
    "interleavings page": ("interleavings page",),
    "mixed-writers check": ("mixed-writers check --count 2",),
    "mixed-writers soak": ("mixed-writers soak --count 20",),
    "mixed-writers repeat": ("mixed-writers repeat build/mixed/1.json",),
    "mixed-writers draw": ("mixed-writers draw 7",),
    "mutants list": ("mutants list",),
    "mutants row": ("mutants row local-timestamps-are-instants",),
    "mutants column": ("mutants column v9/mor_event_time_late_data::snapshot",),
    "mutants matrix": ("mutants matrix",),
    "mutants page": ("mutants page",),
    "peers run": ("peers run --changed", "peers run v9/mor_event_time_late_data -a hudi-rs"),
    "peers check": ("peers check",),
    "peers page": ("peers page",),
    "peers fetch": ("peers fetch",),
    "peers write-tables": ("peers write-tables build/tables v9/apache_mor_moved",),
    "real list": ("real list basics",),
    "real build": ("real build basics --bundle 1.1.1", "real build --minutes 10"),
    "real compare": ("real compare basics -a engine-in-process",),
    "real sample": ("real sample",),
    "real check": ("real check basics",),
    "stress run": ("stress run --setting v9-mor-optimistic-file --seconds 30", "stress run --seed 7 --no-kills"),
    "stress soak": ("stress soak --seconds 60",),
    "stress settings": ("stress settings",),
    "writes array": ("writes array --writer engine-in-process --reader model",),
    "writes matrix": ("writes matrix --writer model --reader engine-in-process --sample",),
}
"""What follows the program's name, by command; what stands there for a path need not be."""


def add_examples(app: typer.Typer, group: str = "") -> None:
    """Let the commands of an app, that of a group or the whole, end their help with their examples."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        shown = (f"hudi-conformance {one}" for one in EXAMPLES.get(f"{group} {name}".strip(), ()))
        command.epilog = "\n".join(("Examples:", *shown))
