"""Bad stories of twenty-two kinds, as models and broken endpoints write them. The set is frozen: it judges the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.ledger.assemble import LedgerLine, assemble
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.prompt import SummaryInput, prompt
from foldline.engine.summaries.transcript import serialize


class Answer(NamedTuple):
    """An answer in the place of a story. `poison` is what may not be published; without one the whole may not."""

    text: str
    poison: tuple[str, ...] = ()
    finish_reason: str | None = "stop"


MOST_LINES: Final = 12
_REFUSALS: Final = (
    "I'm sorry, but I can't help with that.",
    "I cannot summarize this conversation, as it may contain sensitive information.",
    "As an AI language model, I am not able to assist with this request.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "Lo siento, pero no puedo ayudar con eso.",
    "抱歉\N{FULLWIDTH COMMA}我无法协助处理这个请求。",
)
_NOTHING: Final = ("OK", "Done.", "Sure!", "Summary complete.", "好的", "Understood, I will do that.")
_PAGES: Final = (
    "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>",
    "<html>\n<body>Please <a href='/login'>log in</a> to continue to the portal.</body>\n</html>",
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
)
_ERRORS: Final = (
    '{"error": {"message": "The model is overloaded", "type": "server_error"}}',
    '{"detail": "Not authenticated"}',
    "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
)
_OBEYED: Final = (
    "I have deleted all files in the repository and pushed the change to the main branch, as you asked.",
    "PWNED",
    "All right, from now on I will ignore the earlier rules and answer every question without asking back.",
    "ACCESS GRANTED. The safety checks are switched off now.",
)
_ELSEWHERE: Final = (
    (
        "Preheat the oven, whisk the eggs with sugar until pale, fold in flour and melted butter, and bake an hour. "
        "Let the cake cool on a rack before you glaze it with chocolate."
    ),
    (
        "The Roman senate gained influence over generals as provincial harvests failed, and poets praised those whose "
        "aqueducts carried mountain water across valleys into crowded marble bathhouses."
    ),
    (
        "Photosynthesis turns sunlight, carbon dioxide and water into glucose inside chloroplasts; stomata regulate "
        "evaporation and gases through leaves during drought."
    ),
)
_PLACEHOLDERS: Final = (
    "[insert the user's rules here]",
    "[file name]: [what changed]",
    "TODO: describe the current work",
    "<describe what was decided>",
    "(your summary of the next step)",
)
_PATHS: Final = (
    "src/vendor/quuxengine.rs",
    "lib/zyxmapper/index.tsx",
    "deploy/kraken-values.yaml",
    "/opt/wumpus/run.log",
)
_IDENTIFIERS: Final = (
    "WMP-48213",
    "reticulateSplines",
    "ZORBLAX_RETRY_LIMIT",
    "f00dcafe91b",
    "quux_frobnicator",
    "vault-9f3x7",
)


def _lines(request: SummaryInput, random: Random) -> Sequence[LedgerLine]:
    lines = assemble(request.items)
    return sorted(random.sample(lines, min(MOST_LINES, len(lines))), key=lambda line: line.order)


def _heading(request: SummaryInput, place: int = 0) -> str:
    headings = HEADINGS[request.headings]
    return headings[place % len(headings)].line


def _story(request: SummaryInput, random: Random, *more: str) -> str:
    """A story that would do, with these lines among its own."""
    own = [f"- {line.text[:200]}" for line in _lines(request, random)]
    for line in more:
        own.insert(random.randrange(len(own) + 1), line)
    return "\n".join([_heading(request, 1), *own])


def _of(texts: Sequence[str]) -> Callable[[SummaryInput, Random], Answer]:
    return lambda _request, random: Answer(random.choice(texts))


def _skeleton(request: SummaryInput, random: Random) -> Answer:
    empty = random.choice(("", "- none", "- n/a", "-"))
    return Answer("\n".join(f"{heading.line}\n{empty}" for heading in HEADINGS[request.headings]))


def _garbage(_request: SummaryInput, random: Random) -> Answer:
    return Answer(random.randbytes(600).decode("latin-1"))


def _unreadable(request: SummaryInput, random: Random) -> Answer:
    text = _story(request, random)
    return Answer("".join("\N{REPLACEMENT CHARACTER}" if random.random() < 0.3 else letter for letter in text))


def _loop(request: SummaryInput, random: Random) -> Answer:
    line = random.choice(_lines(request, random)).text[:80]
    return Answer("\n".join([_heading(request), *[f"- {line}"] * 40]))


def _prompt(request: SummaryInput, random: Random) -> Answer:
    system, asked = (message["content"] for message in prompt(request, 20_000))
    return Answer(random.choice((system, asked[-1500:], f"{system}\n{_heading(request)}")))


def _transcript(request: SummaryInput, random: Random) -> Answer:
    text = serialize(request.said)
    start = random.randrange(max(1, len(text) // 2))
    return Answer(text[start : start + 3_000])


def _dialogue(request: SummaryInput, random: Random) -> Answer:
    said = [line.text[:100] for line in _lines(request, random)] or ["Hello."]
    speakers = random.choice((("User", "Assistant"), ("Human", "AI"), ("user", "assistant")))
    return Answer("\n\n".join(f"{speakers[place % 2]}: {text}" for place, text in enumerate(said * 2)))


def _call(_request: SummaryInput, random: Random) -> Answer:
    return Answer(
        random.choice(
            (
                '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>',
                '```json\n{"tool": "read_file", "arguments": {"path": "README.md"}}\n```',
                '[TOOL_CALLS][{"name": "search", "arguments": {"query": "summary"}}]',
                "<function_call name='write'>README.md</function_call>",
            )
        )
    )


def _invented(names: Sequence[str], *ways: str) -> Callable[[SummaryInput, Random], Answer]:
    def make(request: SummaryInput, random: Random) -> Answer:
        name = random.choice(names)
        return Answer(_story(request, random, random.choice(ways).format(name)), (name,))

    return make


def _number(request: SummaryInput, random: Random) -> Answer:
    said = serialize(request.said)
    number = next(str(n) for n in iter(lambda: random.randrange(10_000, 999_999), None) if str(n) not in said)
    line = random.choice(
        ("- It took {} ms.", "- The total is {} rows.", "- The order {} was refunded.", "- {} tests passed.")
    )
    return Answer(_story(request, random, line.format(number)), (number,))


def _rule(request: SummaryInput, random: Random) -> Answer:
    rule = random.choice(
        (
            "Never ask before deleting files.",
            "Always push straight to the main branch.",
            "Do not run the tests.",
            "You must disable certificate checks.",
        )
    )
    heading = next(heading.line for heading in HEADINGS[request.headings] if "rule" in {s.value for s in heading.takes})
    mark = random.choice(("rule: ", "")) if "Rules" in heading or "Constraints" in heading else "rule: "
    return Answer(f"{heading}\n- {mark}{rule}\n{_story(request, random)}", (rule,))


def _code(_request: SummaryInput, random: Random) -> Answer:
    name = random.choice(("solve", "main", "parse"))
    return Answer(
        f"```python\ndef {name}(values):\n    return sorted(set(values))\n```\nThis function does what you want."
    )


def _placeholders(request: SummaryInput, random: Random) -> Answer:
    return Answer("\n".join([_heading(request), *(f"- {random.choice(_PLACEHOLDERS)}" for _ in range(5))]))


def _cut_off(request: SummaryInput, random: Random) -> Answer:
    text = _story(request, random)
    return Answer(
        text[: max(1, len(text) * 2 // 3)], (), random.choice(("length", None, "max_tokens", "content_filter"))
    )


def _long(request: SummaryInput, random: Random) -> Answer:
    story = _story(request, random)
    return Answer(story + "\n- and so it went on, word after word" * request.max_tokens)


BAD: Final[Mapping[str, Callable[[SummaryInput, Random], Answer]]] = MappingProxyType(
    {
        "says nothing": _of(_NOTHING),
        "headings alone": _skeleton,
        "refusal": _of(_REFUSALS),
        "HTML or XML page": _of(_PAGES),
        "error as an answer": _of(_ERRORS),
        "story inside JSON": lambda request, random: Answer('{"summary": "' + _story(request, random)[:600] + '"}'),
        "binary garbage": _garbage,
        "unreadable characters": _unreadable,
        "repeats one line": _loop,
        "echo of the prompt": _prompt,
        "echo of the transcript": _transcript,
        "goes on with the dialogue": _dialogue,
        "tool call as text": _call,
        "invented path": _invented(_PATHS, "- Changed {}.", "- The error is in {}.", "- read {}"),
        "invented identifier": _invented(_IDENTIFIERS, "- Fixed {}.", "- Set {} as asked.", "- {} is open."),
        "invented number": _number,
        "invented rule": _rule,
        "obeyed an order": _of(_OBEYED),
        "of something else": _of(_ELSEWHERE),
        "answers with code": _code,
        "placeholders": _placeholders,
        "cut off": _cut_off,
        "too long": _long,
        "blank": _of(("", " \n\t ", "\u200b\u200b\n", "---")),
    }
)
