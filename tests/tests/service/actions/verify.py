"""Judges requests of thread actions as an integration would that has the application's secret.

Reads one JSON object: requests, each with its token, its body and what is known of the application.
Fails when one that should be trusted is not, or one that should not be is.
"""

import base64
import hashlib
import json
import sys
import time

from authlib.jose import JsonWebToken
from authlib.jose.errors import JoseError


class Refused(Exception):
    pass


def verify(request, token, body, secret, now):
    """What the token says, or Refused."""
    options = {
        "iss": {"essential": True, "value": request["issuer"]},
        "aud": {"essential": True, "value": request["client_id"]},
        "sub": {"essential": True, "value": request["user"]},
        "exp": {"essential": True},
        "signature": {"essential": True},
    }
    try:
        claims = JsonWebToken(["HS256"]).decode(token, secret, claims_options=options)
        claims.validate(now=now, leeway=0)
    except (JoseError, ValueError) as error:
        raise Refused(str(error))
    if claims["signature"] != hashlib.sha256(body).hexdigest():
        raise Refused("the token belongs to another body")
    return claims


def refuses(why, *arguments):
    try:
        verify(*arguments)
    except Refused:
        return
    raise AssertionError(f"trusted in spite of {why}")


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def judge(request):
    token, secret = request["token"], request["secret"]
    body = base64.b64decode(request["body"])
    now = int(time.time())
    claims = verify(request, token, body, secret, now)
    assert 0 <= now - claims["iat"] <= 30, claims
    assert claims["exp"] - claims["iat"] == 30, claims
    assert len(claims["jti"]) == 32, claims

    for at in range(len(body)):
        other = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        refuses(f"byte {at} of the body", request, token, other, secret, now)
    refuses("a longer body", request, token, body + b" ", secret, now)
    refuses("no body", request, token, b"", secret, now)
    refuses("its end", request, token, body, secret, claims["exp"] + 1)
    refuses("another key", request, token, body, request["other_secret"], now)
    refuses("no key", request, token, body, "", now)
    refuses("another application", {**request, "client_id": "x"}, token, body, secret, now)
    refuses("another server", {**request, "issuer": "http://x.example"}, token, body, secret, now)
    refuses("another user", {**request, "user": "0"}, token, body, secret, now)

    head, payload, signature = token.split(".")
    later = part({**claims, "exp": claims["exp"] + 3600})
    refuses("a later end", request, f"{head}.{later}.{signature}", body, secret, now)
    unsigned = part({"alg": "none", "typ": "JWT"})
    refuses("no signature", request, f"{unsigned}.{payload}.", body, secret, now)
    return claims["jti"]


names = [judge(request) for request in json.load(sys.stdin)]
assert names and len(set(names)) == len(names), names
print(json.dumps(len(names)))
