"""French, as data."""

from foldline.engine.ledger.reading.language import Language

_TASK = (
    "corrige[rz]?|répare[rz]?|ajoute[rz]?|supprime[rz]?|montre[rz]?|lance[rz]?|relance[rz]?|change[rz]?|annule[rz]?|cherche[rz]?|trouve[rz]?|crée[rz]?|"
    "vérifie[rz]?|enlève|explique[rz]?|envoie|envoyez|regarde[rz]?|fais|faites|donne[rz]?|lis|lisez|renomme[rz]?|mets|mettez|réserve[rz]?|ouvre[rz]?|ferme[rz]?|teste[rz]?"
)
_PEOPLE = (
    "stagiaires?|clients?|cliente|patron|chef|chauffeurs?|auditeurs?|employés?|étudiants?|élèves|gens|fournisseurs?|collègues?|banque|voisins?|"
    "visiteurs?|invités?|médecins?|avocats?|professeurs?|enfants|équipe|équipes|nouveaux|salariés|vendeurs?|propriétaire|locataires|apprentis"
)

FRENCH = Language(
    name="fr",
    common="le la les de des du et est un une je tu nous vous il elle ne pas que qui pour sur avec dans ce cette ces en au aux toujours jamais "
    "si quand tout toute tous sans réponds utilise merci "
    "on dû deux fois ai faut dois peux ton ta mon ma mes nos leurs comment pourquoi c d j l n s y oui non",
    letters="çèêàœù",
    leads=r"(?:s'il (?:te|vous) plaît|svp|stp|ok|et|mais|au fait|désormais|dorénavant|à partir de maintenant|aussi|important|à l'avenir)",
    features={
        "prohibits_first": r"(?:ne|n'|jamais|pas de|pas d'|aucune?|interdiction|évite[rz]?|interdit|plus de|en aucun cas|arrête\w*|défense)",
        "prohibits": r"(?:ne .{1,40}? (?:pas|jamais|plus|aucun)|n'.{1,40}? (?:pas|jamais|plus|aucun)|jamais|interdit\w*|aucune?|évite[rz]?|pas touche|hors limites|défense"
        r"|sans (?:me|mon|ma|mes|demander|accord|validation|autorisation|mon accord|l'accord|l'avis))",
        "obliges": r"(?:dois|doit|doivent|devez|il faut|assure-toi|assurez-vous|veille[rz]?|obligatoire|pense[rz]?|n'oublie\w*|nécessite|exige|est à|sont à|tu devras|besoin d'un"
        r"|il est impératif|impérativement|fais en sorte|prière)",
        "universal": r"(?:toujours|chaque|tous|toutes|toute|tout|dorénavant|désormais|à partir de maintenant|systématiquement|à chaque fois|partout|par défaut|n'importe|rien"
        r"|personne|sans exception|en permanence|à l'avenir|en toute circonstance|dans tous les cas|jusqu'à nouvel ordre)",
        "limits": r"(?:au plus|maximum|max|plus de|moins de|au moins|limite\w*|dépasse\w*|sous|jusqu'à|pas plus|par (?:jour|heure|minute)|inférieur|supérieur|excéder|plafond\w*|au-delà)",
        "conditional_first": r"(?:si|s'il|quand|lorsqu\w*|avant|après|dès|en cas|chaque fois|sauf|tant qu\w*|au moindre|à moins)\b",
        "roles": r"(?:seule?s? \w+|sauf|validation|valide[rz]?|approuve\w*|approbation|décide\w*|accord|passe\w* par|passent par|ton rôle|tu es|signe[rz]?|responsable|autorisation)",
        "formats": r"(?:format|json|utc|iso|français|anglais|tabulations|espaces|markdown|puces|titres?|commentaires?|dates?|majuscules?|minuscules?|tutoie|vouvoie|formel\w*|court\w*"
        r"|concis\w*|phrases?|mots|lignes|tableaux?|commits?|style|guillemets|unités|réponds|répondez|écris|écrivez|rédige[rz]?)",
        "standing_verb_first": r"(?:utilise[rz]?|garde[rz]?|écris|écrivez|réponds|répondez|demande[rz]?|appelle[rz]?|reste[rz]?|limite[rz]?|préfère[rz]?|emploie|employez|laisse[rz]?"
        r"|respecte[rz]?|consulte[rz]?|préviens|prévenez|parle[rz]?|rédige[rz]?|mets|mettez|adresse[rz]?|suis|suivez|arrondi\w*|cite[rz]?|sauvegarde[rz]?|vérifie[rz]?|tiens|tenez|évite[rz]?)\b",
        "task_verb_first": rf"(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK})(?:-moi|-le|-la|-les|-nous)? ?(?:moi|le|la|les|l'|un|une|ce|cette|ces|mon|ma|mes|des|à)?",
        "polite_task": r"(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|aide-moi|aidez-moi|j'aimerais|je voudrais|je veux que tu (?:regardes|corriges|ajoutes)|j'ai besoin|tu peux|est-ce que tu peux|allons|jette un)",
        "question_first": r"(?:pourquoi|que|qu'|qui|où|quand|comment|quels?|quelles?|est-ce|faut-il|doit-on|peut-on|dois-je|puis-je|combien|as-tu|y a-t-il|n'est-ce)",
        "reports": r"(?:dit|disait|a dit|écrit|écrivait|indique\w*|affiche\w*|selon|d'après|erreur|message|panneau|citation|prétend\w*|a répondu|stipule|précise|readme|lit-on|affirme)",
        "idiom": r"(?:ne t'en fais|ne vous en faites|n'est pas possible|n'importe quoi|ne t'inquiète|ne vous inquiétez|pas de problème|pas de souci|on ne sait jamais|je dois (?:dire|avouer|admettre)|tant pis|pas mal|aucune idée|toujours un plaisir|jamais deux"
        r"|ça ne fait rien|pas grave|rien de grave|mieux vaut tard|n'en parlons|pas la peine|je ne sais|je ne pense|ne quitte|il faut le voir|il faut dire|comme toujours)",
        "hypothetical": r"(?:pourrai\w*|serai[ts]|serait|aurai\w*|devrai[ts]|faudrait|peut-être|supposons|imagine\w*|et si|si (?:on|nous|j'|je|c'|tu) ?(?:avai\w*|étai\w*|devi\w*|voulai\w*)|si on|éventuellement|en théorie|voudrais)",
        "others_first": rf"(?:nos|les|le|la|mon|ma|mes|leurs?|notre|tous les|l')?\s*(?:nouveaux |nouvelles )?(?:{_PEOPLE})\b",
        "named_other_first": r"(?:il|elle|ils|elles|on|ça|c'est)\b",
        "code_subject_first": r"(?:la|le|les|cette|ce|l') ?(?:\w+ )?(?:fonction|méthode|classe|liste|table|file|constructeur|serveur|service|api|cache|analyseur|clés?|script|test|champ|index|base|requête|boucle|variable|module)\b",
        "past": r"(?:était|étaient|avait|avaient|a été|ont été|j'ai|on a|nous avons|n'a|n'ai|a|ont|fallu|hier|dernière|dernier|tout à l'heure|il y a|avons|avions|pouvions)",
        "first_person_first": r"(?:je|j'|nous|on|mon|ma|mes|notre|nos)",
        "wants": r"(?:je veux|j'exige|nous utilisons|on utilise|chez nous|dans ce projet|ici|important|règle|consigne|j'attends|je tiens|note)",
        "prefers": r"(?:préfère\w*|plutôt|au lieu|de préférence|si possible|à la place)",
        "now": r"(?:maintenant|encore une fois|aujourd'hui|demain|tout de suite|vite|cette fois|à nouveau|de nouveau|dernier|dernière|dernières|derniers|prochaine?)",
        "chatter": r"(?:merci|ok|d'accord|super|parfait|bonjour|salut|oui|non|génial|bien|très bien|entendu|ça marche|bravo)\b",
        "generic_subject_first": r"(?:tous|toutes|toute|tout|chaque|aucune?|rien|personne|les (?:tests|fonctions|réponses|noms|fichiers|modifications|commentaires|commits|messages|mots de passe|prix|montants|données|dates"
        r"|remboursements|horodatages|secrets|variables|versions|branches|migrations|erreurs|requêtes|courriels))\b",
        "addresses_agent": r"(?:tu (?:dois|peux|ne|n'|es|devras)|tes réponses|vos réponses|vous (?:devez|ne|pouvez|êtes)|ton|tes|votre)",
        "plan": r"(?:je vais|nous allons|on va|laisse-moi)",
        "quoted": r"[\"„“”«»]|(?:^|\s)'[^']{3,}'",
        "colon_statement": r"(?:règle|important|attention|note|rappel|consigne)\s*[:,]",
    },
)
