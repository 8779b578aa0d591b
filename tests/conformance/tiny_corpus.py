"""A corpus of two small tables and an adapter that does what a case's parameters tell it to."""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from hudi_conformance.runner import manifest
from hudi_conformance.runner.archive import pack

Params = dict[str, Any]
ROWS = (
    '{"schema":[{"name":"id","type":"string"},{"name":"n","type":"int64"}]}\n'
    '{"id":"k1","n":"1"}\n{"id":"k2","n":null}\n'
)
OTHER_ROWS = ROWS.replace('"n":"1"', '"n":"2"')
CLAUSES = textwrap.dedent("""\
    # Reading

    ## RD-001 Snapshot read time
    - level: must
    - versions: 8, 9
    - stated_in: model
    - source: release-1.1.1

    A snapshot shows what was complete when the read began.

    ## RD-007 Order of logs
    - level: must
    - versions: 8, 9
    - stated_in: model
    - source: release-1.1.1
    - readings: text, released

    Logs are merged in an order.
    """)

FAKE = """\
import json, os, sys, time

def say(message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        who = {"name": "fake", "version": "1", "language": "python"}
        say({"protocol": 1, "implementation": who, "features": [], "ops": ["read_snapshot"]})
        continue
    do, seq = message["params"].get("do", "rows"), message["seq"]
    if do == "rows":
        with open(os.path.join(message["out_dir"], "r.jsonl"), "w", encoding="utf-8") as out:
            out.write(message["params"]["text"])
        answer = {"result": {"rows_file": "r.jsonl"}}
        if "warn" in message["params"]:
            answer["warnings"] = [{"clause": message["params"]["warn"], "message": "skipped"}]
        say({"seq": seq, **answer})
    elif do == "value":
        say({"seq": seq, "result": {"value": message["params"]["value"]}})
    elif do == "reject":
        say({"seq": seq, "rejected": {"reason": message["params"]["reason"], "message": "no"}})
    elif do == "unsupported":
        say({"seq": seq, "unsupported": {"feature": "log-hfile"}})
    elif do == "errored":
        say({"seq": seq, "errored": {"message": "boom", "traceback": "Traceback ..."}})
    elif do == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)
    elif do == "hang":
        time.sleep(600)
    elif do == "garbage":
        print("INFO not a message", flush=True)
    elif do == "wrong_seq":
        say({"seq": "other", "unsupported": {"feature": "x"}})
    elif do == "see_table":
        found = sorted(os.path.relpath(os.path.join(top, name), message["table"])
                       for top, folders, files in os.walk(message["table"]) for name in folders + files)
        times = {name: int(os.stat(os.path.join(message["table"], name)).st_mtime * 1000) for name in found}
        os.unlink(os.path.join(message["table"], ".hoodie", "hoodie.properties"))
        say({"seq": seq, "result": {"value": {"names": found, "times": times}}})
"""


class TinyCorpus:
    """Grows a suite's root case by case."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "golden_tables").mkdir(parents=True)
        (root / "adapters").mkdir()
        (root / "specs" / "clauses").mkdir(parents=True)
        (root / "specs" / "clauses" / "reading.md").write_text(CLAUSES, encoding="utf-8")
        script = root / "fake_adapter.py"
        script.write_text(FAKE, encoding="utf-8")
        self.command = f"{sys.executable} {script}"
        lines = f'name = "fake"\ncommand = ["{{python}}", "{script}"]\nlanguage = "python"\n'
        (root / "adapters" / "fake.toml").write_text(lines, encoding="utf-8")

    def table(self, table_id: str = "v9/tiny") -> Path:
        """A folder with two files, one of them hidden, and an empty folder."""
        folder = self.root / "golden_tables" / table_id
        if folder.is_dir():
            return folder
        files = self.root / "files" / table_id
        (files / ".hoodie" / "timeline").mkdir(parents=True)
        (files / "city=Zürich").mkdir()
        (files / ".hoodie" / "hoodie.properties").write_text("hoodie.table.name=t\n", encoding="utf-8")
        (files / "city=Zürich" / "f1.parquet").write_bytes(b"PAR1")
        folder.mkdir(parents=True)
        pack(files, folder / "table.zip")
        version = table_id.split("/", maxsplit=1)[0][1:]
        (folder / "table.toml").write_text(
            f'id = "{table_id}"\ntitle = "Tiny"\ntable_version = {version}\nfeatures = ["table-version-{version}"]\n'
            + manifest.render(manifest.scan(files, manifest.WRITTEN_MS)),
            encoding="utf-8",
        )
        self.answers(folder, rows=entry_of(ROWS), other=entry_of(OTHER_ROWS))
        return folder

    def answers(self, folder: Path, **entries: Any) -> None:
        """Keep more answers of a table, each as an entry of its expected.json."""
        path = folder / "expected.json"
        there = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        path.write_text(json.dumps({**there, **entries}), encoding="utf-8")

    def case(  # noqa: PLR0917 - a case has these parts
        self,
        name: str,
        params: dict[str, Any],
        outcome: str = 'expect = "rows"',
        table_id: str = "v9/tiny",
        clauses: tuple[str, ...] = ("RD-001",),
        op: str = "read_snapshot",
    ) -> str:
        """One more case; its full id."""
        path = self.table(table_id) / "table.toml"
        lines = [
            "[[case]]",
            f'id = "{name}"',
            f'title = "The case {name}"',
            f"clauses = {json.dumps(list(clauses))}",
            'kills = ["some-mutant"]',
            'given = "a table"\nwhen = "it is read"\nthen = "its rows are there"',
            "[[case.steps]]",
            f'op = "{op}"',
            outcome,
            "[case.steps.params]",
            *(f"{key} = {_toml(value)}" for key, value in params.items()),
        ]
        path.write_text(path.read_text(encoding="utf-8") + "\n" + "\n".join(lines) + "\n", encoding="utf-8")
        return f"conformance::{table_id}::{name}"


def entry_of(lines: str) -> dict[str, Any]:
    schema, *rows = map(json.loads, lines.splitlines())
    return {**schema, "rows": rows}


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)
