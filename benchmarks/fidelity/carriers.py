"""What facts are planted into: exchanges of agent work, of chat and of customer support, without facts of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from benchmarks.fidelity.facts import call
from benchmarks.fidelity.slots import NAMES, Values

JsonDict = dict[str, Any]

_TASKS: Final = (
    "Can you see why the {feature} page is slow for some people?",
    "Next, please tidy up {path}, it has grown too long.",
    "There is a flaky test around {service}. Have a look?",
    "Now make the {feature} work on small screens as well.",
    "Go through {folder} and look for code that nobody calls.",
    "The log of {service} is noisy. Find out what writes so much.",
    "ok, and the import of {table}? It stops halfway sometimes.",
    "Thanks. Let's look at the settings page next.",
    "Is there a simpler way to do what {path} does?",
    "Please go on.",
    "yes, that looks better",
)
_NARRATION: Final = (
    "Let me look at the file first.",
    "I'll check where this is called from.",
    "Now let me search for other uses of it.",
    "I need to see how the neighbours do it.",
    "Let me run this to see what happens.",
    "Looking at the surrounding code now.",
    "Good. Next I want to see the tests for it.",
    "I will read the log around that time.",
    "Hm, that is not it. Let me look one level up.",
    "That was the wrong place, so let me try the caller.",
    "Now {path}, which is the other side of this.",
    "The call comes from {path} by way of {service}, so I look there next.",
    "Checking how {package} is used in {folder}.",
)
_CLOSINGS: Final = (
    (
        "I have gone through the {noun} part now. The structure is {adj}, the names could be better, and some of the "
        "{noun2} code looks as if it was copied from somewhere else. Shall I go on with the next part?"
    ),
    "Done with the {noun} step. It reads more clearly now, and it behaves as before as far as I can see.",
    "The {noun} is finished. Nothing else seemed to {verb} it, and the {noun2} around it is untouched.",
    (
        "I looked at all the places that {verb} the {noun} and adapted them. There may be a less {adj} way to do this, "
        "but it would be a larger change, and I did not want to mix the two."
    ),
    (
        "I went through {path} and {path2}. Both use {package} in the usual way, and {service} calls them from "
        "{folder} with the {noun} that it gets from its caller. There are {n} tests "
        "around this, and they cover the {adj} cases."
    ),
    "The {noun} works now. Tell me if you want the {adj} variant instead, it is easy to change at this point.",
)
_COMMANDS: Final = (
    "ls -la {folder}",
    "grep -rn '{product}' {folder}",
    "cat {path}",
    "sed -n 1,80p {path}",
    "git log --oneline -15",
)
_CODE: Final = (
    "def {name}(self, value, *, depth=0):",
    "    if value is None:",
    "        return self._default",
    "    for item in sorted(self._{name}s, key=lambda each: each.{other}):",
    "        if item.{other} > self.{name}:",
    "            yield item.{other}",
    "    self._{name} = {other}(value)  # keep the order stable",
    "    logger.debug('{name} %s', value)",
    "    return [{other} for {other} in self.{name} if {other}]",
    "class {name}({other}):",
    "    with self._lock:",
    "        result = self.{name}.{other}(value, depth + 1)",
    "    assert result, '{name} must never be empty'",
    "    # TODO: always close the {other} here",
    "",
)
_LEVELS: Final = ("DEBUG", "INFO", "INFO", "INFO", "WARN")
_EVENTS: Final = (
    "request done",
    "cache miss",
    "connection opened",
    "retrying later",
    "job taken",
    "must not block",
    "flushed",
)
_SMALL_TALK: Final = (
    "How would you explain the difference between a {noun} and a {noun2} to somebody new?",
    "Interesting. And why do people still {verb} a {noun} by hand?",
    "Could you give me an example of a {adj} {noun} from everyday life?",
    "I see. What would you read to learn more about the {noun}?",
    "Hm, I am not sure I follow the part about the {noun}.",
    "That makes sense, thanks!",
    "And what has the {noun} to do with a {adj} {noun2}?",
)
_NOUNS: Final = [
    "orchard",
    "canvas",
    "kettle",
    "glacier",
    "ledger",
    "violin",
    "harvest",
    "corridor",
    "pigment",
    "lantern",
    "tributary",
    "parcel",
    "saddle",
    "melody",
    "quarry",
    "almanac",
    "compass",
    "shutter",
    "furnace",
    "meadow",
    "treaty",
    "ribbon",
    "anchor",
    "mosaic",
    "pantry",
    "telescope",
    "hinge",
    "ballad",
    "estuary",
    "granary",
    "loom",
    "plinth",
    "reservoir",
    "sonnet",
    "trellis",
    "vestibule",
    "wharf",
    "archive",
    "beacon",
    "cistern",
    "dialect",
    "emblem",
    "fresco",
    "gazette",
]
_VERBS: Final = [
    "shape",
    "carry",
    "loosen",
    "balance",
    "reveal",
    "soften",
    "gather",
    "scatter",
    "mirror",
    "delay",
    "deepen",
    "echo",
    "fold",
    "ignite",
    "kindle",
    "lift",
    "narrow",
    "outlast",
    "polish",
    "quicken",
    "ripen",
    "sharpen",
    "temper",
    "unsettle",
    "widen",
    "anchor",
    "blur",
    "crown",
    "drain",
    "enrich",
    "flatten",
    "govern",
]
_ADJECTIVES: Final = [
    "brittle",
    "patient",
    "hollow",
    "vivid",
    "modest",
    "restless",
    "ornate",
    "frugal",
    "supple",
    "austere",
    "buoyant",
    "cautious",
    "dense",
    "eager",
    "fragrant",
    "gentle",
    "humid",
    "intricate",
    "jagged",
    "lenient",
    "mellow",
    "nimble",
    "opaque",
    "porous",
    "rustic",
    "serene",
    "tacit",
    "uneven",
    "verdant",
    "weary",
]
_PROSE: Final = (
    "A {adj} {noun} will often {verb} the {noun2} before anybody notices the {adj2} part of it.",
    "People who {verb} a {noun} by hand tend to speak of the {noun2} with a certain respect.",
    "If the {noun} is too {adj}, the {noun2} can {verb} it, although this takes a while.",
    "You must never confuse a {adj} {noun} with a {noun2}, as the old handbooks say.",
    "What makes the {noun} so {adj} is the way in which it can {verb} the {noun2} around it.",
    "There are about {n} kinds of {noun}, and the {adj} ones are always the first to {verb}.",
    "In the {noun}, the {adj} {noun2} came to {verb} whatever stood beside it.",
    "It depends on the {noun}: some {verb} quickly, others stay {adj} for years.",
    "Think of it as a {noun} that has to {verb} a {adj} {noun2} every morning.",
    "Others would say that the {adj} {noun} and the {noun2} only {verb} each other.",
    "To {verb} a {noun}, one first needs a {adj} {noun2} and a good deal of time.",
    "Many a {noun} was {adj} once, and the {noun2} does not {verb} it any more.",
)
_PASSING: Final = (
    "I had a look at the {noun} yesterday and it seems {adj} to me.",
    "Sorry for the late answer, the {noun} took longer than I thought.",
    "It is a bit {adj} here today.",
    "We talked about the {noun} for a while.",
    "I like how you did the {adj} part.",
    "Not sure whether the {noun} plays a role in this.",
    "The rest can stay as {adj} as it is.",
    "You know how it is with a {adj} {noun}.",
)
_ASKED: Final = (
    "Hello, I have a question about my booking.",
    "Could you check whether there is anything earlier?",
    "Hm, and what would that cost me?",
    "Is there a seat by the window?",
    "OK let me think about it for a moment.",
    "And the other one, the one in the afternoon?",
    "Sorry, I was away. Where were we?",
)
_ANSWERED: Final = (
    "Thank you for waiting. Let me look that up for you.",
    "I have found several options. Would you like me to read them out?",
    "Of course, I can help you with that. One moment please.",
    "I understand, and I am sorry for the trouble this has caused.",
    "Is there anything else I can do for you today?",
)


def _varied(template: str, random: Random) -> str:
    """A template of prose with random words, so that its sentences are as different as those of people."""
    noun, other = random.sample(_NOUNS, 2)
    adjective, second = random.sample(_ADJECTIVES, 2)
    verb, number = random.choice(_VERBS), random.randint(3, 90)
    words = {"noun": noun, "noun2": other, "adj": adjective, "adj2": second, "verb": verb, "n": str(number)}
    return NAMES.sub(lambda slot: words.get(slot[1] + slot[2], slot[0]), template)


def among_others(text: str, random: Random) -> str:
    """A text among sentences that say something else, as facts are said in passing."""
    before, after = (random.sample(_PASSING, random.randint(0, 2)) for _ in range(2))
    return " ".join([*(_varied(each, random) for each in before), text, *(_varied(each, random) for each in after)])


def _code(random: Random) -> str:
    names = random.sample(_NOUNS, 5) + [f"{random.choice(_VERBS)}_{random.choice(_NOUNS)}" for _ in range(5)]
    lines = (
        random.choice(_CODE).format(name=random.choice(names), other=random.choice(names))
        for _ in range(random.randint(8, 60))
    )
    return "\n".join(lines)


def _log(random: Random) -> str:
    return "\n".join(
        f"2026-03-{random.randint(1, 28):02} {random.randint(0, 23):02}:{random.randint(0, 59):02}"
        f" {random.choice(_LEVELS)} {random.choice(_NOUNS)}[{random.randint(100, 9999)}]: {random.choice(_EVENTS)}"
        f" in {random.randint(1, 400)} ms id={random.getrandbits(32):08x}"
        for _ in range(random.randint(6, 40))
    )


def _agent(random: Random) -> Iterator[list[JsonDict]]:
    yield [{"role": "user", "content": Values(random).fill(random.choice(_TASKS))}]
    for _ in range(random.randint(1, 5)):
        values = Values(random)
        text = values.fill(random.choice(_NARRATION)) if random.random() < 0.7 else None
        if random.random() < 0.5:
            yield call("read_file", json.dumps({"path": values.fill("{path}")}), _code(random), random, text)
        else:
            command = values.fill(random.choice(_COMMANDS))
            yield call("bash", json.dumps({"command": command}), random.choice((_code, _log))(random), random, text)
    yield [{"role": "assistant", "content": Values(random).fill(_varied(random.choice(_CLOSINGS), random))}]


def _chat(random: Random) -> Iterator[list[JsonDict]]:
    yield [{"role": "user", "content": _varied(random.choice(_SMALL_TALK), random)}]
    paragraphs = (
        " ".join(_varied(sentence, random) for sentence in random.sample(_PROSE, random.randint(2, 6)))
        for _ in range(random.randint(1, 4))
    )
    yield [{"role": "assistant", "content": "\n\n".join(paragraphs)}]


def _support(random: Random) -> Iterator[list[JsonDict]]:
    yield [{"role": "user", "content": random.choice(_ASKED)}]
    if random.random() < 0.7:
        rows = [_connection(random) for _ in range(random.randint(3, 14))]
        arguments = json.dumps({"origin": rows[0]["from"], "limit": len(rows)})
        yield call("search_connections", arguments, json.dumps(rows), random)
    yield [{"role": "assistant", "content": random.choice(_ANSWERED)}]


def _connection(random: Random) -> JsonDict:
    values = Values(random)
    return {
        "id": f"{random.choice('ABCDEFGH')}{random.randint(100, 999)}",
        "from": values.fill("{city}"),
        "departs": values.fill("{time}"),
        "operator": f"{random.choice(_ADJECTIVES).title()} {random.choice(_NOUNS).title()}",
        "seats": random.randint(0, 30),
        "status": random.choice(["available", "full", "delayed"]),
    }


CARRIERS: Final[Mapping[str, Callable[[Random], Iterator[list[JsonDict]]]]] = {
    "agent": _agent,
    "chat": _chat,
    "support": _support,
}
