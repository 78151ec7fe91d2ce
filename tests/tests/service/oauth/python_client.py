"""An application that acts for a user by OAuth, built on Authlib and told nothing but an address.

Reads one JSON object from standard input: the server's address, the application with the way in which it
shows itself (client_secret_basic, client_secret_post or none), the user, and a flow of theirs. Does all
that an application does, each thing as Authlib does it, and fails at the first that comes out wrong.
Prints the secrets that it came by as a JSON array, so that logs can be searched for them.
"""

import json
import os
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qs, parse_qsl, urljoin, urlsplit

# The server is on this machine, where nobody listens in.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session, OAuthError
from authlib.oauth2.rfc6749.errors import MismatchingStateException
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

ABOUT = json.load(sys.stdin)
SCOPE = "flow profile offline_access"
PATIENCE = 60
SECRETS = []


def check(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def without_surroundings(session):
    """What the environment says of proxies and passwords is not for this server."""
    session.trust_env = False
    return session


def plain():
    return without_surroundings(requests.Session())


class Form(HTMLParser):
    """The form of a page that has this field or button, as a browser would send it."""

    def __init__(self, page, having):
        super().__init__()
        self.base, self.having = page.url, having
        self.action, self.fields = None, {}
        self.open, self.names = None, set()
        self.feed(page.text)
        if self.action is None:
            raise AssertionError(f"no form with {having} at {page.url} ({page.status_code}):\n{page.text}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        name = attributes.get("name")
        if tag == "form":
            self.open, self.names = (attributes["action"], {}), set()
        elif self.open and name and tag in ("input", "button"):
            self.names.add(name)
            if attributes.get("type") == "hidden":
                self.open[1][name] = attributes["value"]

    def handle_endtag(self, tag):
        if tag == "form":
            if self.having in self.names:
                self.action, self.fields = urljoin(self.base, self.open[0]), self.open[1]
            self.open = None

    def send(self, browser, follow, **more):
        data = {**self.fields, **more}
        return browser.post(self.action, data=data, allow_redirects=follow, timeout=PATIENCE)


def discover():
    address = ABOUT["server"] + get_well_known_url(ABOUT["server"])
    answer = plain().get(address, timeout=PATIENCE)
    check(answer.status_code, 200, address)
    metadata = AuthorizationServerMetadata(answer.json())
    metadata.validate()
    check(metadata["issuer"], ABOUT["server"], "issuer")
    check("S256" in metadata["code_challenge_methods_supported"], True, "S256 among the challenges")
    for kind in ("token", "revocation"):
        ways = metadata[f"{kind}_endpoint_auth_methods_supported"]
        check(ABOUT["way"] in ways, True, f"{ABOUT['way']} among the ways at {kind}_endpoint")
    return metadata


def application(metadata, **more):
    return without_surroundings(
        OAuth2Session(
            ABOUT["client_id"],
            ABOUT["client_secret"],
            token_endpoint_auth_method=ABOUT["way"],
            revocation_endpoint_auth_method=ABOUT["way"],
            token_endpoint=metadata["token_endpoint"],
            scope=SCOPE,
            redirect_uri=ABOUT["redirect_uri"],
            code_challenge_method="S256",
            default_timeout=PATIENCE,
            **more,
        )
    )


def ask(session, browser, metadata, decision):
    """Sends the user off to be asked; gives what the user came back with."""
    verifier = generate_token(48)
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier
    )
    page = browser.get(address, timeout=PATIENCE)
    if urlsplit(page.url).path == "/sign-in":
        form = Form(page, "password")
        page = form.send(browser, True, email=ABOUT["email"], password=ABOUT["password"])
    back = Form(page, "decision").send(browser, False, decision=decision)
    check(back.is_redirect, True, "the user is sent back")
    location = back.headers["Location"]
    check(location.startswith(ABOUT["redirect_uri"] + "?"), True, "the address is the application's")
    told = dict(parse_qsl(urlsplit(location).query))
    check(told["state"], state, "state")
    check(told["iss"], metadata["issuer"], "iss")
    SECRETS.extend(told.get("code", "").split())
    SECRETS.append(verifier)
    return location, told, state, verifier


def note(token):
    SECRETS.extend(token[name] for name in ("access_token", "refresh_token") if name in token)
    return token


def refused(error, what, do):
    try:
        do()
    except OAuthError as failure:
        check(failure.error, error, what)
        check(bool(failure.description), True, f"{what} is explained")
        return
    raise AssertionError(f"{what} was not refused")


def status(token, path="/user"):
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    return plain().get(ABOUT["server"] + path, headers=headers, timeout=PATIENCE).status_code


def code_flow(session, browser, metadata):
    """A code that only those can use who know its verifier; gives the tokens."""
    endpoint = metadata["token_endpoint"]
    location, told, state, verifier = ask(session, browser, metadata, "accept")
    try:
        session.fetch_token(authorization_response=location, state=generate_token(), code_verifier=verifier)
    except MismatchingStateException:
        pass
    else:
        raise AssertionError("Authlib took the answer to another question")
    refused(
        "invalid_grant",
        "another verifier",
        lambda: session.fetch_token(
            endpoint, authorization_response=location, state=state, code_verifier=generate_token(48)
        ),
    )
    token = session.fetch_token(
        endpoint, authorization_response=location, state=state, code_verifier=verifier
    )
    note(token)
    check(token["token_type"].lower(), "bearer", "token_type")
    check(token["expires_in"], 7200, "expires_in")
    check(token["scope"], SCOPE.replace(" ", ","), "scope")
    me = session.get(ABOUT["server"] + "/user")
    check((me.status_code, me.json()["email"]), (200, ABOUT["email"]), "the user")
    posted = session.post(
        f"{ABOUT['server']}/flows/{ABOUT['flow']}/messages", json={"event": "message", "content": "hello"}
    )
    check(posted.status_code, 202, "posting")
    missing = session.get(ABOUT["server"] + "/private")
    check(missing.status_code, 403, "what was not asked for")
    check('scope="private"' in missing.headers["WWW-Authenticate"], True, "the missing scope is named")
    return token, (told["code"], verifier)


def no(session, browser, metadata):
    """The user says no, and the application hears it."""
    _, told, _, _ = ask(session, browser, metadata, "deny")
    check((told["error"], "code" in told), ("access_denied", False), "a user who says no")


def used_twice(session, browser, metadata):
    """A code that is used twice ends what it gave."""
    token, (code, verifier) = code_flow(session, browser, metadata)
    endpoint = metadata["token_endpoint"]
    again = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
    refused("invalid_grant", "a code used twice", lambda: session.fetch_token(endpoint, **again))
    check(status(token), 401, "what the code gave")


def rotation(session, first, metadata):
    """Refresh tokens are replaced; Authlib does it by itself when an access token has ended."""
    endpoint = metadata["token_endpoint"]
    second = note(dict(session.refresh_token(endpoint)))
    check(second["refresh_token"] != first["refresh_token"], True, "another refresh token")
    check(status(second), 200, "the second access token")
    replay = {"refresh_token": first["refresh_token"]}
    refused("invalid_grant", "a replaced refresh token", lambda: session.refresh_token(endpoint, **replay))
    check(status(second), 200, "the tokens after what may have been a retry")

    updates = []
    session.update_token = lambda token, refresh_token=None: updates.append((dict(token), refresh_token))
    session.token = {**second, "expires_at": 1}
    check(session.get(ABOUT["server"] + "/user").status_code, 200, "after the access token has ended")
    check([used for _, used in updates], [second["refresh_token"]], "the refresh token that Authlib used")
    session.update_token = None
    third = note(updates[0][0])

    refused("invalid_grant", "a replay", lambda: session.refresh_token(endpoint, **replay))
    for token in (first, second, third):
        check(status(token), 401, "the family after the replay")
    newest = {"refresh_token": third["refresh_token"]}
    refused("invalid_grant", "the family's last", lambda: session.refresh_token(endpoint, **newest))


def introspection(session, token, metadata, active):
    """What the token is worth, which only applications with a secret may ask."""
    answer = session.introspect_token(metadata["introspection_endpoint"], token=token["access_token"])
    told = answer.json()
    if ABOUT["way"] == "none":
        check((answer.status_code, told["error"]), (401, "invalid_client"), "looking into a token")
        return
    check(told["active"], active, "active")
    if not active:
        check(told, {"active": False}, "all that is told of a dead token")
        return
    check(told["client_id"], ABOUT["client_id"], "client_id")
    check(told["scope"], SCOPE, "scope")
    check(told["username"], ABOUT["email"], "username")
    check(told["exp"] - told["iat"], 7200, "lifetime")
    check(told["iss"], metadata["issuer"], "iss")


def revocation(session, token, metadata):
    """The access token alone; then all, by the refresh token."""
    endpoint = metadata["revocation_endpoint"]
    session.token = token
    other = note(dict(session.refresh_token(metadata["token_endpoint"])))
    introspection(session, token, metadata, True)

    one = session.revoke_token(endpoint, token=token["access_token"], token_type_hint="access_token")
    check(one.status_code, 200, "revoking an access token")
    introspection(session, token, metadata, False)
    check((status(token), status(other)), (401, 200), "the revoked one and the other")

    session.token = other
    family = session.revoke_token(endpoint, token=other["refresh_token"], token_type_hint="refresh_token")
    check(family.status_code, 200, "revoking a refresh token")
    introspection(session, other, metadata, False)
    gone = session.get(ABOUT["server"] + "/user")
    check(gone.status_code, 401, "the family")
    check('error="invalid_token"' in gone.headers["WWW-Authenticate"], True, "the challenge")
    again = session.revoke_token(endpoint, token=other["refresh_token"])
    check(again.status_code, 200, "revoking what has ended")


def forms_and_json(metadata):
    """Requests and answers in either form; by password, as old clients ask."""
    endpoint = metadata["token_endpoint"]
    session = application(metadata)
    person = {"username": ABOUT["email"], "password": ABOUT["password"]}
    if ABOUT["way"] == "none":
        by_password = {"grant_type": "password", **person}
        refused("unauthorized_client", "a password", lambda: session.fetch_token(endpoint, **by_password))
        return
    note(session.fetch_token(endpoint, **person))
    asked = {
        "grant_type": "password",
        "client_id": ABOUT["client_id"],
        "client_secret": ABOUT["client_secret"],
        "scope": SCOPE,
        **person,
    }
    for request in ({"data": asked}, {"json": asked}):
        for accept, kind in (
            (None, "application/x-www-form-urlencoded"),
            ("*/*", "application/x-www-form-urlencoded"),
            ("application/json", "application/json"),
        ):
            answer = plain().post(endpoint, headers={"Accept": accept}, timeout=PATIENCE, **request)
            check(answer.status_code, 200, "a token")
            check(answer.headers["Content-Type"].split(";")[0], kind, f"the answer to Accept: {accept}")
            check(answer.headers["Cache-Control"], "no-store", "Cache-Control")
            if kind == "application/json":
                token = answer.json()
            else:
                token = {name: value for name, [value] in parse_qs(answer.text).items()}
            check(status(note(token)), 200, f"the token answered to Accept: {accept}")
            check(str(token["expires_in"]), "7200", "expires_in")


def main():
    metadata = discover()
    session = application(metadata)
    browser = plain()
    token, _ = code_flow(session, browser, metadata)
    rotation(session, dict(token), metadata)
    token, _ = code_flow(session, browser, metadata)
    revocation(session, dict(token), metadata)
    used_twice(session, browser, metadata)
    no(session, browser, metadata)
    forms_and_json(metadata)
    json.dump(SECRETS, sys.stdout)


main()
