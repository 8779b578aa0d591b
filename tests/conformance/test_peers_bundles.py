"""Where the bundles come from, and that nothing else than the recorded bytes is ever run."""

from pathlib import Path

import pytest
from hudi_conformance.apache import bundles
from hudi_conformance.apache.bundles import Bundle, BundleUnavailableError, bundle_jar


def test_every_bundle_names_a_coordinate_of_its_version_and_a_hash():
    for version, bundle in bundles.bundles().items():
        assert bundle.coordinate.endswith(f":{version}")
        assert len(bytes.fromhex(bundle.sha256)) == 32


def test_an_unknown_version_is_refused_with_the_known_ones():
    with pytest.raises(BundleUnavailableError, match=r"0\.15\.0"):
        bundle_jar("0.1")


def test_a_jar_with_other_bytes_is_removed_and_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path))
    jar = tmp_path / "ivy" / "jars" / bundles.bundles()["1.1.1"].jar_name
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"not the bundle")
    with pytest.raises(BundleUnavailableError, match="sha256"):
        bundle_jar("1.1.1")
    assert not jar.exists()


def test_a_failed_download_reports_the_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(bundles, "bundles", lambda: {"9": Bundle("9", "no.such.group:nothing:9", "0" * 64)})
    monkeypatch.setattr(bundles.sys, "executable", "false")
    with pytest.raises(BundleUnavailableError, match=r"no\.such\.group"):
        bundle_jar("9")
