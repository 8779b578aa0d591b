"""Object stores: the same interface and the same answers as on a local file system, over a real endpoint."""

import os
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row
from hudi_adapter import Request
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.errors import FormatError, InvalidOption, Reason, StorageError
from hudi_format.storage import ObjectStorage, Storage, open_storage
from hudi_spark import HudiError, HudiTable, TableDefinition, check_table, create_arrow, read_arrow, write_arrow
from hudi_spark.testing import RELEASED
from hudi_spark_adapter.adapter import adapter_of
from hudi_spark_adapter.executors import InProcess
from object_endpoint import BUCKET, PAGE, SECRET, Endpoint, endpoint, upload
from s3_server import aws
from store_servers import SERVERS, Store, program

GOLDEN = unpacked_corpus()
TABLES = [
    "v6/apache_cow_upserts",
    "v6/apache_mor_event_time",
    "v8/apache_mor_compacted",
    "v8/cow_insert_overwrite",
    "v9/apache_mor_composite_key",
    "v9/apache_mor_event_time",
    "v9/apache_mor_log_compaction",
    "v9/cow_partitions_with_marks",
]
ODD_NAMES = ["region=süd/a b.parquet", "100%/%41?#.txt", "日本/ñ", "a&b=c/+.x", "[a]*/{b}", "a:b/~c", "back\\slash"]


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint(tmp_path_factory.mktemp("moto") / "log") as found:
        yield found


@pytest.fixture(
    scope="session", params=["s3", "memory", *(pytest.param(name, marks=pytest.mark.slow) for name in SERVERS)]
)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A bucket of what plays S3, of this process, and of each real server that this machine has."""
    if request.param == "memory":
        yield Store(f"memory://{BUCKET}", {})
    elif request.param == "s3":
        yield Store(f"s3a://{BUCKET}", request.getfixturevalue("s3").options)
    else:
        name, start = SERVERS[request.param]
        command = program(name)
        if command is None:
            pytest.skip(f"{name} is not on the PATH: `make stores` fetches it")
        with start(command, tmp_path_factory.mktemp(request.param)) as found:
            yield found


@pytest.fixture
def storage(store: Store, tmp_path: Path) -> Storage:
    return open_storage(f"{store.url}/{tmp_path.name}/tables 100% süd", store.options)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_are_plain_names(storage: Storage, name: str):
    """Blanks, percent signs, brackets and other letters neither decode nor match anything."""
    # Azure and SeaweedFS take a backslash for a slash.
    stored = name.replace("\\", "/") if storage.base.startswith(("az:", "s3:")) else name
    storage.put(name, b"x")
    assert storage.read(name) == b"x"
    assert [status.path for status in storage.list_files()] == [stored]
    assert storage.list_folders() == [stored.rpartition("/")[0]] * ("/" in stored)
    assert storage.uri(name).endswith(f"tables 100% süd/{name}")


def test_the_interface_answers_as_it_does_for_local_files(storage: Storage, tmp_path: Path):
    def answers(one: Storage) -> list[Any]:
        for path in ("b", "a/z", "a/b/c", ".hoodie/x", ".hoodie/metadata/y", "ab/x"):
            one.put(path, path.encode())
        return [
            [(status.path, status.size) for status in one.list_files()],
            [status.path for status in one.list_files(skip=(".hoodie/metadata", "ab"))],
            [status.path for status in one.list_files("a", recursive=False)],
            [one.list_files(folder) for folder in ("b", "absent", "a/absent")],
            [one.list_folders(folder) for folder in ("", "a", "b", "absent")],
            [one.exists(path) for path in ("b", "a", "a/b", "a/z", "absent", "", "a/")],
            [one.read_range("a/b/c", *span) for span in ((1, 2), (2, 100), (5, 1), (9, 9), (0, 0))],
            [one.size("a/z"), one.read("a/./z"), one.read("a//z")],
            [one.put_if_absent("a/z", b"new"), one.put_if_absent("n", b"new"), one.read("a/z"), one.read("n")],
            [one.delete("n"), one.delete("n"), one.exists("n")],
        ]

    assert answers(storage) == answers(open_storage(tmp_path))


def test_what_is_absent_is_not_found(storage: Storage):
    for use in (storage.read, storage.size, lambda path: storage.read_range(path, 0, 5)):
        for path in ("absent", "a/b", "line\nbreak"):
            with pytest.raises(FileNotFoundError):
                use(path)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a\0b"])
def test_a_path_that_leaves_the_table_is_refused(storage: Storage, path: str):
    for use in (storage.read, storage.exists, storage.delete, storage.uri, storage.list_files):
        with pytest.raises(FormatError) as caught:
            use(path)
        assert caught.value.reason == Reason.PATH_ESCAPES_TABLE


@pytest.fixture
def one_at_a_time(store: Store, tmp_path: Path) -> Iterator[Store]:
    """A store that looks and writes in one step, as S3 does."""
    if not store.url.startswith("s3a:"):
        yield store
        return
    with aws(tmp_path / "aws") as found:
        yield Store(store.url, found.options)


def test_of_many_clients_that_put_at_once_one_wins(one_at_a_time: Store, tmp_path: Path):
    """The endpoint decides: each client has its own connection."""
    base, options = f"{one_at_a_time.url}/{tmp_path.name}", one_at_a_time.options
    for attempt in range(5):
        won: list[bytes] = []
        start = threading.Barrier(8)

        def put(content: bytes, name: str, start: threading.Barrier = start, won: list[bytes] = won) -> None:
            client = open_storage(base, options)
            start.wait()
            if client.put_if_absent(name, content):
                won.append(content)

        threads = [threading.Thread(target=put, args=(bytes([n]) * 100_000, f"i{attempt}")) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [open_storage(base, options).read(f"i{attempt}")] == won


def test_what_a_console_left_for_an_empty_folder_is_no_file(s3: Endpoint, tmp_path: Path):
    storage = open_storage(f"s3://{BUCKET}/{tmp_path.name}", s3.options)
    storage.put("p/q/a", b"x")
    s3.send("PUT", f"{BUCKET}/{tmp_path.name}/p/")
    s3.send("PUT", f"{BUCKET}/{tmp_path.name}/p/q/")
    assert [status.path for status in storage.list_files()] == ["p/q/a"]
    assert storage.list_files("p", recursive=False) == []
    assert storage.list_folders() == ["p"]


def test_listings_longer_than_a_page_are_whole(s3: Endpoint, tmp_path: Path):
    storage = open_storage(f"s3://{BUCKET}/{tmp_path.name}", s3.options)
    names = [f"p/{number:03}" for number in range(3 * PAGE)]
    for name in names:
        storage.put(name, b"")
    assert [status.path for status in storage.list_files()] == names
    assert [status.path for status in storage.list_files("p", recursive=False)] == names


@pytest.mark.parametrize("table", TABLES)
def test_a_table_in_a_bucket_gives_the_rows_of_its_files(store: Store, table: str):
    base = f"{store.url}/golden/süd 1%/{table}"
    upload(GOLDEN / table / "table", open_storage(base, store.options))
    expected = read_arrow(GOLDEN / table / "table")
    assert expected.num_rows
    assert read_arrow(base, storage_options=store.options).equals(expected)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_table_in_a_bucket_is_written(store: Store, tmp_path: Path, table_type: str):
    """Made, written, changed, and nothing of a write is left beside it: the same answers as on a local file system."""
    location, options = f"{store.url}/{tmp_path.name}/süd 1%", store.options
    rows = pa.table({"id": ["a", "b"], "city": ["süd", "oslo"], "ts": [1, 1]})
    definition = TableDefinition(
        "rides", rows.schema, table_type, record_key=("id",), partition_by=("city",), ordering=("ts",)
    )
    create_arrow(location, definition, options)
    for given, operation in ((rows, "upsert"), (rows.slice(1), "delete"), (rows, "insert")):
        write_arrow(location, given, operation, storage_options=options)
    assert sorted(read_arrow(location, storage_options=options).column("id").to_pylist()) == ["a", "a", "b"]
    assert not open_storage(location, options).list_files(".hoodie/.temp")
    assert list(check_table(location, storage_options=options)) == []


def test_the_environment_says_where_and_as_whom(s3: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = {"ENDPOINT_URL": s3.url, "REGION": "us-east-1", "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    TableBuilder(tmp_path).commit(10, [])
    upload(tmp_path, open_storage(f"s3://{BUCKET}/{tmp_path.name}"))
    assert read_arrow(f"s3://{BUCKET}/{tmp_path.name}").num_rows == 0


def test_the_adapter_takes_a_uri(s3: Endpoint, tmp_path: Path):
    base = f"s3://{BUCKET}/{tmp_path.name}"
    upload(GOLDEN / "v9/apache_mor_event_time/table", open_storage(base, s3.options))
    request = Request("table_info", Path(base), {"configs": s3.options}, tmp_path, 60.0, base)
    operations = adapter_of(InProcess(), RELEASED).operations
    assert operations["table_info"](request).value["table_version"] == 9
    operations["read_snapshot"](request)


def test_a_projected_scan_reads_no_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    columns = (("id", ["null", "string"]), ("large", ["null", "string"]))
    builder = TableBuilder(tmp_path, columns=columns, table_type="COPY_ON_WRITE")
    rows = [{"id": f"k{n}", "large": f"{n}" * 20_000} for n in range(100)]
    builder.commit(10, [builder.base_file(10, rows)], action="commit")
    base = f"memory://{tmp_path.name}/t"
    upload(tmp_path, open_storage(base))
    file = max(open_storage(base).list_files(), key=lambda status: status.size)
    read: list[tuple[str, int]] = []
    original = ObjectStorage.read_range

    def read_range(self: ObjectStorage, path: str, offset: int, length: int) -> bytes:
        read.append((path, length))
        return original(self, path, offset, length)

    monkeypatch.setattr(ObjectStorage, "read_range", read_range)
    assert read_arrow(base, columns=["id"]).num_rows == 100
    assert file.size > 2_000_000
    assert 0 < sum(length for path, length in read if path == file.path) < file.size / 4


def _forget(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """An environment that names nobody."""
    for name in [one for one in os.environ if one.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))


@contextmanager
def _received() -> Iterator[tuple[str, list[str]]]:
    """An address that knows nothing, and the paths that it was requested."""
    seen: list[str] = []

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_PUT = do_GET  # noqa: N815 - the name of the base class

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Nothing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class TestCredentials:
    def test_they_are_never_printed(self, s3: Endpoint):
        storage = open_storage("s3://absent-bucket/t", {**s3.options, "fs.s3a.access.key": "ACCESS"})
        with pytest.raises((StorageError, FileNotFoundError)) as caught:
            storage.put("a", SECRET.encode())
        for text in (repr(storage), str(storage), str(caught.value), repr(caught.value)):
            assert SECRET not in text
            assert "ACCESS" not in text
        assert caught.value.__suppress_context__

    def test_they_travel_with_a_pickled_storage(self, s3: Endpoint, tmp_path: Path):
        storage = open_storage(f"s3://{BUCKET}/{tmp_path.name}", s3.options)
        pickle.loads(pickle.dumps(storage)).put("a", b"x")  # noqa: S301 - what Spark does with a task
        assert storage.read("a") == b"x"

    @pytest.mark.parametrize(
        ("base", "message"),
        [
            ("s3a://bucket/t", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            ("gs://bucket/t", "set GOOGLE_APPLICATION_CREDENTIALS"),
            ("az://bucket/t", "set AZURE_STORAGE_ACCOUNT_KEY"),
        ],
    )
    def test_without_them_one_line_says_what_to_set(
        self, base: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        """Before any request, so none goes to the metadata address of the machine."""
        _forget(monkeypatch, tmp_path)
        for half in ({}, {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}, {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://x"}):
            for name, value in half.items():
                monkeypatch.setenv(name, value)
            with pytest.raises(HudiError, match=message) as caught:
                read_arrow(base)
            assert caught.value.reason == "CONFIG_INVALID"
            assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("options", "environment"),
        [
            ({"instance_credentials": "true"}, {}),
            ({"fs.s3a.aws.credentials.provider": "com.amazonaws.auth.InstanceProfileCredentialsProvider"}, {}),
            ({"metadata_endpoint": "{url}"}, {}),
            ({}, {"AWS_METADATA_ENDPOINT": "{url}"}),
        ],
    )
    def test_instance_credentials_are_requested_where_an_option_says_so(
        self, options: dict[str, str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        _forget(monkeypatch, tmp_path)
        with _received() as (url, seen):
            monkeypatch.setenv("AWS_ENDPOINT_URL", url)
            for name, value in environment.items():
                monkeypatch.setenv(name, value.format(url=url))
            given = {name: value.format(url=url) for name, value in options.items()}
            storage = open_storage("s3://bucket/t", {"metadata_endpoint": url, **given} if options else given)
            with pytest.raises(StorageError):
                storage.read("a")
        assert any("/latest/" in one for one in seen)

    def test_a_public_bucket_is_read_without_credentials(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        _forget(monkeypatch, tmp_path)
        with _received() as (url, seen):
            storage = open_storage(
                "s3://bucket/t", {"skip_signature": "true", "endpoint": url, "metadata_endpoint": url}
            )
            with pytest.raises((StorageError, FileNotFoundError)):
                storage.read("a")
        assert seen == ["/bucket/t/a"]

    def test_a_public_bucket_of_google_is_written_without_the_metadata_address(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        """To write, the library would ask the address for a token."""
        _forget(monkeypatch, tmp_path)
        with _received() as (url, seen):
            storage = open_storage("gs://bucket/t", {"skip_signature": "true", "base_url": url})
            with pytest.raises((StorageError, FileNotFoundError)):
                storage.put("a", b"x")
        assert seen == ["/bucket/t%2Fa"]

    @pytest.mark.parametrize("base", ["s3://key:secret@bucket/t", "s3:///t", "gs://"])
    def test_a_uri_names_a_bucket_and_nobody(self, base: str):
        with pytest.raises(ValueError, match="bucket") as caught:
            open_storage(base)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"fs.s3a.acess.key": "SECRET"}, "did you mean fs.s3a.access.key"),
            ({"nonsense": "SECRET"}, "nonsense"),
            ({"region": "r", "skip_signature": "SECRET"}, "region, skip_signature"),
        ],
    )
    def test_an_unknown_option_is_refused_by_name(self, options: dict[str, str], message: str):
        with pytest.raises(InvalidOption, match=message) as caught:
            open_storage("s3://bucket/t", options)
        assert "SECRET" not in str(caught.value)
        with pytest.raises(HudiError) as refused:
            read_arrow("s3://bucket/t", storage_options=options)
        assert refused.value.reason == "CONFIG_INVALID"

    def test_options_of_a_bucket_override_options_of_all(self, s3: Endpoint, tmp_path: Path):
        options = {**s3.options, "fs.s3a.endpoint": "localhost:1", "fs.s3a.bucket.other.endpoint": "localhost:2"}
        special = {f"spark.hadoop.fs.s3a.bucket.{BUCKET}.endpoint": s3.url}
        open_storage(f"s3://{BUCKET}/{tmp_path.name}", {**options, **special}).put("a", b"")


def test_an_endpoint_that_fails_in_the_middle_is_no_corrupt_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Neither BASE_FILE_CORRUPT nor fewer rows: the table is sound."""
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], action="commit")
    base = f"memory://{tmp_path.name}/t"
    upload(tmp_path, open_storage(base))

    def read_range(self: ObjectStorage, path: str, offset: int, length: int) -> bytes:
        raise StorageError("read", path, "the endpoint went away")

    monkeypatch.setattr(ObjectStorage, "read_range", read_range)
    with pytest.raises(HudiError, match="went away") as caught:
        read_arrow(base)
    assert caught.value.reason == "STORAGE_FAILED"
    assert "check endpoint, region and credentials" in str(caught.value)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("table", ["v6/apache_cow_upserts", "v9/apache_mor_composite_key"])
def test_spark_reads_a_bucket_in_its_tasks(spark: Any, s3: Endpoint, table: str):
    """Spark needs no file system and no credentials for it: the tasks scan."""
    base = f"s3://{BUCKET}/spark/{table}"
    upload(GOLDEN / table / "table", open_storage(base, s3.options))
    frame = HudiTable(spark, base, storage_options=s3.options).snapshot()
    expected = read_arrow(GOLDEN / table / "table").to_pylist()
    assert sorted(repr(one.asDict()) for one in frame.collect()) == sorted(map(repr, expected))
