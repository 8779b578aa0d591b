"""Options of object stores: the library's own names, and Hadoop's `fs.s3a.*` as other names for them.

Whatever is not given here is taken from the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`) by the library.
"""

import difflib
import os
from collections.abc import Mapping
from typing import Final

from hudi_format.errors import InvalidOption

SECRETS: Final = ("key", "secret", "token", "password", "credential", "sas")

_HADOOP: Final = {
    "access.key": "access_key_id",
    "secret.key": "secret_access_key",
    "session.token": "session_token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
}
# Requests go to the path of an endpoint in any case, and the library chooses among credentials by what there is.
_WITHOUT_EFFECT: Final = ("path.style.access", "impl")
_TLS, _PROVIDER = "connection.ssl.enabled", "aws.credentials.provider"
_ANONYMOUS: Final = "AnonymousAWSCredentialsProvider"
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_ENDPOINT_OPTIONS: Final = ("endpoint", "endpoint_url", "aws_endpoint", "aws_endpoint_url", "aws_endpoint_url_s3")


def store_options(bucket: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options in the library's names; what is said of this bucket goes before what is said of all.

    Raises:
        InvalidOption: an `fs.` key that is none of those known.

    """
    hadoop = {key.removeprefix("spark.hadoop."): value for key, value in options.items() if _is_hadoop(key)}
    own = {key.lower(): value for key, value in options.items() if not _is_hadoop(key)}
    return {**_from_hadoop(_of_bucket(hadoop, bucket)), **own}


def allows_http(options: Mapping[str, str]) -> bool:
    """Whether the endpoint that options or environment name is one without TLS."""
    named = [options[key] for key in _ENDPOINT_OPTIONS if key in options]
    named = named or [os.environ[name] for name in _ENDPOINTS if os.environ.get(name)]
    return bool(named) and named[0].lower().startswith("http://")


def hadoop_options(settings: Mapping[str, str]) -> dict[str, str]:
    """Of the settings of a Spark session those that say where and as whom to read; the rest only tunes Hadoop."""
    known = (*_HADOOP, _TLS, _PROVIDER)
    return {key: value for key, value in settings.items() if _is_hadoop(key) and key.endswith(known)}


def _is_hadoop(key: str) -> bool:
    return key.startswith(("fs.", "spark.hadoop.fs."))


def _of_bucket(hadoop: Mapping[str, str], bucket: str) -> dict[str, str]:
    """Keys without `fs.s3a.`; those of another bucket are left out."""
    own = f"fs.s3a.bucket.{bucket}."
    common = {key: value for key, value in hadoop.items() if not key.startswith("fs.s3a.bucket.")}
    special = {f"fs.s3a.{key.removeprefix(own)}": value for key, value in hadoop.items() if key.startswith(own)}
    return {key.removeprefix("fs.s3a."): value for key, value in {**common, **special}.items()}


def _from_hadoop(settings: Mapping[str, str]) -> dict[str, str]:
    known = (*_HADOOP, *_WITHOUT_EFFECT, _TLS, _PROVIDER)
    for key in settings:
        if key not in known:
            nearest = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean fs.s3a.{nearest[0]}" if nearest else f"known are {', '.join(known)} after fs.s3a."
            raise InvalidOption(f"{key} is no option of an object store; {hint}")
    found = {_HADOOP[key]: value for key, value in settings.items() if key in _HADOOP and value}
    if "endpoint" in found and "://" not in found["endpoint"]:
        plain = settings.get(_TLS, "true").lower() == "false"
        found["endpoint"] = f"{'http' if plain else 'https'}://{found['endpoint']}"
    if _ANONYMOUS in settings.get(_PROVIDER, ""):
        found["skip_signature"] = "true"
    return found
