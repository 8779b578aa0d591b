"""A suite of its own for each test."""

from pathlib import Path

import pytest
from hudi_conformance.resources import CORPUS_VARIABLE
from tiny_corpus import OTHER_ROWS, ROWS, Params, TinyCorpus


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TinyCorpus:
    """An empty corpus that the suite finds instead of its own."""
    corpus = TinyCorpus(tmp_path / "suite")
    monkeypatch.setenv(CORPUS_VARIABLE, str(corpus.root))
    return corpus


@pytest.fixture
def passing() -> Params:
    """Parameters that make the fake adapter answer the expected rows."""
    return {"do": "rows", "text": ROWS}


@pytest.fixture
def other() -> Params:
    """Parameters that make the fake adapter answer one changed row."""
    return {"do": "rows", "text": OTHER_ROWS}
