"""Secrets in addresses and in the headers of HTTP."""

from __future__ import annotations

from typing import Final

from foldline_worker.summarizers.secret_patterns.pattern import (
    DIGIT,
    MIXED,
    OPENING,
    SIGN,
    START,
    any_case,
    exact,
    named,
)

# A variable or template where a password would be.
_NO_VALUE: Final = r"[$*<{\[]|%[s({]"
_PARAMETERS: Final = (
    r"(?:(?:access|auth|csrf|id|refresh|session)?_?token|(?:api|app|subscription)?[_-]?key|app_?id|code|sig|signature"
    r"|(?:client_?)?secret|x-(?:amz|goog)-(?:signature|security-token))"
)
_PARAMETER_ENDS: Final = ("token=", "key=", "id=", "code=", "sig=", "signature=", "secret=")
# A name of a scheme, or none, and a value that is no call.
_SCHEME: Final = r"(?:[a-z][\w-]{0,24}[ \t]{1,4}|key=)?(?![\w.]{1,64}[(\[])"

_WEBHOOKS: Final = (
    exact("webhook", r"hooks\.slack\.com/(?:services|triggers|workflows)/(?P<secret>[\w/-]{16,})", "hooks.slack"),
    exact("webhook", r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{1,24}/[\w-]{16,})", "discord"),
    exact("webhook", r"hooks\.zapier\.com/hooks/catch/(?P<secret>[\w/]{8,}\w)", "hooks.zapier"),
    exact(
        "webhook",
        r"webhook\.office\.com/webhookb2/[^\s/]{1,128}/IncomingWebhook/(?P<secret>[\w-]{16,}+)",
        "webhookb2",
    ),
    exact("telegram token", r"/bot(?P<secret>\d{6,12}:[\w-]{20,})", "/bot"),
)
_LOGINS: Final = (
    exact(
        "url credential", rf"://[^\s/?#:@\"'<>]{{0,128}}+:(?!{_NO_VALUE})(?P<secret>[^\s/?#\"'<>\\]{{1,256}})@", "://"
    ),
    # A slash in it, where what stands before that is no port, and what follows an at sign no name of a host.
    exact(
        "url credential",
        rf"://(?!\[)[^\s/?#:@\"'<>]{{0,128}}+:(?!{_NO_VALUE}|\d{{1,5}}/)"
        r"(?P<secret>[^\s/?#@\"'<>\\]{1,256}+(?:@[^\s/?#@.:\"'<>\\]{0,64}+)?/[^\s?#@\"'<>\\]{0,256}+"
        r"(?:@[^\s/?#\"'<>\\]{0,128})?)@",
        "://",
    ),
    # A token as the user.
    exact("url credential", rf"://{DIGIT}(?P<secret>[A-Za-z0-9_-]{{20,256}}+)(?:@|:[^\s/@]{{0,256}}+@)", "://"),
    # Without a protocol: `admin:…@10.0.0.4`.
    exact(
        "url credential",
        rf"(?<=(?<![\w:/@.-])[\w.-]{{1,32}}:{MIXED}(?P<secret>[^\s/\"'`\\@:,]{{6,128}}))@"
        r"(?=(?:\d{1,3}\.){3}\d|[a-z0-9-]{1,64}\.[a-z0-9.-]{2,64})",
        "@",
    ),
    exact("url credential", r"jdbc:oracle:\w{1,8}:[\w$#]{1,64}/(?P<secret>[^\s@/\"']{4,128})@", "jdbc:oracle:"),
)
_HEADERS: Final = (
    *named(
        "authorization",
        (("authorization", "authorization"),),
        rf"{SIGN}{OPENING}basic[ \t]{{1,4}}(?P<secret>[A-Za-z0-9+/=]{{8,4096}}+)",
        rf"{SIGN}{OPENING}{_SCHEME}{DIGIT}(?P<secret>[\w.~+/=:%-]{{16,4096}}+)",
    ),
    exact("authorization", r"Signature=(?P<secret>[0-9a-f]{40,})", "signature="),
    exact("authorization", r"[ ,]response=\\{0,3}\"(?P<secret>[0-9a-f]{32,128})", "response="),
    *named(
        "credential",
        (("x-honeycomb-team", "x-honeycomb-team"), ("_auth", rf"{START}_auth")),
        rf"{SIGN}{OPENING}(?P<secret>[\w+/=-]{{16,4096}}+)",
    ),
    any_case(
        "cookie",
        rf"{START}(?:set-)?cookie{OPENING}:[ \t]{{0,8}}{OPENING}(?P<secret>[\w.-]{{1,128}}=[^\r\n\"'\\]{{6,}})",
        "cookie",
    ),
)

ADDRESSES: Final = (
    *_WEBHOOKS,
    *_LOGINS,
    any_case(
        "url credential",
        rf"(?<=[?&#]){_PARAMETERS}=(?P<secret>(?=[^\s\d&]{{0,64}}\d)[\w%.~+/=-]{{16,}})",
        *_PARAMETER_ENDS,
    ),
    *_HEADERS,
)
