"""Secrets nobody ever had, put together when the tests run: a scanner of this repository finds none in its files."""

from __future__ import annotations

import string
from random import Random
from typing import NamedTuple

HEX = string.digits + "abcdef"
ALNUM = string.ascii_letters + string.digits
BASE32 = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"

_random = Random(20)


class Example(NamedTuple):
    """`secret` as it stands in a text, between `before` and `after`, and what its placeholder calls it."""

    kind: str
    secret: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.secret}{self.after}"

    @property
    def masked(self) -> str:
        return f"{self.before}[secret removed: {self.kind}]{self.after}"


def made_up(length: int, alphabet: str = ALNUM) -> str:
    """So many characters, digits and capitals among them."""
    return "7Q" + "".join(_random.choices(alphabet, k=length - 2))


def private_key(lines: int = 12, name: str = "RSA ", newline: str = "\n") -> str:
    """A key in PEM, of no meaning."""
    body = newline.join(made_up(64, BASE64) for _ in range(lines))
    return newline.join((f"-----BEGIN {name}PRIVATE " + "KEY-----", body, f"-----END {name}PRIVATE " + "KEY-----"))


EXAMPLES = {
    "a private key": Example("private key", private_key()),
    "an encrypted private key": Example(
        "private key", private_key().replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1)
    ),
    "a private key in JSON": Example("private key", private_key(name="", newline="\\n"), '{"key": "', '\\n"}'),
    "a private key with numbered lines": Example(
        "private key",
        "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(private_key().split("\n"), 1)).lstrip(" 1\t"),
    ),
    "the head of a private key": Example("private key", private_key().rpartition("\n")[0], "$ head k\n", "\n$ ls\n"),
    "a key of age": Example("private key", "AGE-SECRET-" + "KEY-1" + made_up(58, BASE32), "", "\n"),
    "an AWS key id": Example("aws access key id", "AKI" + "A" + made_up(16, BASE32), "id ", "\n"),
    "an AWS secret": Example("aws secret access key", made_up(40), "aws_secret_access_key = "),
    "a token of GitHub": Example("github token", "ghp" + "_" + made_up(36), "found ", "."),
    "half a token of GitHub": Example("github token", "ghp" + "_" + made_up(20), "found ", "…"),
    "a fine-grained token of GitHub": Example(
        "github fine grained personal access token", "github" + "_pat_" + made_up(22) + "_" + made_up(59)
    ),
    "half a fine-grained token": Example("github token", "github" + "_pat_" + made_up(30)),
    "a key of OpenAI": Example(
        "openai api key", "sk-" + "proj-" + made_up(74) + "T3Blbk" + "FJ" + made_up(74), "key: `", "`"
    ),
    "a key of some provider": Example("provider api key", "sk-" + made_up(32, HEX)),
    "a key of Anthropic": Example("anthropic api key", "sk-" + "ant-api03-" + made_up(93) + "AA", "", "\n"),
    "a key of another sort": Example("provider api key", "sk-" + "ant-oat01-" + made_up(80), "", "\n"),
    "a key of Google": Example("google api key", "AIz" + "aSy" + made_up(33)),
    "a token of Google": Example("google access token", "ya29" + "." + made_up(60), "", " "),
    "a token of Slack": Example(
        "slack token", "xox" + "b-" + "1234567890" * 2 + "-" + "1234567890" * 2 + "-" + made_up(24)
    ),
    "a webhook": Example("webhook", "T07Q/B07Q/" + made_up(24), "https://hooks.sl" + "ack.com/services/"),
    "a JSON web token": Example(
        "jwt", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + made_up(43), "token ", "\n"
    ),
    "a bearer token": Example("bearer token", made_up(40), "-H 'Authorization: Bearer ", "'"),
    "a password in a URL": Example("url credential", made_up(12), "postgres://app:", "@db.internal:5432/app"),
    "a password with an at sign": Example("url credential", "p@ss", "postgres://app:", "@db/app"),
    "a password with a slash": Example("url credential", "s3cr/et" + "Pass", "postgres://app:", "@db/x"),
    "a password with an at sign and a slash": Example("url credential", "p@ss/w@rd", "redis://:", "@cache:6379/0"),
    "a password beside a scope": Example("url credential", made_up(12), "https://me:", "@npm.example.org/@scope/a"),
    "a token in a URL": Example("url credential", made_up(40), "git clone https://", "@example.org/a/b"),
    "a signature in a URL": Example("url credential", made_up(64, HEX), "https://b/k?X-Amz-Signature=", "&x=1"),
    "a password in an environment": Example("credential", "hunter22", "export PGPASS" + "WORD=", " psql"),
    "a password of a client in an environment": Example("credential", "hunter2" + "abc9", "MYSQL_" + "PWD="),
    "a token after its name": Example("credential", made_up(22, HEX), "token: ", ".\n"),
    "a short name in JSON": Example("credential", "hunter" + "2", '{"user": "me", "pass":"', '"}'),
    "a password in JSON": Example("credential", made_up(16), '{"password": "', '"}'),
    "a password in a string in JSON": Example("credential", made_up(16), '{"text": "password: \\"', '\\""}'),
    "a password in a sentence": Example("credential", "hunter2x", "the password is ", ", try it"),
    "a key in a header": Example("credential", made_up(32), "x-api-key: ", "\n"),
    "a password after a flag": Example("credential", made_up(12), "login --password ", " --user me"),
    "a token after a flag": Example("credential", made_up(30), "deploy --auth-token=", " now"),
    "a password of MySQL": Example("credential", made_up(12), "mysql -uroot -p", " shop"),
    "a cookie": Example("cookie", "session=" + made_up(40), "Cookie: ", "\n"),
}

# What looks a little like a secret and is none.
HARMLESS = (
    "commit 1f3a9c0d2b4e6f8091a2b3c4d5e6f70812345678",
    "id: 123e4567-e89b-42d3-a456-426614174000, sha256:" + "9f86d081884c7d65" * 4,
    '"integrity": "sha512-' + "Ab3/" * 21 + 'Aa=="',
    "data:image/png;base64," + "iVBORw0KGgo/" * 40,
    "/srv/app/releases/20240131/node_modules/@scope/pkg/dist/index.min.js:10423:17",
    "C:\\Users\\me\\AppData\\Local\\Temp\\a.txt",
    "https://user@host:8080/a@b?page=2&token=short#top git@example.org:x/y.git",
    "http://localhost:5173/@vite/client file://C:/a@b http://[::1]:8080/x@y docker://registry:5000/a/b@sha256:12",
    "token: next_token_2_of_the_page, secret = settings2.secret_of_the_app1, TOKEN: Token2(abcdefghijklmnop)",
    '{"pass": 1234567, "fail": 0, "pwd": "/srv/app2/logs"} OLDPWD=/srv/app PWD=/srv/app2 --- 12 pass: 1234567',
    "ssh://deploy@example.org:22/srv, postgres://$USER:$PASSWORD@host/db, https://{user}:{password}@host",
    "def login(user: str, password: str = '') -> Token: return check(user, password=self._password)",
    "password = os.environ['PASSWORD']; token = read_token(path)",
    "API_KEY=$OPENAI_API_KEY PASSWORD_FILE=/run/secrets/db SECRET_KEY={secret} TOKEN=sk-...",
    "MAX_TOKENS=4096 TOKENIZERS_PARALLELISM=false --token-limit 4096 --password-file /etc/p --token TEXT",
    "<div class='sk-toggleable__label-arrow'> risk-1234567890abcdefghij task-0123456789",
    "the password is wrong; the token expired; a secret is kept; cookie: chocolate chip",
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD9\n-----END PUBLIC KEY-----",
    "ghp_short gh_ github_pattern sk-learn AKIA ya29 xoxb-1 eyJ0 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ",
    "call_9f86d081884c7d659a2feaa0 toolu_01A09q90qw90lq917835lq9 chatcmpl-9nXzK4",
)
