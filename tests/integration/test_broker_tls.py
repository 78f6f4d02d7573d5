"""A broker behind TLS, whose certificate every process looks at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from foldline_worker.broker.transport import verified

from tests.support.eventually import eventually, eventually_gives
from tests.support.processes.http import client
from tests.support.processes.installation import Installation
from tests.support.processes.tls import Proxy, tls_proxy

PORT = {"FOLDLINE_METRICS_PORT": "0"}


@pytest.fixture
def proxy(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """TLS before the broker that processes started after this use."""
    folder: Path = tmp_path_factory.mktemp("tls")
    with tls_proxy(installation.broker.url, folder) as proxy:
        installation.variables["FOLDLINE_BROKER_URL"] = (
            f"rediss://localhost:{proxy.port}/0?ssl_ca_certs={proxy.authority}"
        )
        yield proxy


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("proxy")
def test_a_job_is_done_through_a_broker_behind_tls(installation: Installation) -> None:
    worker = installation.worker(**PORT)
    installation.is_done()
    metrics = worker.printed.partition("metrics and probes on ")[2].split()[0]
    with client(metrics) as port:
        eventually_gives("ok", lambda: port.get("/readyz").json()["broker"])
        assert "foldline_sweeps_total 0.0" in port.get("/metrics").text
        installation.start("beat", until="beat: Starting")
        eventually(lambda: "foldline_sweeps_total 1.0" in port.get("/metrics").text)


@pytest.mark.timeout(120)
def test_a_certificate_of_an_authority_nobody_knows_is_refused(installation: Installation, proxy: Proxy) -> None:
    installation.variables["FOLDLINE_BROKER_URL"] = f"rediss://localhost:{proxy.port}/0"
    worker = installation.start("worker", until="does not answer")
    assert "ready:" not in worker.printed


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("redis://h:1/0", "redis://h:1/0"),
        ("rediss://:p@h:1/0", "rediss://:p@h:1/0?ssl_cert_reqs=required"),
        ("rediss://h:1/0?ssl_ca_certs=/a", "rediss://h:1/0?ssl_ca_certs=/a&ssl_cert_reqs=required"),
        ("rediss://h:1/0?ssl_cert_reqs=none", "rediss://h:1/0?ssl_cert_reqs=none"),
    ],
)
def test_certificates_are_looked_at_unless_the_address_says_otherwise(url: str, used: str) -> None:
    assert verified(url) == used
