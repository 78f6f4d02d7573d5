"""German, as data."""

from foldline.engine.ledger.reading.language import Language

_TASK = (
    "behebe?|korrigiere?|repariere?|füge?|lösche?|zeige?|starte?|ändere?|storniere?|suche?|finde?|erstelle?|prüfe?|entferne?|"
    "erkläre?|schick\\w*|schau\\w*|mach\\w*|gib|lies|benenne?|aktualisiere?|buche?|bau\\w*|öffne?|schließe?|führe?|teste?|räum\\w*"
)
_PEOPLE = (
    "praktikant\\w*|kund\\w*|chef\\w*|fahrer\\w*|prüfer\\w*|mitarbeiter\\w*|schüler\\w*|student\\w*|leute|lieferant\\w*|kolleg\\w*|"
    "bank|behörde|nachbar\\w*|gäste|besucher\\w*|azubis?|patient\\w*|vermieter\\w*|kinder|lehrer\\w*|partner\\w*|anwält\\w*|mieter"
)

GERMAN = Language(
    name="de",
    common="der die das und ist nicht ich du wir sie ein eine den dem mit für auf von zu im bitte wenn nie immer kein keine alle "
    "nur es muss müssen soll sollen antworte verwende halte vor nach ohne "
    "jede funktion höchstens danke braucht gib ändere niemals finger bleib unter stell sicher mach kann könnte wir uns dir mir noch mal auch aus dass",
    letters="äöüß",
    leads=r"(?:bitte|ok|okay|also|und|aber|übrigens|ab (?:jetzt|sofort)|noch was|außerdem|in zukunft|künftig|wichtig)",
    features={
        "prohibits_first": r"(?:nie|niemals|kein|keine|keinen|nicht|lass|lasst|finger weg|vermeide|unterlass|hör auf|bloß|auf keinen fall)\b",
        "prohibits": r"(?:nie|niemals|nicht|kein|keine|keinen|keinem|keiner|verboten|tabu|untersagt|finger|vermeide|unerwünscht|unzulässig"
        r"|darfst du|darf|dürfen|ohne (?:rückfrage|rücksprache|mich|meine|zu fragen|freigabe|zustimmung))",
        "obliges": r"(?:muss|müssen|musst|soll|sollen|sollte|sollst|sollten|stell sicher|stelle sicher|achte|pflicht|erforderlich|denk daran|denke daran"
        r"|vergiss nicht|braucht|brauchen|benötigt|sorge|gehört|gehören|hat zu|haben zu|ist zu|sind zu|bitte)",
        "universal": r"(?:immer|jede[srnm]?|alle[srnm]?|stets|ab (?:jetzt|sofort|heute)|künftig|grundsätzlich|jedes mal|überall|von nun an|in zukunft"
        r"|jederzeit|nichts|niemand|ausnahmslos|ausnahme|generell|prinzipiell|durchgehend|sämtliche|sobald|solange)",
        "limits": r"(?:höchstens|maximal|mehr als|unter|über|mindestens|weniger|limit|grenze|überschreiten|länger als|bis zu|innerhalb|nicht mehr"
        r"|obergrenze|begrenz\w*|pro (?:tag|stunde|minute|anfrage)|darunter|darüber)",
        "conditional_first": r"(?:wenn|falls|sobald|bevor|nachdem|vor|nach|bei|sofern|solange|ehe|im fall|im zweifel)\b",
        "roles": r"(?:nur \w+ (?:darf|kann|dürfen|entscheidet|gibt)|außer|freigabe|freigeben|genehmig\w*|entscheidet|zustimmung|zuständig|absprache"
        r"|über \w+ laufen|rücksprache|unterschreib\w*|deine rolle|du bist)",
        "formats": r"(?:format|json|utc|iso|deutsch|englisch|tabs|leerzeichen|markdown|stichpunkt\w*|überschrift\w*|kommentar\w*|datum|daten|groß|klein"
        r"|duze|sieze|förmlich|kurz|knapp|sätze|wörter|zeilen|tabelle\w*|commit\w*|stil|anführungszeichen|einheiten|antworte|schreib\w*)",
        "standing_verb_first": r"(?:bitte )?(?:verwende|nutze|benutze|halte?|schreibe?|antworte|frage?|nenne?|nimm|behandle|bleib\w*|achte|beachte|formuliere|gib|setz\w*"
        r"|sprich|mache?|stelle?|lege?|lass|runde|zitiere|kürze|begrenze|bevorzuge|arbeite|sichere|prüfe|vermeide|denk\w*)\b",
        "task_verb_first": rf"(?:bitte )?(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:bitte |mir |mal |jetzt |noch |doch )*(?:den|die|das|mir|mal|einen|eine|ein|dieses|diese|diesen|mich|uns|es|noch|jetzt)\b",
        "polite_task": r"(?:kannst du|könntest du|könnten sie|können sie|würdest du|hilf mir|lass uns|ich brauche|ich möchte|ich will|schau mal|magst du|mal eben|kurz mal)",
        "question_first": r"(?:warum|was|wer|wo|wann|wie|welche\w*|muss|müssen|soll|sollen|darf|kann|können|ist|sind|hat|haben|gibt|wieso|weshalb|werden|wird|war)\b",
        "reports": r"(?:sagt|sagte|schrieb|schreibt|steht|stand|meldet|meldete|laut|hieß|heißt es|lautet|fehler|meldung|zitat|behauptet\w*|erklärte|meint|meinte|schild|readme)",
        "idiom": r"(?:keine sorge|mach dir keine|schade|kann nicht wahr|keine lust|kein problem|schon gut|man weiß nie|ich muss (?:sagen|zugeben|gestehen)|macht nichts|nicht schlecht|keine ahnung|immer wieder gern\w*|immerhin"
        r"|nie im leben|keine eile|nichts für ungut|nicht wahr|auf jeden fall|auf keinen fall möchte|muss ja|ich glaube nicht|weiß nicht|noch nie|nicht der rede)",
        "hypothetical": r"(?:würde\w*|könnte\w*|hätte\w*|wäre\w*|vielleicht|angenommen|möglicherweise|stell dir vor|was wäre|theoretisch|müsste\w*|eventuell|mal sehen|überlege)",
        "others_first": rf"(?:unsere?|der|die|das|mein\w*|ihre?|alle|viele|neue|jeder)?\s*(?:neue[nr]? )?(?:{_PEOPLE})\b",
        "named_other_first": r"(?:er|sie|es|man|ihr)\b",
        "code_subject_first": r"(?:die|der|das|diese|dieser|dieses) (?:\w+ )?(?:funktion|methode|klasse|liste|tabelle|schlange|warteschlange|konstruktor|server|dienst|api"
        r"|cache|parser|schlüssel|skript|test|feld|index|thread|datenbank|abfrage|variable|schleife|schnittstelle)\b",
        "past": r"(?:war|waren|hatte|hatten|wurde|wurden|habe|haben|hat|musste|mussten|ging|kam|fand|lief|gestern|letzte\w*|vorhin|durften|durfte|konnte|wollte|dauerte|nahm)",
        "first_person_first": r"(?:ich|wir|mein\w*|unser\w*)\b",
        "wants": r"(?:ich will|ich möchte|ich erwarte|wir verwenden|wir nutzen|bei uns|in diesem projekt|hier|wichtig|regel|vorgabe|wir schreiben|hinweis|merk dir)",
        "prefers": r"(?:lieber|statt|anstatt|bevorzug\w*|anstelle|statt dessen|möglichst|wo möglich|am liebsten)",
        "now": r"(?:jetzt|nochmal|noch einmal|heute|morgen|sofort|gleich|mal|kurz|eben|schnell|diesmal|letzten|nächsten|dann)",
        "chatter": r"(?:danke|ok|okay|super|gut|prima|hallo|ja|nein|klar|toll|perfekt|schön|genau|alles klar|passt|klingt)\b",
        "generic_subject_first": r"(?:alle|jede[srn]?|kein\w*|nichts|niemand|tests|funktionen|antworten|namen|dateien|änderungen|kommentare|commits|commit-\w+|zugangsdaten"
        r"|passwörter|preise|beträge|daten|datumsangaben|zeitangaben|variablen|release\w*|nachrichten|rückgaben|erstattungen|neue|rechnungen|mails)\b",
        "addresses_agent": r"(?:du (?:darfst|musst|sollst|kannst|bist|sollte\w*|brauchst)|deine antworten|deine|sie dürfen|sie müssen)",
        "plan": r"(?:ich werde|wir werden|lass mich)",
        "quoted": r"[\"„“”«»]|(?:^|\s)'[^']{3,}'",
        "colon_statement": r"(?:regel|wichtig|hinweis|achtung|merke|bitte)\s*[:,]",
    },
)
