"""`python -m hudi_conformance.interop.real_tables.building BUNDLE END ID ...`: a release writes its tables and answers.

A JVM holds one release, so each gets a process; 1.1.1 comes last, since it answers for the others' tables too.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from hudi_adapter.protocol import Adapter, Rejected, Request, RowsAnswer, Unsupported

from hudi_conformance.adapters.apache_hudi import ApacheHudi, adapter_of, text_of
from hudi_conformance.corpus.recipes_apache.catalogue import Question, Recipe
from hudi_conformance.corpus.recipes_apache.runner import remove_side_files
from hudi_conformance.interop.real_tables import fingerprints
from hudi_conformance.interop.real_tables.cache import Place, cache_root, is_answered, is_written, place_of
from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.questions import all_questions
from hudi_conformance.interop.real_tables.writer import RealTable

ORDER = ("0.15.0", "1.0.2", "1.2.0", "1.1.1")
_LIMIT_S = 120.0
_TEXT_LIMIT = 600
_DAY = 24.0 * 60


def build(chosen: Sequence[Recipe], *, again: bool = False, minutes: float = _DAY) -> int:
    """Write and ask about what is not there yet, one process for each release; 0 when every recipe worked.

    No table is begun when the minutes are over.
    """
    end = time.time() + 60 * minutes
    if again:
        for made in chosen:
            shutil.rmtree(place_of(made.id).folder, ignore_errors=True)
    code = 0
    for bundle in ORDER:
        due = [made.id for made in chosen if _work(made, bundle)]
        if due and time.time() < end:
            command = [sys.executable, "-m", "hudi_conformance.interop.real_tables.building", bundle, str(end), *due]
            code |= subprocess.run(command, check=False).returncode
    return int(code != 0)


def _work(made: Recipe, bundle: str) -> bool:
    writes = made.bundle == bundle and not is_written(made)
    return writes or (made.answered_by == bundle and not is_answered(made))


def work(bundle: str, end: float, identifiers: Iterable[str]) -> int:
    """What this release has to do for these tables until a time; how many recipes failed."""
    chosen = recipes(tuple(identifiers))
    peer = ApacheHudi(bundle)
    peer.start()
    try:
        return sum(time.time() < end and not _worked(peer, made) for made in chosen)
    finally:
        peer.stop()


def _worked(peer: ApacheHudi, made: Recipe) -> bool:
    try:
        if made.bundle == peer.version and not is_written(made):
            _write(peer.session, made)
            _say(f"wrote {made.id}")
        if made.answered_by == peer.version and is_written(made) and not is_answered(made):
            _say(f"asked {made.id}: {_query(adapter_of(peer), made)} questions")
    except Exception as failure:  # noqa: BLE001  the other tables are made all the same
        _say(f"FAILED {made.id}: {type(failure).__name__}: {text_of(failure)[:4000]}")
        return False
    return True


def _write(session: Any, made: Recipe) -> None:
    """Written elsewhere and moved: nothing may hang on the absolute paths that plans hold."""
    place = place_of(made.id)
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix=".writing-") as folder:
        path = Path(folder) / "table"
        if made.begins_with:
            shutil.copytree(place_of(made.begins_with).table, path)
        made.steps(RealTable(session, path, place.beside, made))
        session.catalog.clearCache()
        remove_side_files(path)
        shutil.move(path, place.table)
    place.note("written", fingerprints.written(made))


def _query(oracle: Adapter, made: Recipe) -> int:
    place = place_of(made.id)
    shutil.rmtree(place.answers, ignore_errors=True)
    place.answers.mkdir()
    timeline = _answer(oracle, place, Question("timeline", "list_timeline")).get("value") or []
    questions = [one for one in all_questions(made, place.table, timeline) if one.op in oracle.operations]
    answers: dict[str, dict[str, Any]] = {}
    for one in sorted(questions, key=lambda one: one.name == "snapshot"):
        wider = answers.get("snapshot_meta", {}).get("rows")
        answers[one.name] = (
            _without_meta(place, wider) if one.name == "snapshot" and wider else _answer(oracle, place, one)
        )
    if "rejected" in answers.get("as_of_middle", {}):
        answers.pop("slices_middle", None)  # the view behind it lists what is left, whether or not that can be read
    kept = [one for one in questions if one.name in answers]
    place.save_questions([{"name": one.name, "op": one.op, "params": one.params, **answers[one.name]} for one in kept])
    place.note("asked", fingerprints.of_questions(made))
    return len(questions)


def _without_meta(place: Place, rows: str) -> dict[str, Any]:
    """The plain snapshot is the one with meta columns without them: one question less for a slow oracle."""
    whole = pq.ParquetFile(place.answers / rows).read()
    plain = whole.select([name for name in whole.column_names if not name.startswith("_hoodie_")])
    pq.write_table(plain, place.answers / "snapshot.parquet")
    return {"rows": "snapshot.parquet"}


def _answer(oracle: Adapter, place: Place, question: Question) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        request = Request(question.op, place.table, question.params, Path(folder), _LIMIT_S)
        try:
            answer = oracle.operations[question.op](request)
        except Rejected as refusal:
            return {"rejected": str(refusal.reason.value), "said": _short(refusal.native or refusal.message, place)}
        except Unsupported as missing:
            return {"unsupported": missing.feature}
        except Exception as error:  # noqa: BLE001  kept: an oracle that fails is a fact too
            return {"errored": _short(text_of(error), place)}
        if not isinstance(answer, RowsAnswer):
            return {"value": answer.value}
        target = place.answers / f"{question.name}.parquet"
        shutil.move(request.out_dir / str(answer.rows), target)
        return {"rows": target.name}


def _short(text: str, place: Place) -> str:
    return text.replace(str(place.folder), "")[:_TEXT_LIMIT]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(work(sys.argv[1], float(sys.argv[2]), sys.argv[3:]), 1))
