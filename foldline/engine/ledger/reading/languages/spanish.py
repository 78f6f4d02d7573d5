"""Spanish, as data."""

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.words.spanish import WORDS

_TASK = (
    "arregla|corrige|añade|agrega|borra|elimina|muestra|muéstrame|ejecuta|cambia|cancela|busca|encuentra|crea|revisa|quita|explica|explícame|envía|mira|haz|"
    "dame|lee|renombra|actualiza|reserva|abre|cierra|prueba|pon|repara|enséñame|traduce|instala|vuelve|compara"
)

SPANISH = Language(
    name="es",
    words=WORDS,
    common="el la los las de del y es un una yo tú nosotros no que para por con en este esta al se lo siempre nunca si cuando todo toda todos "
    "sin responde usa gracias antes "
    "nada cada caso duda solo puede quiero hay tiene debe debo muy mi tu su sus nos nuestros a o algún día tuve tuviéramos encontramos más menos quien qué cómo",
    letters="ñ¿¡óí",
    features={
        "task_verb_first": rf"(?:por favor,? )?(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:el|la|los|las|un|una|este|esta|esto|mi|mis|me|a|de nuevo|otra)\b",
        "polite_task": r"(?:puedes|podrías|puede|podría|ayúdame|quisiera|me gustaría|quiero que (?:mires|arregles|añadas|revises)|necesito|vamos a|échale|quiero (?:volar|reservar|cambiar|cancelar))",
        "chatter": r"(?:gracias|ok|vale|perfecto|hola|sí|genial|bien|muy bien|de acuerdo|claro|estupendo|suena bien|buenos días)\b",
        "plan": r"(?:voy a|vamos a|déjame)",
    },
)
