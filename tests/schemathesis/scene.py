"""A server with an organization that has something of everything, and who calls it."""

import base64
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

PASSWORD = "correct horse battery staple"
REDIRECT = "urn:ietf:wg:oauth:2.0:oob"
SCOPES = "flow private manage profile integration offline_access"
# So many requests come from one address that these would end each run after some seconds.
UNLIMITED = [
    "password-attempts-per-account", "password-attempts-per-address", "oauth-attempts-per-address",
    "scim-attempts-per-address", "max-pending-invitations", "max-flows-per-organization",
    "max-flows-per-user",
]
# The smallest PNG.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server of its own, on empty data."""

    def __init__(self, binary, directory, database):
        self.binary = binary
        self.data = ["--data-dir", str(directory / "data")]
        if database:
            self.data += ["--database", database]
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = directory / "server.log"
        arguments = [
            binary, "serve", *self.data, "--listen", self.url.removeprefix("http://"),
            "--stream-listen", f"127.0.0.1:{free_port()}", "--action-timeout-seconds", "1",
        ]
        for option in UNLIMITED:
            arguments += [f"--{option}", "0"]
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=self.log.open("w"), text=True
        )
        if not self.process.stdout.readline().startswith("listening"):
            sys.exit(f"the server did not start: {self.log.read_text()}")

    def admin(self, *arguments):
        command = [self.binary, "admin", *arguments, *self.data, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"eddyline admin {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)

    def call(self, method, path, body, authorization=None, form=False):
        headers = {"Accept": "application/json", "X-Service-Wait-For-Message": "true"}
        if form:
            data = urllib.parse.urlencode(body).encode()
        else:
            data = None if body is None else json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if authorization:
            headers["Authorization"] = authorization
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")

    def stop(self):
        """Ends the server, and gives what is wrong with its log and its end."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        lines = self.log.read_text().splitlines()
        complaints = [line for line in lines if " ERROR " in line or "panicked" in line]
        if status != 0:
            complaints.append(f"the server ended with {status}")
        return complaints


def basic(name):
    return "Basic " + base64.b64encode(f"{name}:".encode()).decode()


class Scene:
    """What there is on a server: `words` for each parameter, and the credentials of each caller."""

    def __init__(self, server):
        self.server = server
        server.admin("org", "create", "--name", "acme")
        server.admin("org", "domain", "add", "--org", "acme", "--domain", "acme.example")
        nicks = ["ada", "ben", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "joe"]
        people = [self.person(nick) for nick in nicks]
        flows = [self.flow(name, people) for name in ["main", "ops", "lobby"]]
        self.ada = basic(people[0]["api_token"])
        self.self_id = people[0]["id"]
        flow_token = server.admin("flow", "token", "--flow", "acme/main")["flow_token"]
        application = server.admin(
            "app", "create", "--org", "acme", "--name", "Robot", "--redirect-uri", REDIRECT
        )
        client = {name: application[name] for name in ("client_id", "client_secret")}
        grant = self.grant(people[0]["email"], client)
        bearer = "Bearer " + grant["access_token"]
        provider = server.admin("scim", "enable", "--org", "acme")
        provided = [self.provided(provider, f"new{n}@acme.example") for n in range(12)]
        messages = [self.say(f"word {n} @ben #tag") for n in range(30)]
        file = self.file()
        self.talk("POST", f"/messages/{messages[0]['id']}/comments", {"event": "comment", "content": "yes"})
        sources = [
            server.call("POST", "/flows/acme/main/sources", {"name": f"Builds {n}"}, bearer)
            for n in range(8)
        ]
        items = [self.item(source["flow_token"]) for source in sources]
        private = self.whispers(people[1]["id"], 30)
        invitations = [
            self.talk("POST", "/invitations", {"email": f"guest{n}@elsewhere.example"}) for n in range(20)
        ]
        groups = [
            server.call("POST", "/organizations/acme/groups", {"name": f"gang{n}"}, self.ada)
            for n in range(8)
        ]
        self.provided_ids = [int(user["id"]) for user in provided]
        place = file["content"]["path"].split("/files/")[1].split("/")
        avatar = self.avatar()
        link = self.link(file["content"]["path"])
        self.words = {
            "organization": ["acme"],
            "flow": ["main", "ops", "lobby"],
            "user": [person["id"] for person in people[1:]],
            # Those that a run may take away.
            "spare_user": [person["id"] for person in people[-3:]],
            "spare_flow": ["lobby"],
            "avatar": [avatar],
            "link": [link],
            "size": [64],
            "provided": self.provided_ids,
            "message": [message["id"] for message in messages] + [file["id"]],
            "private": [message["id"] for message in private],
            "thread": [item["thread_id"] for item in items],
            "source": [source["id"] for source in sources],
            "invitation": [invitation["id"] for invitation in invitations],
            "group": [group["id"] for group in groups],
            "emoji": ["👍", "tada"],
            "token": [flow_token, *(source["flow_token"] for source in sources)],
            "uid": [provider["uid"]],
            "file": [place[0]],
            "name": [place[1]],
            "flow_id": flows,
            "flow_path": ["acme/main", "acme/ops"],
        }
        self.values = {
            "flow": flows[0], "thread_id": items[0]["thread_id"], "flow_token": flow_token,
            "username": people[0]["email"], "password": PASSWORD, **client,
        }
        spare = self.grant(people[-1]["email"], client)
        self.bodies = {
            "issueToken": self.grant_request(people[0]["email"], client),
            "introspectToken": {"token": grant["access_token"], **client},
            "revokeToken": {"token": spare["access_token"], **client},
        }
        self.credentials = {
            "basic": {"header": self.ada},
            "oauth": {"header": bearer},
            "flow_token": {"query": flow_token},
            "source": {"query": sources[0]["flow_token"]},
            "scim": {"header": "Bearer " + provider["token"]},
            "none": {},
        }

    def person(self, nick):
        return self.server.admin(
            "user", "create", "--org", "acme", "--email", f"{nick}@acme.example", "--name", nick,
            "--nick", nick, "--password", PASSWORD, *(["--admin"] if nick == "ada" else []),
        )

    def flow(self, name, people):
        flow = self.server.admin("flow", "create", "--org", "acme", "--name", name)
        for person in people:
            self.server.admin(
                "flow", "add-user", "--flow", f"acme/{name}", "--email", person["email"]
            )
        return flow["id"]

    def provided(self, provider, address):
        body = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": address}
        path = f"/scim/{provider['uid']}/Users"
        return self.server.call("POST", path, body, "Bearer " + provider["token"])

    def talk(self, method, path, body):
        return self.server.call(method, f"/flows/acme/main{path}", body, self.ada)

    def say(self, text):
        return self.talk("POST", "/messages", {"event": "message", "content": text})

    def file(self):
        content = {"data": PICTURE, "content_type": "image/png", "file_name": "dot.png"}
        return self.talk("POST", "/messages", {"event": "file", "content": content})

    def grant_request(self, address, client):
        return {"grant_type": "password", "username": address, "password": PASSWORD,
                "scope": SCOPES, **client}

    def grant(self, address, client):
        return self.server.call("POST", "/oauth/token", self.grant_request(address, client), form=True)

    def link(self, path):
        """The name of a link that needs no credentials."""
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        request = urllib.request.Request(self.server.url + path, headers={"Authorization": self.ada})
        try:
            urllib.request.build_opener(Stay).open(request)
        except urllib.error.HTTPError as answer:
            return answer.headers["Location"].split("/download/")[1].split("/")[0]
        sys.exit(f"GET {path} gave no link")

    def avatar(self):
        picture = base64.b64decode(PICTURE)
        path = f"{self.server.url}/users/{self.self_id}/avatar"
        headers = {"Content-Type": "image/png", "Authorization": self.ada}
        with urllib.request.urlopen(urllib.request.Request(path, picture, headers, method="PUT")):
            pass
        address = self.server.call("GET", "/user", None, self.ada)["avatar"]
        return address.split("/avatars/")[1].split("/")[0]

    def whispers(self, user, count):
        path = f"/private/{user}/messages"
        for n in range(count):
            self.server.call("POST", path, {"event": "message", "content": f"psst {n}"}, self.ada)
        return self.server.call("GET", f"{path}?limit={count}", None, self.ada)

    def item(self, token):
        action = {"@type": "ViewAction", "name": "Open", "url": "https://example.org"}
        return self.server.call("POST", "/messages", {
            "flow_token": token, "event": "activity", "title": "built", "author": {"name": "Robot"},
            "external_thread_id": "build-1",
            "thread": {"title": "Build 1", "status": {"value": "open", "color": "green"},
                       "actions": [action]},
        })
