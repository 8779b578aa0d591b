"""A suite of its own for each test."""

from pathlib import Path

import pytest
from hudi_conformance.apache.dynamodb_local import missing_dynamodb_local
from hudi_conformance.interop.peers.running import peers_required
from hudi_conformance.runner.resources import CORPUS_VARIABLE
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


@pytest.fixture(scope="session")
def dynamodb_local() -> None:
    """Amazon's server of DynamoDB is there, or the test is skipped where nobody requested peers."""
    why = missing_dynamodb_local()
    if why and not peers_required():
        pytest.skip(f"DynamoDB is not asked: {why}")
    assert not why, why
