from __future__ import annotations

import socket

import pytest

from foldline.cli.database import settings_of
from foldline.cli.listening import listener_for
from foldline.terminal import CommandFailed


def test_connections_of_the_listener_are_known_to_be_tcp() -> None:
    # asyncio turns delayed sending off only for these.
    with (
        listener_for(settings_of({"port": 0})) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_names_the_option_to_change() -> None:
    with listener_for(settings_of({"port": 0})) as listener:
        port = listener.getsockname()[1]

        with pytest.raises(CommandFailed, match="--port or FOLDLINE_PORT"), listener_for(settings_of({"port": port})):
            pass


def test_a_setting_that_cannot_be_used_fails_the_command() -> None:
    with pytest.raises(CommandFailed, match="FOLDLINE_PORT"):
        settings_of({"port": 99999})


def test_options_that_were_not_given_leave_the_settings_alone() -> None:
    assert settings_of({"host": None, "port": 0}) == settings_of({"port": 0})
