"""Spanish, as data."""

from foldline.engine.ledger.reading.language import Language

_TASK = (
    "arregla|corrige|añade|agrega|borra|elimina|muestra|muéstrame|ejecuta|cambia|cancela|busca|encuentra|crea|revisa|quita|explica|explícame|envía|mira|haz|"
    "dame|lee|renombra|actualiza|reserva|abre|cierra|prueba|pon|repara|enséñame|traduce|instala|vuelve|compara"
)
_PEOPLE = (
    "becarios?|clientes?|jefe|jefa|conductores|auditores|empleados|estudiantes|alumnos|gente|proveedor\\w*|colegas?|compañeros?|banco|vecinos?|visitantes|invitados|médicos?|abogados?|"
    "profesor\\w*|niños|equipo|equipos|nuevos|trabajadores|vendedores|casero|inquilinos|pasajeros|socios"
)

SPANISH = Language(
    name="es",
    common="el la los las de del y es un una yo tú nosotros no que para por con en este esta al se lo siempre nunca si cuando todo toda todos "
    "sin responde usa gracias antes "
    "nada cada caso duda solo puede quiero hay tiene debe debo muy mi tu su sus nos nuestros a o algún día tuve tuviéramos encontramos más menos quien qué cómo",
    letters="ñ¿¡óí",
    leads=r"(?:por favor|ok|vale|y|pero|por cierto|a partir de ahora|de ahora en adelante|además|también|importante|ojo)",
    features={
        "prohibits_first": r"(?:no|nunca|jamás|ningun[oa]?|ningún|nada de|evita|prohibido|deja de|en ningún caso|bajo ningún|ni)\b",
        "prohibits": r"(?:no|nunca|jamás|prohibid\w*|ningún|ninguna|ninguno|evita|deja de|ni siquiera|sin (?:preguntar\w*|mi|consultar\w*|avisar\w*|permiso|autorización|aprobación|que))",
        "obliges": r"(?:debes?|deben|tienes que|tiene que|tienen que|hay que|asegúrate|procura|obligatori\w*|recuerda|no olvides|necesita[ns]?|requiere\w*|ha de|han de|deberás|es necesario|conviene)",
        "universal": r"(?:siempre|cada|todos|todas|toda|todo|a partir de ahora|de ahora en adelante|en todo momento|cada vez|en todas partes|por defecto|nada|nadie|sin excepción|en adelante"
        r"|en el futuro|desde ahora|cualquier|en general|hasta nuevo aviso|en todos los casos|sistemáticamente)",
        "limits": r"(?:como máximo|máximo|más de|menos de|al menos|límite|limita|supere\w*|superar|exced\w*|debajo|hasta|no más|por (?:día|hora|minuto)|como mucho|tope|inferior|mínimo|por encima|pases? de)",
        "conditional_first": r"(?:si|cuando|siempre que|antes|después|tras|en caso|cada vez|salvo|a menos|mientras|ante|en cuanto)\b",
        "roles": r"(?:solo \w+ (?:puede|pueden|aprueba|decide)|sólo|salvo|aprobación|aprueb\w*|autoriz\w*|decide|visto bueno|pasan? por|tu papel|eres|firma|permiso|consulta)",
        "formats": r"(?:formato|json|utc|iso|español|inglés|tabuladores|espacios|markdown|viñetas|títulos?|comentarios?|fechas?|mayúsculas?|minúsculas?|tutea|trata\w* de usted|formal\w*|breves?|cort[oa]s?"
        r"|concis\w*|frases?|palabras|líneas|tablas?|commits?|estilo|comillas|unidades|responde|contesta|escribe|redacta)",
        "standing_verb_first": r"(?:usa|utiliza|mantén|escribe|responde|contesta|pregunta\w*|llámame|quédate|limita\w*|prefiere|emplea|deja|respeta|consulta\w*|avisa\w*|habla|redacta|pon|dirígete|sigue|redondea"
        r"|cita|guarda|verifica|trata|haz|evita|confirma|comprueba|espera|trabaja|ejecuta)\b",
        "task_verb_first": rf"(?:por favor,? )?(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:el|la|los|las|un|una|este|esta|esto|mi|mis|me|a|de nuevo|otra)\b",
        "polite_task": r"(?:puedes|podrías|puede|podría|ayúdame|quisiera|me gustaría|quiero que (?:mires|arregles|añadas|revises)|necesito|vamos a|échale|quiero (?:volar|reservar|cambiar|cancelar))",
        "question_first": r"(?:por qué|qué|quién|dónde|cuándo|cómo|cuál|cuáles|hay que .*\?|debo|puedo|cuánt\w+)",
        "reports": r"(?:dice|dijo|decía|escribió|pone|ponía|indica|muestra|según|error|mensaje|cartel|cita|afirma|respondió|estipula|readme|reza|imprimió|aseguró)",
        "idiom": r"(?:no te preocupes|no puede ser|no le des|no es posible|no me digas|no se preocupe|no pasa nada|nunca se sabe|debo (?:decir|admitir|reconocer)|tengo que (?:decir|admitir|reconocer)|no hay problema|ni idea|siempre es un placer|más vale tarde|no importa"
        r"|no está mal|de nada|no hay de qué|no hay prisa|nada mal|qué va|no lo sé|no sé|no creo|como siempre|nunca mejor|ni hablar|siempre quise|nunca había|nunca he)",
        "hypothetical": r"(?:podría\w*|sería\w*|habría\w*|debería\w*|quizás?|tal vez|supongamos|imagina|y si|si (?:tuviéramos|tuviera|hubiera|fuera|quisiera|quisiéramos|pudiera|pudiéramos)\w*|a lo mejor|en teoría|haría|ojalá|estaría bien)",
        "others_first": rf"(?:nuestr[oa]s?|los|las|el|la|mi|mis|sus?|todos los|algunos)?\s*(?:nuev[oa]s )?(?:{_PEOPLE})\b",
        "named_other_first": r"(?:él|ella|ellos|ellas|ese|esa)\b",
        "code_subject_first": r"(?:la|el|las|los|esta|este) (?:\w+ )?(?:función|método|clase|lista|tabla|cola|constructor|servidor|servicio|api|caché|analizador|claves?|script|prueba|campo|índice|base|consulta|bucle|variable|módulo)\b",
        "past": r"(?:era|eran|fue|fueron|había|tuve|tuvimos|tuvo|hice|hizo|ha|han|hemos|he|pasó|tardó|funcionó|ayer|pasad[oa]|anoche|hace (?:un|dos|unos)|encontramos|podíamos|dejaron|pudo|pude|fallaba)",
        "first_person_first": r"(?:yo|nosotros|mi|mis|nuestr[oa]s?|tengo|estoy|creo|hemos|he)\b",
        "wants": r"(?:quiero|exijo|usamos|aquí|en este proyecto|importante|regla|norma|espero|nuestra política|no quiero|ojo|nota)",
        "prefers": r"(?:prefier\w*|mejor|en lugar de|en vez de|de preferencia|si es posible|siempre que sea posible)",
        "now": r"(?:ahora mismo|ahora|otra vez|de nuevo|hoy|mañana|ya|rápido|esta vez|últim[oa]s?|próxim[oa])",
        "chatter": r"(?:gracias|ok|vale|perfecto|hola|sí|genial|bien|muy bien|de acuerdo|claro|estupendo|suena bien|buenos días)\b",
        "generic_subject_first": r"(?:todos|todas|toda|todo|cada|ningún|ninguna|nada|nadie|cualquier|(?:los|las) (?:tests|pruebas|funciones|respuestas|nombres|archivos|cambios|comentarios|commits|mensajes|contraseñas|precios|importes|datos"
        r"|fechas|reembolsos|secretos|variables|versiones|ramas|migraciones|errores|credenciales|correos))\b",
        "addresses_agent": r"(?:debes|tienes que|no puedes|eres|tus respuestas|puedes usar|no debes|podrás)",
        "plan": r"(?:voy a|vamos a|déjame)",
        "quoted": r"[\"„“”«»]|(?:^|\s)'[^']{3,}'",
        "colon_statement": r"(?:regla|importante|atención|nota|recuerda|ojo)\s*[:,]",
    },
)
