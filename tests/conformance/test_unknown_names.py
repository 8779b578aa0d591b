"""A name that there is not is one line with the nearest that there is, and exit code 2, before anything is done."""

import shlex
import sys

import pytest
from hudi_conformance.cli import main

LATE = "v9/mor_event_time_late_data"
MISSPELT = {
    f"golden unpack {LATE[:-1]} x": LATE,
    f"golden diff {LATE[:-1]} {LATE}": LATE,
    f"golden build {LATE[:-1]}": LATE,
    "explore writer": "writers",
    "explore writers --mutant local-timestamps-are-instant": "local-timestamps-are-instants",
    "prove --mutant local-timestamps-are-instant": "local-timestamps-are-instants",
    "mutants row local-timestamps-are-instant": "local-timestamps-are-instants",
    f"mutants column {LATE}::snapshto": f"{LATE}::snapshot",
    "interleavings draw writers-same-cow": "writers-same-cow-",
    "interleavings run writers-sme-cow-6": "writers-same-cow-6",
    "stress run --setting v9-mor-optimistic-fil": "v9-mor-optimistic-file",
    "stress run --lock fil": "file",
    "real list basics/appended-cow-1.1.1-v7": "basics/appended-cow-1.1.1-v",
    "real list --bundle 1.1": "1.1.1",
    "real sample --adapter modl": "model",
    f"peers run {LATE[:-1]}": LATE,
    "peers run -a hudi-r": "hudi-rs",
    "writes array --writer modl": "model",
    "mixed-writers check --engine modl": "model",
    "fuzz -a modl": "model",
    f"repro {LATE}::snapshto -a model": f"{LATE}::snapshot",
    f"list --case {LATE}::snapshto": f"{LATE}::snapshot",
    "run -a model --smoke-sample modl": "model",
    "run -a model --reader modl": "model",
    "run -a model --require mergi": "merging",
    "check-table . -a modl": "model",
    "clause TL-14x": "",
    "fuzz -a model --table-version 7": "",
    "list --table-version 7": "",
    "new-adapter x --language pyt": "python",
    "specs Recover": "Recovery",
    "new-adapter x": "",
}


@pytest.mark.parametrize("command", MISSPELT)
def test_an_unknown_name_suggests_the_nearest(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["hudi-conformance", *shlex.split(command)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert "Traceback" not in printed.out + printed.err
    if MISSPELT[command]:
        assert f"did you mean {MISSPELT[command]}" in " ".join((printed.out + printed.err).split())
