"""An object store on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def object_store(monkeypatch) -> Iterator[Any]:
    """An empty server of S3 that addresses lead to, as a file system; the ones of other tests, which have ended, are forgotten."""
    moto, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    monkeypatch.setenv(
        "AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port())
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    yield s3fs.S3FileSystem()
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()
