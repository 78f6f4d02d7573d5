"""Private keys, whole or in part, and hashes of passwords."""

from __future__ import annotations

from typing import Final

from foldline_worker.summarizers.secret_patterns.pattern import NEWLINE, OPENING, SPACE, START, any_case, exact

_BASE64: Final = r"[A-Za-z0-9+/=]"
_KEY_NAME: Final = r"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_HEADER: Final = r"(?:\s|\\[nr])++(?:Proc-Type|DEK-Info|Comment|Version): [^\n\\]{0,200}+"
# A line of a key in base64, after what tools put in front of lines: a number, a bar, an arrow, a sign of a diff.
_KEY_LINE: Final = rf"(?:\s|\\[nr])++(?:\d{{1,7}}[ \t:|→]{{1,3}})?+[|>+-]?+{_BASE64}{{16,}}+"
_LINE_BACKWARDS: Final = rf"(?>(?:\s|\\[nr])(?:\d{{1,7}}[ \t:|→]{{1,3}})?[|>+-]?{_BASE64}{{1,512}})"
# Lines of 64 characters, as RFC 7468 has them, that no certificate, image, archive or public key begins.
_BODY: Final = (
    r"(?P<secret>(?!MII|iVBOR|/9j/|R0lGOD|JVBERi|UEsDB|H4sI|AAAA)"
    r"(?=[A-Za-z0-9+/]{0,63}[a-z])(?=[A-Za-z0-9+/]{0,63}[A-Z])(?=[A-Za-z0-9+/]{0,63}\d)"
    rf"(?:[A-Za-z0-9+/]{{64}}{NEWLINE}){{3,1000}}+(?:[A-Za-z0-9+/]{{1,64}}={{0,2}})?+)"
)
# The first bytes of private keys in DER (PKCS 1, PKCS 8, also encrypted, elliptic curves, Ed25519) and of OpenSSH.
_KEY_START: Final = (
    r"(?:MI[I-L][A-Za-z0-9+/]{2}[AQgw]IBA(?:AK[BC]|DA[N-P])|MI[I-L][A-Za-z0-9+/]{5}BgkqhkiG9w0BBQ"
    r"|MI[GH][A-Za-z0-9+/]AgEAM[A-Z]|MH[cg]CAQEE|MIGkAgEBBD|MIHcAgEBBE|M[C-F][A-Za-z0-9]CAQAwB[A-Z]YDK2V"
    r"|b3BlbnNzaC1rZXktdjEA)"
)
_KEY_STARTS: Final = (
    *("ibaak", "ibada", "ibadb", "ibadc", "ibadd", "w0bbq", "ageam", "mhccaqee", "mhgcaqee", "agebbd", "agebbe"),
    *("caqawb", "b3blbnnzac1rzxk"),
)
# What follows the name of an algorithm: parameters, the salt and the hash.
_CRYPT: Final = r"(?:[^\s$:\"'`\\]{1,64}\$){0,2}[./A-Za-z0-9]{1,32}\$[./A-Za-z0-9+=]{10,}+"

_PRIVATE_KEYS: Final = (
    exact(
        "private key",
        rf"-----BEGIN {_KEY_NAME}"
        rf"(?:(?:[^-]|-(?!----)){{0,16384}}+-?-----END {_KEY_NAME}|(?:{_KEY_HEADER})*+(?:{_KEY_LINE})++)",
        "-----begin",
    ),
    # From its end backwards, where the head is cut off.
    exact("private key", rf"(?r)(?P<secret>(?:{_LINE_BACKWARDS})++){SPACE}{{0,8}}-?-----END {_KEY_NAME}", "-----end"),
    # Without head and end.
    exact("private key", rf"(?<!-|[A-Za-z0-9+/])\n{_BODY}", ""),
    exact("private key", rf"(?<!-|[A-Za-z0-9+/])\\n{_BODY}", "\\n"),
    exact("private key", rf"\A{_BODY}", ""),
    exact("private key", rf"Private-Lines: \d{{1,4}}(?P<secret>(?:{_KEY_LINE})++)", "private-lines:"),
    exact(
        "private key",
        r"-----BEGIN OpenVPN Static key V\d-----(?P<secret>(?:(?:\s|\\[nr])++[0-9a-f]{16,}+)++)",
        "openvpn",
    ),
    # A key in PEM that is in base64 again, as in Kubernetes.
    exact(
        "private key",
        rf"LS0tLS1CRUdJTi[A-Za-z0-9+/]{{1,24}}?(?:UFJJVkFUR|BSSVZBVE|QUklWQVRF){_BASE64}{{8,}}+",
        "ls0tls1crudjti",
    ),
    any_case(
        "private key",
        rf"client-key-data{OPENING}:[ \t]{{0,8}}{OPENING}(?P<secret>{_BASE64}{{16,}}+)",
        "client-key-data",
    ),
    exact("private key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", "age-secret-key-1"),
    exact("private key", r"xprv[1-9A-HJ-NP-Za-km-z]{60,}", "xprv"),
    any_case("private key", r"0x[0-9a-f]{64}(?=[^\n]{0,32}private)", "private"),
)
_HASHES: Final = (
    exact("password hash", r"\$2[abxy]?\$\d\d\$(?P<secret>[./A-Za-z0-9]{20,}+)", "$2"),
    exact(
        "password hash",
        rf"\$(?:1|5|6|7|y|gy|apr1|md5|sha1|scrypt|pbkdf2[\w-]{{0,12}}|argon2(?:id|i|d))\$(?P<secret>{_CRYPT})",
        "$",
    ),
    exact("password hash", r"\$[PHS]\$(?P<secret>[./A-Za-z0-9]{31,}+)", "$p$", "$h$", "$s$"),
    exact(
        "password hash",
        r"(?:scrypt:\d{1,8}:\d{1,3}:\d{1,3}|pbkdf2:sha\d{1,3}:\d{1,8}|pbkdf2_sha\d{1,3}\$\d{1,8})\$"
        rf"(?P<secret>{_CRYPT})",
        *("scrypt:", "pbkdf2"),
    ),
    exact(
        "password hash",
        r"\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2[\w-]{0,12})\}(?P<secret>[A-Za-z0-9+/=$.]{20,}+)",
        *("{sha", "{ssha", "{md5", "{smd5", "{crypt", "{pbkdf2"),
    ),
    exact(
        "password hash",
        r"SCRAM-SHA-\d{1,3}\$\d{1,8}:(?P<secret>[A-Za-z0-9+/=]{8,}+\$[A-Za-z0-9+/=:]{20,}+)",
        "scram-sha-",
    ),
    any_case("password hash", r"[0-9a-f]{32}:(?P<secret>[0-9a-f]{32}):::", ":::"),
    exact("password hash", r"(?<=['\"])\*[0-9A-F]{40}(?=['\"])", "'*", '"*'),
)

KEYS: Final = (*_PRIVATE_KEYS, *_HASHES)
# Without head and end as well, and found as tokens are.
KEY_TOKENS: Final = (exact("private key", rf"{START}{_KEY_START}{_BASE64}{{24,}}+(?:{_KEY_LINE})*+", *_KEY_STARTS),)
