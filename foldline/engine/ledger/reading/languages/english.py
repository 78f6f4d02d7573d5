"""English, as data: the words that mark sentences as rules, requests, decisions and so on (see `language.Language`)."""

from foldline.engine.ledger.reading.language import Language

_STANDING = (
    "use|keep|write|answer|reply|respond|put|call|stick|follow|prefer|treat|name|address|speak|limit|leave|stay|ask|"
    "check|tag|default|favor|favour|stay|include|mention|cite|wrap|format|sign|start|begin|end|confirm|notify|log|"
    "round|quote|spell|translate|commit|assume|hold|reserve|restrict|cap|double-check|run|document|pin|mark|label|"
    "present|show|list|sort|order|pass|route|report|escalate|mind|remember|respect|watch|store|save|state|summarize|"
    "verify|validate|wait|work|consult|clear|flag|send|get|test|review|give|print|return|create|add|avoid|skip|"
    "refrain|steer|be|do|make|have|let|go|take|think|treat|tell|say|provide|explain|back|only|consider"
)
_TASK = (
    "fix|add|rename|delete|show|run|update|make|cancel|implement|look|find|create|check|move|remove|explain|change|give|"
    "refactor|debug|merge|revert|open|close|install|investigate|write|send|deploy|bump|try|read|compare|list|summarize|"
    "generate|build|review|convert|extract|start|restart|stop|set up|set|turn|print|translate|draft|book|order|call|"
    "help|replace|split|go|take|put|push|pull|clean|test|tidy|port|drop|sort|search|schedule|ping|remind|upgrade|undo|release|publish|ship"
)
_PEOPLE = (
    "intern|interns|client|clients|boss|driver|drivers|auditor|auditors|hires|hire|customer|customers|competitor|"
    "competitors|student|students|employee|employees|people|vendor|vendors|supplier|suppliers|colleague|colleagues|"
    "manager|managers|bank|government|contractor|contractors|neighbour|neighbor|neighbours|neighbors|teacher|landlord|"
    "wife|husband|kid|kids|son|daughter|lawyer|lawyers|doctor|doctors|airline|airlines|visitor|visitors|guest|guests|"
    "team|teams|department|accountant|accountants|ops|nurses|pilots|pilot|tenants|freelancers|partners|agency|school|"
    "parents|brother|sister|friend|friends|legal|hr|sales|recruiters|engineers|developers|devs|trainees|volunteers"
)
_CODE = (
    "function|cache|class|list|queue|method|parser|api|server|constructor|script|keys|key|loop|test|tests|job|worker|"
    "thread|endpoint|field|column|index|table|compiler|linter|module|library|package|socket|handler|token|value|"
    "variable|string|array|map|iterator|generator|lock|mutex|process|service|database|query|build|pipeline|flag|regex|"
    "decorator|callback|framework|protocol|client|buffer|scheduler|validator|hook|config|header|response|request|router"
)

ENGLISH = Language(
    name="en",
    common="the a an and of to is in that it for on with as are be this i you we not do don't please must should never "
    "always only any no if when use keep",
    leads=r"(?:please|pls|ok|okay|also|and|so|but|hey|btw|by the way|just|then|oh|well|from (?:now|here) on|going forward|one (?:more |last )?thing|again|in general|finally|first of all|for the record|remember|fyi|plus|important|seriously)",
    features={
        "prohibits_first": r"(?:don't|do not|dont|never|avoid|no|not|stop|refrain|under no|hands off|stay (?:out|away|off|clear)"
        r"|keep (?:away|your hands|out|off)|leave\b.{1,40}\b(?:alone|untouched|as (?:it|they))|steer clear|nothing)\b",
        "prohibits": r"(?:never|must not|mustn't|may not|not allowed|not to be|forbidden|off[- ]limits|hands off|shall not"
        r"|do not|don't|cannot|can't|shouldn't|should not|prohibited|banned|taboo|isn't allowed|aren't allowed"
        r"|not permitted|no-go|out of bounds|under no circumstances|no longer|not acceptable|unacceptable|don't want|alone"
        r"|untouched|as they are|as it is|without (?:asking|my|our|checking|first|permission|approval|showing|telling)"
        r"|keep away|keep out|stay away|stay out|is out|are out|not welcome|not okay|not ok|non-negotiable)",
        "obliges": r"(?:must|have to|has to|need to|needs to|needs|should|make sure|be sure|ensure|required|requires|require"
        r"|shall|remember to|mandatory|is a must|ought to|obliged|expect|see to it|supposed to|be certain|bear in mind"
        r"|keep in mind|is to be|are to be|gets?|belongs?|goes?|go)",
        "universal": r"(?:always|every|each|all|any|anything|anyone|whenever|from now on|going forward|throughout|every time"
        r"|everywhere|at all times|by default|as a rule|until further notice|in general|from here on|henceforth|whatever"
        r"|everything|no matter|without exception|no exceptions|for the rest|consistently|across the board|in future"
        r"|in the future|from today|until i say|unless|at any point|ever|on principle|nothing|nobody|no one|none)",
        "limits": r"(?:at most|no more than|not more than|maximum|max|limit|limited|up to|exceed|exceeds|cap|capped|within"
        r"|at least|less than|fewer than|below|under|above|over|minimum|tops|ceiling|only (?:one|two|three|four|five|\d+)"
        r"|no longer than|shorter than|smaller than|or less|or fewer|beyond|more than|between|per (?:day|hour|minute|request|file|pr))",
        "conditional_first": r"(?:if|when|whenever|unless|before|after|in case|once|as soon as|should|until|as long as|anytime|any time"
        r"|where|while|prior to|for (?:any|every|each|all))\b",
        "roles": r"(?:only \w+ (?:may|can|is|are|gets|has|approves|decides|signs)|nobody but|nobody except|no one but|no one except"
        r"|sign[- ]?offs?|signs? off|approval|approve|approves|approved by|goes through|go through|goes to|go to|decides|in charge"
        r"|permission|has the last word|final say|clear(?:s|ed)? (?:it )?with|run (?:it|them|that) (?:by|past)|your role|you are (?:the|a|an|my|our)"
        r"|act as|acts as|answers to|reports to|has to okay|okays|ok from|green light|consult|ask me|check with|loop in|cc)",
        "formats": r"(?:format|formatted|json|yaml|csv|iso|utc|snake_case|camelcase|kebab-case|tabs|spaces|bullets?|markdown|headings?"
        r"|spelling|commit messages?|imperative|lowercase|uppercase|title case|british|american|english|german|french|spanish"
        r"|dutch|italian|plain text|tables?|prose|emojis?|indent|indentation|quotes|semicolons?|oxford comma|prefix|suffix|style"
        r"|dates?|timestamps?|decimals?|digits|metric|currency|tone|formal|formally|informal|sentence|sentences|paragraphs?|words"
        r"|concise|brief|short|headline|footnotes?|docstrings?|type hints?|snippets?|code blocks?|columns?|line length|wrap(?:ped)?)",
        "standing_verb_first": rf"(?:{_STANDING})\b",
        "task_verb_first": rf"(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:the|this|that|it|these|those|my|me|a|an|up|at|for|again|into|in|on|him|her|them|us)\b",
        "polite_task": r"(?:can you|could you|would you|will you|i need you to|i want you to (?:look|fix|add|write)|please (?:fix|add|look|find|give|show|send"
        r"|run|try|write a|check the|update|rename|remove|delete|cancel|book|create|make a|explain)|help me|let's|lets|let us|go ahead|i'd like to"
        r"|i would like to|i want to|we need to|mind (?:if|checking|looking)|have a look|take a look|when you get a chance|take care of)",
        "question_first": r"(?:do|does|did|is|are|was|were|can|could|would|will|should|shall|must|may|might|have|has|had|why|what|who|where"
        r"|when|which|how|isn't|aren't|don't you|doesn't|didn't|won't|wouldn't|shouldn't|whose|am)\b",
        "reports": r"(?:says?|said|wrote|writes|reads?|states?|stated|according to|printed|quote|quoted|tells? (?:me|us|you)|told|error"
        r"|message|warns?|warned|mentions?|mentioned|claims?|claimed|insists?|insisted|complains?|complained|shouted|replied"
        r"|answered|explained|the sign|the docs?|the readme|the policy|the manual|the label|the comment|the banner|the email"
        r"|the book|the article|the tutorial|the spec|the contract|the guide|the wiki|the post|the motto|the song|the linter"
        r"|the log|the notice|the ticket|the license|they say|people say)",
        "idiom": r"(?:never mind|nevermind|i must (?:say|admit|confess)|don't worry|dont worry|you never know|must-see|must-have|always a pleasure"
        r"|can't thank|cannot thank|only gets better|no problem|don't get me wrong|should have known|make no mistake|no worries"
        r"|don't mention it|not at all|no doubt|no idea|no wonder|no clue|no way|no rush|no hurry|no need|no offen[cs]e|no hard feelings"
        r"|better late than never|never say never|it never rains|now or never|once and for all|for all i know|all in all|after all"
        r"|above all|all right|alright|if only|only time will|must have been|must be (?:a|the|kidding|joking|tired|nice|my|your|hard|fun)"
        r"|you must be|always wanted|always liked|always thought|could always|can always|never thought|never seen|never knew|never heard"
        r"|never felt|never been|let me (?:think|see|know)|don't bother|don't hold your breath|don't panic|not to mention|last but not least"
        r"|keep it up|keep up the|keep in touch|keep calm|have a (?:nice|good|great)|take care|use your (?:head|imagination)|needless to say"
        r"|i always|you always|we never|i never|rules are made|exception proves|every cloud|always darkest|limit is the|all good"
        r"|easier said|whatever works|don't know|don't think so|don't see why|don't mind|don't care|don't remember|can't wait|can't complain"
        r"|can't believe|can't make|couldn't agree|no pain|no such thing|no news|no kidding|no pressure|never fails|never ceases|always on my)",
        "hypothetical": r"(?:would|could|might|maybe|suppose|imagine|what if|perhaps|if (?:i|we|you|they|it|he|she) (?:had|were|ever|could|was|did|wanted)"
        r"|hypothetically|in theory|were to|let's say|say we|assuming|wonder|wondering|one day|some day|someday|thinking about|toying"
        r"|considering|it'd|i'd love|not sure|pretend|in an ideal|ideal world|probably|theoretically|wish)",
        "others_first": rf"(?:our|the|my|their|his|her|most|many|some|new|all|every|each|any|these|those|other)?\s*(?:new |old |other |senior |junior )?"
        rf"(?:\w+(?:'s)? ){{0,1}}(?:{_PEOPLE})\b",
        "named_other_first": r"(?:he|she|they|his|her|their|it|there)\b",
        "code_subject_first": rf"(?:the|this|that|each|a|every|these|those|our)\s+(?:\w+[- ]){{0,2}}(?:{_CODE})\b",
        "past": r"(?:was|were|had|did|didn't|wasn't|weren't|hadn't|couldn't|took|found|worked|failed|went|got|made|said|told|asked|came|saw"
        r"|knew|thought|kept|used to|yesterday|last (?:week|month|night|year|time|sprint)|ago|earlier|decided|noticed|forgot|lost|broke|ran"
        r"|has been|have been|i've|we've|tried|finally|happened|ended up|turned out|crashed|spent|left|started|stopped|refused|ignored)",
        "first_person_first": r"(?:i|i'm|i've|i'll|i'd|we|we're|we've|we'll|my|our|me|us)\b",
        "wants": r"(?:i want|i'd like|we want|i expect|we use|we always|in this project|in this repo|in this codebase|we don't|i don't want|around here"
        r"|we never|our (?:rule|policy|convention|standard|budget|style|house|code)|here we|i prefer|we prefer|i'd rather|i like|i hate|i need|rule"
        r"|rules|policy|convention|requirement|guideline|ground rules?|important|strictly|strict|please note|note that|mind you|hard requirement)",
        "prefers": r"(?:prefer|prefers|preferred|rather than|instead of|in favou?r of|not \w+|over|wherever possible|where possible|if possible|only)",
        "now": r"(?:now|again|today|tomorrow|right away|asap|first thing|this time|once more|for me|quickly|real quick|at once|tonight|this (?:bug|test|file"
        r"|function|ticket|branch|one|pr)|next|the failing|the last|the latest|the new|the other)",
        "chatter": r"(?:thanks|thank you|ok|okay|sounds good|perfect|great|nice|cool|hi|hello|hey|yes|yeah|yep|nope|sure|lol|haha|wow|sorry|good morning"
        r"|cheers|bye|awesome|exactly|agreed|fine|hmm|hm|oh|ah|well done|good job|congrats|welcome)\b",
        "generic_subject_first": r"(?:all|every|each|any|anything|anyone|nobody|no one|nothing|everything|everyone|commits?|tests?|functions?|answers?"
        r"|responses?|replies|messages?|names?|variables?|files?|dates?|changes?|branches?|comments?|emails?|mails?|reports?|migrations?|releases"
        r"|endpoints?|queries|errors?|logs?|prices?|refunds?|code|documentation|docs?|quotes?|imports?|secrets?|passwords?|credentials|numbers?"
        r"|amounts?|retries|timeouts?|deploys|deployments?|reviews|summaries|tables?|titles?|headings?|images?|invoices?|bookings?|customers? data"
        r"|personal data|pull requests?|prs?|new (?:code|dependencies|files|modules|features|endpoints))\b",
        "addresses_agent": r"(?:you (?:must|should|may|can|need|are|have|will|shall|don't|do|always|never|only|'re|get|ought)|you're|your (?:answers?|job|role"
        r"|replies|responses?|work|code|messages?|output|changes?))",
        "make_sure": r"(?:make (?:very |absolutely )?sure|be sure|ensure|see to it|be certain)",
        "you_duty": r"you (?:must|have to|need to|should|shall|are to|may not|may only|can only|ought to)\b"
        r"(?! (?:be|have|see|scroll|know|think|feel|find|click|try|remember|look))",
        "epistemic": r"(?:must|should) (?:have|be|work|fail|pass|take|exist|do the|help|probably)|there (?:must|should)",
        "own_duty": r"(?:i|we|he|she|they|it) (?:have|has|need|needs|must|should|had|got)(?: to)?",
        "never_verb_first": r"(?:please )?(?:never|always|only|don't|do not|don't ever|do not ever) (?!mind|worry|a |the |just|thought|wanted|my|one|three|two)\w+",
        "no_noun_first": r"no (?!(?:luck|problem|worries|idea|one|it|the|i|we|they|that|this|need|way|news|wonder|doubt|new mail|matter)\b)\w+",
        "each_must": r"(?:all|every|each|any|no)\b.{2,60}\b(?:must|needs?|have to|has to|should|are|is|gets?|goes?|requires?|may|can|stays?)",
        "if_then": r"(?:if|when|whenever|before|after|unless|once|in case)\b[^.?!]{3,120},\s?(?:then )?(?:please )?(?:always |never |don't |do not )?"
        r"(?:stop|ask|run|use|tell|say|make|write|report|wait|name|prefer|notify|check|add|keep|regenerate|leave|tag|send|update|let|call|give|show|put|start|log|go|show|record|raise|return)\b",
        "plan": r"(?:i'll|i will|let me|we'll|we will|i'm going|i am going|gonna|i plan)",
        "quoted": r"(?:[\"“”«»]|(?:^|\s)'[^']{3,}')",
        "colon_statement": r"(?:rule|note|important|remember|reminder|heads up|fyi|one (?:thing|more thing|rule)|please|ps|constraint|requirement)\s*[:,-]",
    },
    asks_later=r"(?:later|when there(?:'s| is) time|when you have (?:time|a minute)|remind me|don't forget|before (?:you|we) (?:finish|wrap|stop|leave|go)"
    r"|at the end|eventually|at some point|after that|once (?:this|that|you|we)|when (?:you|we|this|that)(?:'re| are| is|'s) (?:done|finished|over|through)"
    r"|in the end|still (?:need|want|have to|open|waiting|owe)|would you also|could you also|afterwards|follow[- ]up|to-?do|not urgent|no rush|down the (?:road|line)"
    r"|some ?time|next week|tomorrow|backlog|for later|whenever you)",
    decides=r"(?:decid(?:e|ed|es|ing)|let's go with|go with|went with|chose|choose|settled on|agreed|opted|picked|we(?:'ll| will) (?:use|go|keep|stay)"
    r"|instead of|rather than|postpone|because|since|so that|the reason|in favou?r|stick with|drop the|we keep|approach)",
    resolves=r"(?:fixed|fixes|solved|resolved|went away|works now|working now|passes now|cause|because|turned out|turns out|the problem was|due to"
    r"|the fix|root|culprit|after (?:i|we)|once (?:i|we)|no longer|gone|cured|by (?:raising|setting|adding|removing|renewing|changing|bumping))",
    replaces=r"(?:now|instead|correction|changed|moved|actually|no longer|not .{1,30} anymore|make (?:it|that)|updated?|bumped?|after all|scratch that"
    r"|new|shifted|replaced?|renamed|switch(?:ed)?|rather|postponed|rescheduled|pushed|was wrong|mistake|sorry|forget|turns out|raised|lowered|revised"
    r"|from .{1,40} to|amend|as of|since|supersedes?|wait|strike that|went up|went down|increased?|decreased?|dropped to|up to|down to)",
    prefers=r"(?:prefer|i'd rather|rather|i like|i love|ideally|suits? me|nicer|i enjoy|works best|would be nice|best for me|fond of|favou?rite|more comfortable"
    r"|easier for me|i tend to|i usually|i'm not a fan|i hate|dislike|can't stand|if possible|happiest)",
)
