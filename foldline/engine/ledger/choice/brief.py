"""Leaves out what a sentence begins and ends with for politeness; nothing inside it, and no word that is left, changes."""

from __future__ import annotations

import re
from typing import Final

# Each is dropped at the beginning if a comma, a full stop or a dash follows. What may be an answer, as "yes", stays.
_INTERJECTIONS: Final = (
    r"oh|ah|ok|okay|well|so|also|and|hey|hi|hello|hm+|right|alright|all right|good|great|perfect|nice|cool",
    r"thanks|thank you|sorry|please",
    r"ach ja|also|danke|bitte|gut|super|prima|hallo",
    r"bon|alors|merci|bonjour|salut|s'il (?:te|vous) plaît|svp|stp|d'accord",
    r"bueno|vale|gracias|hola|por favor|oye|de acuerdo",
)
# These announce what follows; a colon may stand behind them too.
_ANNOUNCEMENTS: Final = (
    r"btw|fyi|by the way|for the record|to be clear|for your (?:information|records)|for context|quick note|heads[- ]up|side note",
    r"(?:just )?so (?:that )?you(?:'re| are)? (?:know|aware)|before i forget|got it|found it",
    r"(?:just )?(?:one (?:more |last |other |small )?|another )thing(?: before (?:you|we) \w+)?",
    r"as (?:i )?(?:said|mentioned)(?: before| earlier| above)?",
    r"übrigens|(?:nur )?zur info(?:rmation)?|noch (?:was|etwas|eine sache)|wie (?:schon )?gesagt|nebenbei|damit du es weißt",
    r"bevor ich es vergesse",
    r"au fait|pour (?:ton |votre )?info(?:rmation)?|(?:encore une|une dernière) chose|d'ailleurs|comme je (?:l'ai )?(?:disais|dit)",
    r"avant que j'oublie|pour mémoire",
    r"por cierto|para (?:tu|su) información|para que (?:lo )?sepas|una cosa más|otra cosa|como (?:te )?(?:dije|decía)",
    r"antes de que se me olvide|a propósito",
)
# These are dropped at the beginning as they are.
_OPENINGS: Final = (
    r"(?:please |just )?(?:note|be aware|be advised|keep in mind|bear in mind) that\b|(?:as it |it )?turns out(?: that)?\b,?",
    r"(?:i )?(?:just )?(?:wanted to|want to) let you know that\b|(?:just )?so (?:that )?you know\b,?|i can confirm that\b",
    r"(?:could|can|would|will) you please\b|please\b|fyi\b|btw\b",
    r"bitte (?:beachte|bedenke|denk daran), dass\b|zur info\b",
    r"(?:veuillez noter|notez|note|à noter|sachez|sache) que\b|pour info\b",
    r"(?:ten|tenga|tened) en cuenta que\b|nota que\b",
    r"(?:顺便说一下|顺便提一下|另外|对了|请注意|还有一件事|还有|好的|谢谢|多谢|你好|您好|嗯)[，,：:。！!]",
)
# These are dropped at the end if a comma or a dash stands before them.
_TAILS: Final = (
    r"please|thanks(?: a lot)?|thank you|by the way|btw|fyi|as (?:i )?(?:said|mentioned)(?: before| earlier)?|as you know",
    r"(?:just )?so (?:that )?you know|for your information|for the record|all right|okay|ok",
    r"in case (?:you (?:need|want|wonder|have|ever)|that helps|it (?:helps|matters))[\w ]{0,40}",
    r"if (?:you (?:want to know|need it|are interested|wonder)|that helps|it (?:helps|matters))[\w ]{0,20}",
    r"bitte|danke|übrigens|wie gesagt|falls du (?:es|das|ihn|sie) brauchst|(?:nur )?zur info",
    r"merci|s'il (?:te|vous) plaît|svp|stp|au fait|pour info|si (?:tu en as|vous en avez) besoin|si besoin",
    r"gracias|por favor|por cierto|por si (?:lo necesitas|acaso|te sirve)|para que lo sepas",
    r"谢谢|多谢|麻烦了|拜托了",
)
_DASH: Final = "\\s[-\N{EN DASH}\N{EM DASH}]\\s"
_LEAD: Final = re.compile(
    rf"(?:(?:{'|'.join(_INTERJECTIONS)})(?:[,!.]\s|{_DASH})|(?:{'|'.join(_ANNOUNCEMENTS)})(?:\s?[,:.]\s|{_DASH})"
    rf"|(?:{'|'.join(_OPENINGS)})\s?)(?=\S)",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(rf"(?:,\s|，|{_DASH})(?:{'|'.join(_TAILS)})(?P<end>[.!?。]?)\Z", re.IGNORECASE)
# Where a tail may begin, so that the search is bounded.
TAIL_CHARS: Final = 80
MOST_LEADS: Final = 3
# A shorter rest says nothing.
LEAST_CHARS: Final = 12


def brief(sentence: str) -> str:
    """The sentence without polite words at its edges; as it is if little would be left."""
    start = 0
    for _ in range(MOST_LEADS):
        match = _LEAD.match(sentence, start)
        if match is None:
            break
        start = match.end()
    rest = _without_tail(sentence[start:])
    return rest if len(rest) >= LEAST_CHARS else sentence


def _without_tail(text: str) -> str:
    match = _TAIL.search(text, max(0, len(text) - TAIL_CHARS))
    return text[: match.start()] + match["end"] if match else text
