"""Options of object stores: the library's own names, and Hadoop's `fs.s3a.*` as other names for them.

Whatever is not given here is taken from the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`) by the library. The metadata
address of the machine is requested credentials only where an option says so.
"""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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
_OF_INSTANCE: Final = ("InstanceProfileCredentialsProvider", "IAMInstanceCredentialsProvider")
_INSTANCE: Final = "instance_credentials"
_TRUE_WORDS: Final = ("true", "1", "yes", "y", "on")


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of store is given credentials: sets of names of which one must be whole; what to set, in words.

    Names are those of options and, in capitals and behind `prefix`, of the environment. Where no set is whole the
    library would ask the metadata address of the machine that it runs on. `endpoints`: the names, without the prefix,
    of another address of the store; the first that is given counts.
    """

    prefix: str
    endpoints: tuple[str, ...]
    ways: tuple[frozenset[str], ...]
    what: str


def _ways(*ways: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(way.split()) for way in ways)


_S3: Final = _Kind(
    "aws_",
    ("endpoint_url_s3", "endpoint_url", "endpoint"),
    _ways(
        "access_key_id",
        "secret_access_key",
        "web_identity_token_file role_arn",
        "container_credentials_relative_uri",
        "container_credentials_full_uri container_authorization_token_file",
        "metadata_endpoint",
    ),
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
)
_GOOGLE: Final = _Kind(
    "google_",
    ("base_url",),
    _ways("service_account", "service_account_path", "service_account_key", "application_credentials", "bearer_token"),
    "GOOGLE_APPLICATION_CREDENTIALS",
)
_AZURE: Final = _Kind(
    "azure_",
    ("endpoint",),
    _ways(
        "account_key",
        "access_key",
        "master_key",
        "sas_key",
        "sas_token",
        "bearer_token",
        "token",
        "use_azure_cli",
        "use_emulator",
        "client_id client_secret tenant_id",
        "client_id client_secret authority_id",
        "client_id federated_token_file tenant_id",
        "client_id federated_token_file authority_id",
        "fabric_token_service_url",
        "msi_endpoint",
        "identity_endpoint",
    ),
    "AZURE_STORAGE_ACCOUNT_KEY",
)
_KINDS: Final = {"s3": _S3, "s3a": _S3, "s3n": _S3, "gs": _GOOGLE, "az": _AZURE, "abfs": _AZURE, "abfss": _AZURE}
_GOOGLE_LOGIN: Final = Path(".config/gcloud/application_default_credentials.json")


def store_options(bucket: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options in the library's names; what is said of this bucket goes before what is said of all.

    Raises:
        InvalidOption: an `fs.` key that is none of those known.

    """
    hadoop = {key.removeprefix("spark.hadoop."): value for key, value in options.items() if _is_hadoop(key)}
    own = {key.lower(): value for key, value in options.items() if not _is_hadoop(key)}
    return {**_from_hadoop(_of_bucket(hadoop, bucket)), **own}


def of_library(scheme: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options that the library knows."""
    known = {name: value for name, value in options.items() if name != _INSTANCE}
    # To write without a signature, the library would ask the metadata address of the machine for a token.
    return {"bearer_token": "none", **known} if scheme == "gs" and _is_public(_given(_GOOGLE, options)) else known


def refuse_without_credentials(scheme: str, place: str, config: Mapping[str, str]) -> None:
    """Options and environment say who asks a store of a scheme.

    Without credentials the library would ask the metadata address of the machine: that is done for
    `instance_credentials=true` alone, which Hadoop's provider of an instance's profile stands for, too.

    Raises:
        InvalidOption: nothing says who asks; one line says what to set.

    """
    kind = _KINDS[scheme]
    given = _given(kind, config)
    named = {name for name, value in given.items() if value and value.lower() != "false"}
    uses_instance = given.get(_INSTANCE, "").lower() in _TRUE_WORDS
    login = kind is _GOOGLE and (Path.home() / _GOOGLE_LOGIN).exists()
    if not (_is_public(given) or uses_instance or login or any(way <= named for way in kind.ways)):
        raise InvalidOption(
            f"no credentials for {place} are among the options or in the environment: set {kind.what}, "
            f"skip_signature=true for what is public, or {_INSTANCE}=true to ask this machine's metadata address"
        )


def _given(kind: _Kind, options: Mapping[str, str]) -> dict[str, str]:
    """What options, or else the environment, say, by plain names."""
    return {_plain(name, kind.prefix): str(value) for name, value in (_environment(kind) | dict(options)).items()}


def _is_public(given: Mapping[str, str]) -> bool:
    return given.get("skip_signature", "").lower() in _TRUE_WORDS


def _environment(kind: _Kind) -> dict[str, str]:
    return {name.lower(): value for name, value in os.environ.items() if name.startswith(kind.prefix.upper())}


def _plain(name: str, prefix: str) -> str:
    return name.lower().removeprefix(prefix).removeprefix("storage_")


def allows_http(scheme: str, options: Mapping[str, str]) -> bool:
    """Whether the endpoint that options, or else the environment, name for a scheme is one without TLS."""
    kind = _KINDS[scheme]
    for source in (options, _environment(kind)):
        given = {_plain(name, kind.prefix): value for name, value in source.items()}
        named = [given[name] for name in kind.endpoints if given.get(name)]
        if named:
            return named[0].lower().startswith("http://")
    return False


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
    if any(one in settings.get(_PROVIDER, "") for one in _OF_INSTANCE):
        found[_INSTANCE] = "true"
    return found
