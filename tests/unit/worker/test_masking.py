"""What is masked in the input of a summarizer that calls a model, and what is not."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from foldline_worker.summarizers.masking import mask, mask_arguments, masked
from foldline_worker.summarizers.secret_patterns import PATTERNS, TOKENS

from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult
from foldline.engine.summaries.prompt import SummaryInput
from tests.support.made_up_secrets import EXAMPLES, HARMLESS, Example, made_up, private_key

TOKEN = EXAMPLES["a token of GitHub"]
each_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)


@each_example
def test_a_placeholder_takes_the_place_of_a_secret_and_nothing_else(example: Example) -> None:
    assert mask(example.text) == example.masked


@each_example
def test_a_secret_is_found_inside_of_a_conversation(example: Example) -> None:
    text = f"$ cat notes.txt\nfirst line\n{example.text}\nlast line\n"
    assert mask(text) == f"$ cat notes.txt\nfirst line\n{example.masked}\nlast line\n"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays_byte_for_byte(text: str) -> None:
    assert mask(text) == text


def test_secrets_that_touch_are_all_masked() -> None:
    examples = [EXAMPLES[name] for name in ("a token of GitHub", "a private key", "a password in a URL", "a cookie")]
    without = mask(" ".join(example.text for example in examples))
    assert not any(example.secret in without for example in examples)
    assert without.count("[secret removed: ") == len(examples)


def test_a_lone_surrogate_hides_no_secret() -> None:
    assert mask(f"\ud83d {TOKEN.text} \udc00") == f"\ud83d {TOKEN.masked} \udc00"


def test_a_mention_of_a_key_does_not_take_the_rest_of_the_text_with_it() -> None:
    mention = "if '-----BEGIN " + "PRIVATE KEY-----' in text:\n    raise ValueError\n" + "more to read\n" * 2_000
    assert mask(mention).endswith(mention.partition("KEY-----")[2])


def test_arguments_stay_json_and_keep_what_is_no_secret() -> None:
    value = {
        "path": "a/b.py",
        "lines": [1, 2.5, None, True],
        "content": f'x = "{TOKEN.secret}"\n\tdef f():\n        pass',
        "env": [{"password": "hunter2hunter2", "user": "me"}],
        TOKEN.secret: "no",
    }
    without: dict[str, Any] = json.loads(mask_arguments(json.dumps(value)))
    assert without == {
        "path": "a/b.py",
        "lines": [1, 2.5, None, True],
        "content": 'x = "[secret removed: github token]"\n\tdef f():\n        pass',
        "env": [{"password": "[secret removed: credential]", "user": "me"}],
        "[secret removed: github token]": "no",
    }


@each_example
def test_a_secret_in_arguments_is_masked_though_it_is_quoted(example: Example) -> None:
    arguments = json.dumps({"command": f'echo "{example.text}"\n', "timeout": 10}, indent=1)
    without = mask_arguments(arguments)
    assert json.loads(without) == {"command": mask(f'echo "{example.text}"\n'), "timeout": 10}
    assert example.secret not in without
    assert mask_arguments(without) == without


@pytest.mark.parametrize(
    "arguments", ["", "{}", "{ }", '{"a" : 1e5}', '{"n": 123456789012345678901234567890}', '["a"]', "{", "ls -la"]
)
def test_arguments_without_a_secret_stay_byte_for_byte(arguments: str) -> None:
    assert mask_arguments(arguments) == arguments


def test_a_secret_in_a_member_that_another_one_of_its_name_hides_is_masked() -> None:
    without = mask_arguments(f'{{"a": "{TOKEN.secret}", "a": 1}}')
    assert json.loads(without) == {"a": 1}
    assert TOKEN.secret not in without


def test_a_secret_that_another_member_names_is_masked() -> None:
    value: dict[str, Any] = {
        "env": [{"name": "API_TOKEN", "value": made_up(40)}, {"name": "STAGE", "value": "production"}],
        "n": 1,
    }
    without = json.loads(mask_arguments(json.dumps(value)))
    assert without["env"][0] == {"name": "API_TOKEN", "value": "[secret removed: credential]"}
    assert without["env"][1:] == value["env"][1:]


def test_arguments_that_are_no_object_are_masked_as_text() -> None:
    assert mask_arguments(f"{{broken {TOKEN.text}") == f"{{broken {TOKEN.masked}"


def test_arguments_that_are_nested_beyond_reason_are_masked_as_text() -> None:
    deep = '{"a":' * 700 + f'"{TOKEN.text}"' + "}" * 700
    assert TOKEN.secret not in mask_arguments(deep)


def test_all_that_is_sent_of_a_request_is_masked_and_the_request_is_not() -> None:
    image = Image("image/png", "aGk=")
    other = Other("audio", {"data": "aGk="})
    request = SummaryInput(
        previous=("all well", f"used {TOKEN.text}"),
        messages=(
            Message("user", (Text(TOKEN.text, {"type": "text", "text": TOKEN.text}), image, other)),
            Message(
                "assistant", (Thinking(TOKEN.text), ToolCall("c", "run", f'{{"t":"{TOKEN.secret}"}}', {"id": "c"}))
            ),
            Message("tool", (ToolResult("c", (Text("fine"), image, Text(TOKEN.text)), "run", is_error=True),)),
            Message("assistant", (Text("no secret"),)),
        ),
        max_tokens=200,
        instructions=f"stress {TOKEN.text}",
        turn_prefix=(Message("user", (Text(TOKEN.text),)),),
    )
    before = repr(request)
    without = masked(request)
    assert without == SummaryInput(
        previous=("all well", f"used {TOKEN.masked}"),
        messages=(
            Message("user", (Text(TOKEN.masked), image, other)),
            Message(
                "assistant", (Thinking(TOKEN.masked), ToolCall("c", "run", '{"t":"[secret removed: github token]"}'))
            ),
            Message("tool", (ToolResult("c", (Text("fine"), image, Text(TOKEN.masked)), "run", is_error=True),)),
            Message("assistant", (Text("no secret"),)),
        ),
        max_tokens=200,
        instructions=f"stress {TOKEN.masked}",
        turn_prefix=(Message("user", (Text(TOKEN.masked),)),),
    )
    assert repr(request) == before
    assert TOKEN.secret not in repr(without)


def test_a_request_without_instructions_stays_without() -> None:
    assert masked(SummaryInput((), (), 200)).instructions is None


def test_each_pattern_has_words_to_look_for_and_an_expression_that_compiles() -> None:
    for word, patterns in (*PATTERNS.items(), *TOKENS.items()):
        assert word == "".join(word.casefold().split())
        assert all(list(pattern.spans("")) == [] for pattern in patterns)


HOSTILE = (
    "-----BEGIN " + "PRIVATE KEY-----", "-----BEGIN " + "PRIVATE KEY-----\n\\n 1", "://", "://a:b", "://a:b/",
    "://a:b@/@", "token: ", "token: a", '"pass": "', "?token=", "TOKEN=",
    "password: ", "password" + " " * 20, "--password ", "login a password ", "mysql -p", "docker login ", "cookie: a=",
    "Private-Lines: 1 ", "sk-", "ghp_", "[secret removed: a]", 'password="[secret removed: a]" ', "\ud800", "\\\\n",
    "-----END " + "PRIVATE KEY-----\n", "-----BEGIN OpenVPN Static key V1-----\n", "\nAb1" + "x" * 61, "MIIEaQIBAAK",
    "LS0tLS1CRUdJTi", "$6$a$", "{SHA}", "SCRAM-SHA-1$1:", "eyJ-", "eyJhbGciOi-", "AQE/", "a--", "q~", "A1b:x@", "@",
    "password from A1b!xyz to ", "password for the a b c ", "password is ", "| password | A1b!xyz ",
    "a,password\na,b\n", "<password>", "password\n value: ", 'password: "a', "password „a", "passphrase: abc-",
    "passphrase: 'abc ", "pw: 1",
    "密码是", "密钥:", "token A1", "token: A1", "token: a.b", "secret for a ", "API_KEY=", "TOKEN_A1=", "totp ", "0x",
    "private key ", "mnemonic: ", 'session: "', "use A1b!xyz as the ", "A1b!xyzab as the password ", "Authorization: ",
    "data:\n  data: AAAA\n", "kind: Secret\ndata:\n a: b\n", '"data": {"a": "abcd",', '"sensitive": true, "value": ',
    "random_password ", "recovery codes\nabcd\n", "curl -u a:", "https -a ", "echo '", "htpasswd -b a ", 'auth("a", ',
    "--password=", "sqlplus a/", "a:5432:b:c:", "your-", "xxxx", "self.a", "token: a_key",
    "password\nA1bcdefghijkl", 'password" send "', "password(a, ", "mdp a b c d ", "creds are a / ",
    '"a:bcde" | ', "-pw ",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("filler", ["", "a" * 40, "0 " * 20], ids=["plain", "letters", "gaps"])
def test_the_time_grows_with_the_text_and_no_faster(piece: str, filler: str) -> None:
    text = (piece + filler) * (60_000 // len(piece + filler))
    # Of this process alone: others may share its processors.
    started = process_time()
    mask(text)
    assert process_time() - started < 2.5, "a tenth of a second is usual; what grows with the square takes far longer"


def test_a_key_in_a_very_long_text_is_masked_where_it_is() -> None:
    filler = "an ordinary line of a log, number 12345\n" * 5_000
    key = private_key(name=f"{made_up(4, 'EC')} ")
    assert mask(f"{filler}{key}\n{filler}") == f"{filler}[secret removed: private key]\n{filler}"
