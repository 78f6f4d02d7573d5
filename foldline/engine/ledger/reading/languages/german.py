"""German, as data."""

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.words.german import WORDS

_TASK = (
    "behebe?|korrigiere?|repariere?|füge?|lösche?|zeige?|starte?|ändere?|storniere?|suche?|finde?|erstelle?|prüfe?|entferne?|"
    "erkläre?|schick\\w*|schau\\w*|mach\\w*|gib|lies|benenne?|aktualisiere?|buche?|bau\\w*|öffne?|schließe?|führe?|teste?|räum\\w*"
)

GERMAN = Language(
    name="de",
    words=WORDS,
    common="der die das und ist nicht ich du wir sie ein eine den dem mit für auf von zu im bitte wenn nie immer kein keine alle "
    "nur es muss müssen soll sollen antworte verwende halte vor nach ohne "
    "jede funktion höchstens danke braucht gib ändere niemals finger bleib unter stell sicher mach kann könnte wir uns dir mir noch mal auch aus dass",
    letters="äöüß",
    features={
        "task_verb_first": rf"(?:bitte )?(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:bitte |mir |mal |jetzt |noch |doch )*(?:den|die|das|mir|mal|einen|eine|ein|dieses|diese|diesen|mich|uns|es|noch|jetzt)\b",
        "polite_task": r"(?:kannst du|könntest du|könnten sie|können sie|würdest du|hilf mir|lass uns|ich brauche|ich möchte|ich will|schau mal|magst du|mal eben|kurz mal)",
        "chatter": r"(?:danke|ok|okay|super|gut|prima|hallo|ja|nein|klar|toll|perfekt|schön|genau|alles klar|passt|klingt)\b",
        "plan": r"(?:ich werde|wir werden|lass mich)",
    },
)
