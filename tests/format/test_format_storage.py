"""Local storage: whole files or none, paths that stay inside, names of every kind."""

import errno
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hudi_format.errors import FormatError, Reason
from hudi_format.storage import LocalStorage, ReadOnlyStorage, open_storage

ODD_NAMES = ["region=süd/a b.parquet", "100%/%41?#.txt", "日本/ñ", "a&b=c/+.x"]


@pytest.fixture
def storage(tmp_path: Path):
    return open_storage(tmp_path)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_with_blanks_percent_and_other_letters_are_plain_names(storage: LocalStorage, name: str, tmp_path: Path):
    storage.put(name, b"x")
    assert storage.read(name) == b"x"
    assert [status.path for status in storage.list_files()] == [name]
    assert open_storage(storage.uri()).read(name) == b"x"
    assert (tmp_path / name).exists()


def test_a_uri_opens_the_same_table(tmp_path: Path):
    folder = tmp_path / "tables 100% süd"
    open_storage(folder).put("a", b"1")
    for base in (folder, str(folder), folder.as_uri(), "file:" + folder.as_uri().removeprefix("file://")):
        assert open_storage(base).read("a") == b"1"


@pytest.mark.parametrize("base", ["ftp://host/table", "hdfs://host/table", "file://host/table", "s3:///table"])
def test_another_scheme_is_refused(base: str):
    with pytest.raises(ValueError, match=r"storage|host|bucket"):
        open_storage(base)


def test_put_if_absent_keeps_the_first_content(storage: LocalStorage):
    assert storage.put_if_absent("a/b", b"first")
    assert not storage.put_if_absent("a/b", b"second")
    assert storage.read("a/b") == b"first"


def test_of_many_that_put_at_once_one_wins_and_its_content_is_whole(storage: LocalStorage):
    contents = [bytes([number]) * 100_000 for number in range(8)]
    won = []

    def put(content: bytes) -> None:
        if storage.put_if_absent("a", content):
            won.append(content)

    threads = [threading.Thread(target=put, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [storage.read("a")] == won


def test_put_replaces_and_leaves_nothing_behind(storage: LocalStorage, tmp_path: Path):
    storage.put("a", b"one")
    storage.put("a", b"two")
    storage.put_if_absent("a", b"three")
    assert storage.read("a") == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a/..", "a\0b"])
def test_a_path_that_leaves_the_table_is_refused(storage: LocalStorage, path: str):
    for use in (storage.read, storage.exists, storage.delete, storage.uri, storage.list_files):
        with pytest.raises(FormatError) as caught:
            use(path)
        assert caught.value.reason == Reason.PATH_ESCAPES_TABLE


def test_a_link_that_leaves_the_table_is_refused(storage: LocalStorage, tmp_path: Path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"x")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "file").symlink_to(outside / "secret")
    for path in ("link/secret", "file", "link/new"):
        with pytest.raises(FormatError) as caught:
            storage.put(path, b"y")
        assert caught.value.reason == Reason.PATH_ESCAPES_TABLE
    assert (outside / "secret").read_bytes() == b"x"
    with pytest.raises(FormatError):
        storage.list_files()


def test_a_link_in_a_circle_ends_the_listing(storage: LocalStorage, tmp_path: Path):
    storage.put("a/b", b"x")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    with pytest.raises(FormatError) as caught:
        storage.list_files()
    assert caught.value.reason == Reason.PATH_ESCAPES_TABLE


def test_a_link_to_itself_is_neither_file_nor_folder(storage: LocalStorage, tmp_path: Path):
    storage.put("p/a", b"1")
    (tmp_path / "p/round").symlink_to("round")

    assert [status.path for status in storage.list_files()] == ["p/a"]
    assert storage.list_folders("p") == []
    assert storage.list_no_files("p") == ["p/round"]


def test_what_is_in_the_place_of_folders_is_listed(storage: LocalStorage, tmp_path: Path):
    """Files, pipes and links to files, also above; a folder that is not there can be made."""
    storage.put("a/file", b"1")
    (tmp_path / "a/link").symlink_to("file")
    (tmp_path / "folder").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    paths = ["a", "a/file/b/c", "a/file", "a/link", "folder", "folder/new", "pipe/x", "absent/x", ""]
    assert storage.list_no_folders(paths) == ["a/file", "a/link", "pipe"]
    assert ReadOnlyStorage(storage, "a").list_no_folders(["file", "x"]) == ["file"]
    with pytest.raises(FormatError):
        storage.list_no_folders(["../a"])


def test_a_link_that_stays_in_the_table_is_followed(storage: LocalStorage, tmp_path: Path):
    storage.put("a/b", b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    assert storage.read("link") == b"x"


def test_a_table_may_itself_be_reached_through_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    open_storage(tmp_path / "link").put("a", b"x")
    assert (tmp_path / "real" / "a").read_bytes() == b"x"


def test_listing_is_sorted_and_skips_the_given_names(storage: LocalStorage):
    for path in ("b", "a/z", "a/b/c", ".hoodie/x", ".hoodie/metadata/y"):
        storage.put(path, b"12")
    assert [status.path for status in storage.list_files()] == [".hoodie/metadata/y", ".hoodie/x", "a/b/c", "a/z", "b"]
    assert storage.list_files(skip=(".hoodie/metadata",))[0].path == ".hoodie/x"
    assert [status.path for status in storage.list_files("a", recursive=False)] == ["a/z"]
    assert storage.list_folders("a") == ["a/b"]
    assert storage.list_files("absent") == storage.list_folders("absent") == []
    assert storage.list_files("b") == []


def test_status_ranges_and_sizes(storage: LocalStorage):
    storage.put("a", b"0123456789")
    status = storage.list_files()[0]
    assert (status.size, storage.size("a")) == (10, 10)
    assert status.modified_ms == Path(storage.resolve("a")).stat().st_mtime_ns // 1_000_000
    assert storage.read_range("a", 3, 4) == b"3456"
    assert storage.read_range("a", 8, 100) == b"89"


def test_deleting_twice_is_deleting_once(storage: LocalStorage):
    storage.put("a", b"")
    storage.delete("a")
    storage.delete("a")
    assert not storage.exists("a")
    with pytest.raises(FileNotFoundError):
        storage.read("a")


def test_checksums_beside_a_file_go_with_its_content(tmp_path: Path) -> None:
    """Hadoop's local file system keeps `.<name>.crc` and refuses content that it does not fit."""
    storage = open_storage(tmp_path)
    for change in (lambda: storage.put("a/x", b"new"), lambda: storage.delete("a/x")):
        storage.put("a/x", b"old")
        (tmp_path / "a" / ".x.crc").write_bytes(b"crc")
        change()
        assert not (tmp_path / "a" / ".x.crc").exists()


def test_what_disappears_while_a_folder_is_listed_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A clean or a rollback may be at work; the others are listed."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x")
    with os.scandir(tmp_path) as entries:
        seen = list(entries)
    monkeypatch.setattr(LocalStorage, "_entries", lambda self, folder: seen)  # noqa: ARG005 - as the method is called
    (tmp_path / "a").unlink()
    assert [one.path for one in LocalStorage(tmp_path).list_files()] == ["b"]


@pytest.mark.parametrize("put", [LocalStorage.put, LocalStorage.put_if_absent])
@pytest.mark.parametrize("fails", ["fsync", "link", "replace"])
def test_a_put_that_fails_leaves_nothing(fails: str, put: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither under the name nor under one that is only passing."""
    storage = LocalStorage(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((Path, "replace") if fails == "replace" else (os, fails)), full)
    if (fails, put) in {("link", LocalStorage.put), ("replace", LocalStorage.put_if_absent)}:
        put(storage, "a/b", b"x")
        assert storage.read("a/b") == b"x"
        return
    with pytest.raises(OSError, match="No space"):
        put(storage, "a/b", b"x")
    assert [one.name for one in tmp_path.rglob("*")] == ["a"]


def test_leftovers_of_a_failed_put_are_removed_once_old(tmp_path: Path):
    """Nobody lists it; a running put is left alone, and so is every other file."""
    storage = LocalStorage(tmp_path)
    storage.put("a/kept", b"x")
    for name in (".hudi-put-old", ".hudi-put-new"):
        (tmp_path / "a" / name).write_bytes(b"half")
    for name in ("kept", ".hudi-put-old"):
        os.utime(tmp_path / "a" / name, (time.time() - 4000,) * 2)
    assert [one.path for one in storage.list_files()] == ["a/kept"]
    assert storage.sweep(3600.0) == 1
    assert sorted(one.name for one in (tmp_path / "a").iterdir()) == [".hudi-put-new", "kept"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(storage: LocalStorage, tmp_path: Path):
    """A read of it waits until somebody writes to it."""
    os.mkfifo(tmp_path / "pipe")
    for read in (lambda: storage.read("pipe"), lambda: storage.read_range("pipe", 0, 4)):
        with pytest.raises(OSError, match="pipe") as refused:
            read()
        assert refused.value.errno == errno.EINVAL
        assert refused.value.filename == str(tmp_path / "pipe")
