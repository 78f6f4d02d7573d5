"""English, as data: the words that mark sentences as rules, requests, decisions and so on (see `language.Language`)."""

from foldline.engine.ledger.reading.language import Language
from foldline.engine.ledger.reading.words.english import WORDS

_TASK = (
    "fix|add|rename|delete|show|run|update|make|cancel|implement|look|find|create|check|move|remove|explain|change|give|"
    "refactor|debug|merge|revert|open|close|install|investigate|write|send|deploy|bump|try|read|compare|list|summarize|"
    "generate|build|review|convert|extract|start|restart|stop|set up|set|turn|print|translate|draft|book|order|call|"
    "help|replace|split|go|take|put|push|pull|clean|test|tidy|port|drop|sort|search|schedule|ping|remind|upgrade|undo|release|publish|ship"
)

ENGLISH = Language(
    name="en",
    words=WORDS,
    common="the a an and of to is in that it for on with as are be this i you we not do don't please must should never "
    "always only any no if when use keep",
    features={
        "task_verb_first": rf"(?:{_TASK})\b",
        "task_object": rf"(?:{_TASK}) (?:the|this|that|it|these|those|my|me|a|an|up|at|for|again|into|in|on|him|her|them|us)\b",
        "polite_task": r"(?:can you|could you|would you|will you|i need you to|i want you to (?:look|fix|add|write)|please (?:fix|add|look|find|give|show|send"
        r"|run|try|write a|check the|update|rename|remove|delete|cancel|book|create|make a|explain)|help me|let's|lets|let us|go ahead|i'd like to"
        r"|i would like to|i want to|we need to|mind (?:if|checking|looking)|have a look|take a look|when you get a chance|take care of)",
        "chatter": r"(?:thanks|thank you|ok|okay|sounds good|perfect|great|nice|cool|hi|hello|hey|yes|yeah|yep|nope|sure|lol|haha|wow|sorry|good morning"
        r"|cheers|bye|awesome|exactly|agreed|fine|hmm|hm|oh|ah|well done|good job|congrats|welcome)\b",
        "plan": r"(?:i'll|i will|let me|we'll|we will|i'm going|i am going|gonna|i plan)",
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
