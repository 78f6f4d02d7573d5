"""The names that mark a value as a secret, in many languages: each with a word that it has, in lower case."""

from __future__ import annotations

from typing import Final

# Of passwords. A long name may be a part of another one (`db_password`, `WLAN-Passwort`), a short one stands alone.
LONG: Final = (
    ("pass", r"pass(?:[_-]?words?|wd|[_-]?phrase|wort|code|ord(?:et)?|(?<=mot[ _-]de[ _-]pass|palavra-pass)e)"),
    ("kennwort", "kennwort"),
    ("contrase", r"contrase(?:ñ|n\u0303?|ny)a"),
    ("wachtwoord", "wachtwoord"),
    ("senord", r"l(?:ö|o\u0308?)senord(?:et)?"),
    ("adgangskode", "adgangskoden?"),
    ("kodeord", "kodeord(?:et)?"),
    ("salasana", "salasana"),
    ("jelsz", r"jelsz(?:ó|o\u0301?)"),
    ("kata", "kata[ _]sandi"),
    ("ordine", "parola d['’]ordine"),
    ("khẩu", "mật khẩu"),
    ("парол", "парол[ьяю]"),
    ("κωδικ", "κωδικ(?:ό|ο\u0301?)ς"),
    ("पासवर्ड", "पासवर्ड"),
    ("รหัสผ่าน", "รหัสผ่าน"),
    ("كلمة", "كلمة (?:المرور|السر)"),
    ("סיסמ", "סיסמ[אה]"),
)
SHORT: Final = tuple(
    (word, word)
    for word in (
        *("pass", "pwd", "pw", "mdp", "psk", "clave", "senha", "heslo", "hasło", "haslo", "şifre", "sifre"),
        *("parola", "parolă"),
    )
)
# Of languages that put no spaces between words, or endings right after them.
UNSPACED: Final = tuple(
    (word, word) for word in ("密码", "密碼", "口令", "暗号", "パスワード", "暗証番号", "비밀번호", "암호")
)

# Of keys and tokens. A key has something before it: other keys are those of tables, caches and keyboards.
_QUALIFIERS: Final = (
    r"api|app|access|secret|private|auth|sign(?:ing)?|encrypt(?:ion)?|decryption|master|admin|licen[sc]e|account"
    r"|subscription|insert|ingest|service|pre[_-]?shared|shared|deploy|routing|integration|network|storage|session"
    r"|cookie|webhook|hmac|jwt|root|management|server|client|consumer|application|unseal"
    r"|aws|gcp|azure|openai|anthropic|mistral|gemini|stripe|twilio|sendgrid|mailgun|mailchimp|mandrill|algolia"
    r"|cloudflare|fastly|datadog|newrelic|sentry|maps|youtube|firebase"
)
KEYS: Final = (
    ("token", "tokens?"),
    ("jeton", "jeton"),
    ("secret", r"secret(?:[_-]?(?:key[_-]base|id))?"),
    ("credential", "credentials?"),
    ("key", rf"(?<=(?:{_QUALIFIERS})[ _-]?)keys?(?: \d)?"),
    ("salt", "(?<=[_-])salt"),
    ("schlüssel", r"(?<=(?:api|geheim\w{0,3}|zugangs|zugriffs|private[rn]?)[ -]?)schlüssel"),
    ("clé", r"clé[ _](?:api|secrète|privée|d[’']accès)"),
    ("clave", r"clave[ _](?:secreta|api|privada|de[ _](?:api|acceso))"),
    ("chave", r"chave[ _](?:secreta|api|privada|de[ _](?:api|acesso))"),
    ("chiave", r"chiave[ _](?:api|segreta|privata)"),
    ("токен", "токен"),
    ("ключ", "ключ"),
)
UNSPACED_KEYS: Final = tuple(
    (word, word) for word in ("密钥", "密鑰", "秘钥", "金鑰", "令牌", "トークン", "キー", "토큰")
)

# Of a user and a password together.
LOGINS: Final = tuple(
    (word, word)
    for word in (
        *("credentials", "creds", "login", "zugangsdaten", "identifiants", "credenciales", "логин", "账号", "帳號"),
    )
)
