"""The styles in which a conversation is written out for a summarizer, as templates.

`transcript` fills the templates; it also bounds and escapes the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

import regex

from foldline.engine.arguments import json_object
from foldline.engine.messages import ROLES, Role
from foldline.engine.tokens.estimates import utf16_units
from foldline.engine.tokens.excerpts import excerpt
from foldline.engine.tokens.output_limits import head_of
from foldline.engine.wire import dumps_text

# The kind of a run of parts. Text, with images in it, has the role of its message as its kind.
Kind: TypeAlias = Role | Literal["thinking", "call", "result"]

PLAIN: Final = "{text}"
QUOTE: Final = "> "


class Caps(NamedTuple):
    """The most characters of one part of each kind."""

    result: int = 4_000
    thinking: int = 1_000
    arguments: int = 2_000
    assistant: int = 400_000
    user: int = 400_000


DEFAULT_CAPS: Final = Caps()


class Run(NamedTuple):
    """The template around consecutive parts of one kind, and the text between them."""

    around: str = PLAIN
    joint: str = "\n"


@dataclass(frozen=True)
class Style:
    """The templates of one style, from messages to their parts.

    `frames` go around messages, `runs` around consecutive parts of one kind. The text before `{text}` in these is a
    label unless it is a tag. `thinking` to `image` are templates of single parts; `arguments` formats the arguments of
    a call. One message shows at most `message_chars`, one part at most its cap in `caps`; both are lowered if the
    conversation does not fit. `cut_result` cuts a tool's result to its cap.
    """

    frames: Mapping[Role, str]
    between: str = "\n"
    within: str = "\n"
    runs: Mapping[Kind, Run] = field(default_factory=dict)
    thinking: str = "<thinking>{text}</thinking>"
    call: str = '<call tool="{tool}">{text}</call>'
    result: str = "<result{tool}{error}>{text}</result>"
    image: str = "[image]"
    arguments: Callable[[str], str] = str
    caps: Caps = DEFAULT_CAPS
    message_chars: int | None = None
    cut_result: Callable[[str, int], str] = excerpt

    def run(self, kind: Kind) -> Run:
        """The templates around and between parts of this kind."""
        return self.runs.get(kind, Run())

    def labelled(self, template: str, text: str, number: int = 0) -> str:
        """The text in a template. If the template has a label, lines of the text that look like one are quoted."""
        if template == PLAIN:
            return text
        return template.format(n=number, text=self._false_label.sub(QUOTE, text))

    @cached_property
    def _false_label(self) -> regex.Pattern[str]:
        """A pattern for the start of a line that looks like one of this style's labels, in any case or indented."""
        templates = (*self.frames.values(), *(run.around for run in self.runs.values()))
        starts = {template.partition(PLAIN)[0].strip() for template in templates}
        # Tags need no quoting: an escaped text cannot open one.
        labels = "|".join(sorted(regex.escape(start) for start in starts if start and not start.startswith("<")))
        return regex.compile(rf"(?miw)^(?=[\h\p{{Cf}}]{{0,8}}(?:{labels}))" if labels else r"(?!)")


def keywords(arguments: str) -> str:
    """A call's arguments as `name=JSON, …`; unchanged if they are not a JSON object."""
    values = json_object(arguments)
    return arguments if values is None else ", ".join(f"{name}={dumps_text(value)}" for name, value in values.items())


HEAD_NOTE: Final = "\n\n[… {count:,} more characters left out]"


def head(text: str, units: int, note: str = HEAD_NOTE) -> str:
    """The first `units` UTF-16 units of a text and a note of how many are left out. No grapheme is cut.

    A text of at most `units` is returned as it is.
    """
    if utf16_units(text) <= units:
        return text
    kept = head_of(text, units, utf16_units)
    return kept + note.format(count=utf16_units(text) - utf16_units(kept))


def _frames(template: str, name: Callable[[str], str] = str) -> Mapping[Role, str]:
    """The template for each role, with the role's name instead of ROLE."""
    return MappingProxyType({role: template.replace("ROLE", name(role)) for role in ROLES})


_RESULTS: Final[Mapping[Role, str]] = {"tool": "[TOOL_RESULT]\n{text}"}
_PI_RUNS: Final[Mapping[Kind, Run]] = {
    "system": Run("[System]: {text}"),
    "developer": Run("[System]: {text}"),
    "user": Run("[User]: {text}", joint=""),
    "thinking": Run("[Assistant thinking]: {text}"),
    "assistant": Run("[Assistant]: {text}"),
    "call": Run("[Assistant tool calls]: {text}", joint="; "),
    "result": Run("[Tool result]: {text}", joint=""),
}

# Styles of other systems use their labels. All styles include tool activity, even if the system's program omits it:
# without it a summary would not say what was done.
STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "foldline": Style(_frames('<message n="{n}" role="ROLE">\n{text}\n</message>')),
        "neurolink": Style(_frames("ROLE: {text}"), between="\n\n"),
        "pi": Style(MappingProxyType({**_frames("[ROLE]\n{text}", str.upper), **_RESULTS}), between="\n\n---\n\n"),
        "pi@program": Style(
            _frames(PLAIN),
            between="\n\n",
            within="\n\n",
            runs=MappingProxyType(_PI_RUNS),
            thinking=PLAIN,
            call="{tool}({text})",
            result=PLAIN,
            image="",
            arguments=keywords,
            caps=Caps(result=2_000, thinking=400_000, arguments=400_000),
            cut_result=head,
        ),
        "agent-code": Style(_frames("ROLE: {text}\n", str.capitalize), between=""),
        "codebuddy": Style(_frames("ROLE: {text}", str.capitalize), message_chars=10_000),
    }
)
