"""A provider behind TLS, whose certificate an authority of its own signed, as a company's proxy does."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.gateway.test_gateway import gateway_to
from tests.support.gateway_agents import WholeHistoryAgent
from tests.support.processes.agent_provider import AgentProvider, agent_provider
from tests.support.processes.tls import Proxy, tls_proxy


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with agent_provider() as provider, tls_proxy(provider.url, tmp_path_factory.mktemp("tls")) as proxy:
        yield proxy


@pytest.fixture(autouse=True)
def _no_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"):
        monkeypatch.delenv(name, raising=False)


def called(proxy: Proxy) -> tuple[int, str]:
    """Status and text of the answer to a call through a gateway that starts now."""
    with gateway_to(AgentProvider(url=f"https://localhost:{proxy.port}")) as address:
        agent = WholeHistoryAgent(address, "/v1/messages")
        agent.say("Read one part.")
        answer = agent.call()
    return answer.status_code, answer.text


def test_the_authority_that_node_trusts_is_trusted(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(proxy.authority))
    assert called(proxy)[0] == 200


def test_the_authorities_of_the_system_are_trusted(proxy: Proxy) -> None:
    # OpenSSL reads this in place of the system's file; `os.environ`, which httpx looks at, does not have it.
    os.putenv("SSL_CERT_FILE", str(proxy.authority))
    try:
        assert called(proxy)[0] == 200
    finally:
        os.unsetenv("SSL_CERT_FILE")


def test_an_authority_that_nobody_trusts_is_refused_with_what_to_do(
    proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "empty.pem").touch()
    for extra, warned in (("", False), (str(tmp_path / "missing.pem"), True), (str(tmp_path / "empty.pem"), True)):
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", extra)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            status, said = called(proxy)
        assert status == 502
        assert "the certificate of anthropic's address is not trusted (" in said
        assert "in NODE_EXTRA_CA_CERTS, or correct FOLDLINE_ANTHROPIC_BASE_URL" in said
        assert (f"no certificates are read from NODE_EXTRA_CA_CERTS={extra}" in caplog.text) is warned


def test_a_provider_that_is_away_has_no_bad_certificate(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(proxy.authority))
    status, said = called(Proxy(9, proxy.authority))
    assert (status, "does not answer (ConnectError)" in said, "certificate" in said) == (502, True, False)
