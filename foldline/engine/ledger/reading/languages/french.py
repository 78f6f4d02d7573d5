"""French, as data."""

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.words.french import WORDS

_TASK = (
    "corrige[rz]?|répare[rz]?|ajoute[rz]?|supprime[rz]?|montre[rz]?|lance[rz]?|relance[rz]?|change[rz]?|annule[rz]?|cherche[rz]?|trouve[rz]?|crée[rz]?|"
    "vérifie[rz]?|enlève|explique[rz]?|envoie|envoyez|regarde[rz]?|fais|faites|donne[rz]?|lis|lisez|renomme[rz]?|mets|mettez|réserve[rz]?|ouvre[rz]?|ferme[rz]?|teste[rz]?"
)

FRENCH = Language(
    name="fr",
    words=WORDS,
    common="le la les de des du et est un une je tu nous vous il elle ne pas que qui pour sur avec dans ce cette ces en au aux toujours jamais "
    "si quand tout toute tous sans réponds utilise merci "
    "on dû deux fois ai faut dois peux ton ta mon ma mes nos leurs comment pourquoi c d j l n s y oui non",
    letters="çèêàœù",
    features={
        "task_verb_first": rf"(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK})(?:-moi|-le|-la|-les|-nous)? ?(?:moi|le|la|les|l'|un|une|ce|cette|ces|mon|ma|mes|des|à)?",
        "polite_task": r"(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|aide-moi|aidez-moi|j'aimerais|je voudrais|je veux que tu (?:regardes|corriges|ajoutes)|j'ai besoin|tu peux|est-ce que tu peux|allons|jette un)",
        "chatter": r"(?:merci|ok|d'accord|super|parfait|bonjour|salut|oui|non|génial|bien|très bien|entendu|ça marche|bravo)\b",
        "plan": r"(?:je vais|nous allons|on va|laisse-moi)",
    },
)
