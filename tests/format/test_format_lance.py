"""Lance files, which later releases write: they are base files, and reading one says that it is not built."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hudi_format.base.files import base_file_footer, open_base_parquet, read_base_file
from hudi_format.errors import UnsupportedFormat
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.storage import LocalStorage

NAME = "1ad2500a-97a1-4225-8266-8694365efc71-0_0-40-125_20260503194208547.lance"


def test_its_name_is_that_of_a_base_file():
    found = parse_data_file_name(NAME)
    assert isinstance(found, BaseFileName)
    assert str(found) == NAME


@pytest.mark.parametrize("read", [read_base_file, base_file_footer, open_base_parquet])
def test_reading_it_is_refused_as_not_built(tmp_path: Path, read: Callable[..., object]):
    """Rows that nobody can read are no empty answer."""
    (tmp_path / NAME).write_bytes(b"LANC")
    with pytest.raises(UnsupportedFormat) as caught:
        read(LocalStorage(str(tmp_path)), NAME)
    assert caught.value.feature == "base-lance"
