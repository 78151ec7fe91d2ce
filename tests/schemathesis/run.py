#!/usr/bin/env python3
"""Runs Schemathesis over /openapi.json with real credentials of each kind. See README.md."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from pathlib import Path

from scene import Scene, Server

# The security scheme of each kind of caller.
CALLERS = {
    "basic": "basic", "oauth": "oauth", "flow_token": "flow_token", "source": "flow_token",
    "scim": "scim", "none": None,
}
# A stream goes on for as long as its client listens, so no request for one ends.
ENDLESS = {"streamFlows", "streamFlow"}
# Of text/event-stream Schemathesis takes each event for the whole; OpenAPI 3.1 describes the text.
EVENTS = {"probeStream"}
# What a user does with the own account and membership.
OF_SELF = {"updateSelfById", "uploadAvatar", "deleteAvatar", "leaveFlow"}
# What would take away what all other operations work with.
DESTRUCTIVE = ["leaveFlow", "setFlowUserBlocked", "updateFlow", "removeOrganizationUser"]
# A request that fits the document may be refused for what a schema does not say: a name that is taken,
# an object that is not there, what the caller may not do, rules between fields.
REFUSALS = ["2xx", "3xx", 400, 401, 403, 404, 409, 410, 412, 413, 416, 424, 429]
# PATCH is missing: it is taken for PUT, as docs/protocol.md says, and the document lists one of them.
UNEXPECTED_METHODS = ["GET", "PUT", "POST", "DELETE", "TRACE", "QUERY"]


def toml(value):
    return json.dumps(value, ensure_ascii=False)


def configuration(scene, caller):
    """The configuration of a run: the credentials, and what there is to be named in requests."""
    lines = []
    for name, values in scene.words.items():
        lines += [f"[dictionaries.{name}]", f"values = {toml(values)}", ""]

    def bound(pairs):
        each = (f'"{key}" = {{ dictionary = "{name}", probability = 0.95 }}' for key, name in pairs)
        return [*each, ""]

    other = ("provided", "private", "spare_user", "spare_flow", "flow_id", "flow_path")
    lines += ["[parameters]", *bound(
        [(f"path.{name}", name) for name in scene.words if name not in other]
        + [("body.flow", "flow_id"), ("query.flows", "flow_path"), ("query.id", "flow_id"),
           ("body.message", "message"), ("body.user", "user"), ("query.user", "user"),
           ("body.flow_token", "token")]
    )]
    credential = scene.credentials[caller]
    if "query" in credential:
        lines += ["[auth.openapi.flow_token]", f"api_key = {toml(credential['query'])}", ""]
    elif "header" in credential:
        lines += ["[headers]", f"Authorization = {toml(credential['header'])}", ""]
    lines += ["[checks.positive_data_acceptance]", f"expected-statuses = {toml(REFUSALS)}", ""]
    # Values are taken as clients of the original service send them: switches as 0 and 1, numbers as texts.
    lines += ["[checks.negative_data_rejection]", "enabled = false", ""]
    lines += ["[phases.coverage]", f"unexpected-methods = {toml(UNEXPECTED_METHODS)}", ""]
    for place, name in [("^/scim/", "provided"), ("^/private/", None)]:
        lines += ["[[operations]]", f"include-path-regex = {toml(place)}", "[operations.parameters]"]
        lines += bound([("path.user", name)] if name else [("path.message", "private")])
    for operation in DESTRUCTIVE:
        lines += ["[[operations]]", f"include-operation-id = {toml(operation)}", "[operations.parameters]"]
        pairs = [("path.flow", "spare_flow")]
        lines += bound(pairs if operation in OF_SELF else [*pairs, ("path.user", "spare_user")])
        if operation in OF_SELF:
            lines.insert(-1, f'"path.user" = {scene.self_id}')
    for operation in sorted(EVENTS):
        lines += ["[[operations]]", f"include-operation-id = {toml(operation)}",
                  "checks.response_schema_conformance.enabled = false", ""]
    return "\n".join(lines)


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and "operationId" in operation:
                yield f"{method.upper()} {path}", operation


def with_real_examples(document, scene):
    """The document with the names of what is there in place of those of its examples."""
    for label, operation in operations(document):
        path = label.split(" ")[1]
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            if name == "user" and operation["operationId"] in OF_SELF:
                parameter["example"] = scene.self_id
            elif name in ("user", "flow") and operation["operationId"] in DESTRUCTIVE:
                parameter["example"] = scene.words[f"spare_{name}"][0]
            elif name == "user" and path.startswith("/scim/"):
                parameter["example"] = scene.words["provided"][0]
            elif name == "message" and path.startswith("/private/"):
                parameter["example"] = scene.words["private"][0]
            elif parameter["in"] == "path" and name in scene.words:
                parameter["example"] = scene.words[name][0]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            example = content.get("example", {})
            if operation["operationId"] in scene.bodies:
                content["example"] = scene.bodies[operation["operationId"]]
            elif isinstance(example, dict):
                known = {name: value for name, value in scene.values.items() if name in example}
                example.update(known)
    for schema in document["components"]["schemas"].values():
        for name, field in schema.get("properties", {}).items():
            if name in scene.values and "example" in field:
                field["example"] = scene.values[name]
    return document


def of_caller(document, caller):
    """The operations that this caller has credentials for; those without any go to the first."""
    found = {}
    for label, operation in operations(document):
        schemes = {name for either in operation.get("security", []) for name in either}
        wanted = CALLERS[caller] in schemes or (caller == "none" and not schemes)
        # These would be the last that this caller does.
        if operation["operationId"] == "deleteOrganization":
            continue
        if caller == "source" and operation["operationId"] == "deleteOwnSource":
            continue
        if wanted and operation["operationId"] not in ENDLESS:
            found[label] = operation["operationId"]
    return found


def statuses(events):
    """How often each operation answered with which status."""
    found = {}
    for line in events.open():
        recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
        for key, exchange in recorder.get("interactions", {}).items():
            case = recorder["cases"].get(key, {}).get("value", {})
            status = (exchange.get("response") or {}).get("status_code")
            label = f"{case.get('method')} {case.get('path')}"
            found.setdefault(label, Counter())[status] += 1
    return found


def run(options, caller, seconds, seed, place):
    """One run on new data; tells of it, and whether it found nothing."""
    place.mkdir(parents=True)
    server = Server(options.binary, place, options.database)
    try:
        scene = Scene(server)
        document = json.load(urllib.request.urlopen(server.url + "/openapi.json"))
        wanted = of_caller(document, caller)
        schema = place / "openapi.json"
        schema.write_text(json.dumps(with_real_examples(document, scene)))
        config = place / "schemathesis.toml"
        config.write_text(configuration(scene, caller))
        events = place / "events.ndjson"
        command = [
            options.tool, "--config-file", config, "run", schema, "--url", server.url,
            "--max-time", str(seconds), "--seed", str(seed), "--continue-on-failure",
            "--request-timeout", "20", "--no-color", "--suppress-health-check", "all",
            "--report", "ndjson", "--report-ndjson-path", events, "--output-sanitize", "false",
        ]
        for operation in wanted.values():
            command += ["--include-operation-id", operation]
        output = place / "output.txt"
        with output.open("w") as file:
            status = subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, check=False, cwd=place
            ).returncode
        complaints = server.stop()
    finally:
        server.process.kill()
    answered = statuses(events)
    total = sum(answered.values(), Counter())
    told = ", ".join(f"{status}: {count}" for status, count in sorted(total.items(), key=str))
    print(f"{place.name}: {sum(total.values())} requests to {len(wanted)} operations ({told})")
    # Without a success, an operation was tried at its refusals only.
    unseen = [label for label in wanted if not any((s or 0) < 400 for s in answered.get(label, {}))]
    if unseen:
        print(f"  without success: {', '.join(unseen)}")
    for line in complaints[:20]:
        print(f"  log: {line}")
    if status != 0:
        print(f"  failures, see {output}")
    sys.stdout.flush()
    return status == 0 and not complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all runs together")
    parser.add_argument("--rounds", type=int, default=3, help="for each caller, each on new data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=list(CALLERS))
    parser.add_argument("--database", help="an empty PostgreSQL database; for a single run")
    parser.add_argument("--binary", default="target/release/eddyline")
    parser.add_argument("--keep", type=Path, help="folder for what the runs write")
    options = parser.parse_args()
    options.binary = str(Path(options.binary).resolve())
    options.tool = shutil.which("schemathesis")
    if options.tool is None:
        sys.exit("schemathesis is not installed, see README.md")
    callers = options.only or list(CALLERS)
    if options.database and (options.rounds != 1 or len(callers) != 1):
        sys.exit("--database needs --rounds 1 and --only CALLER")
    home = options.keep or Path(tempfile.mkdtemp(prefix="eddyline-schemathesis-"))
    seconds = options.seconds // (len(callers) * options.rounds)
    passed = [
        run(options, caller, seconds, options.seed + number, home / f"{caller}-{number + 1}")
        for number in range(options.rounds)
        for caller in callers
    ]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
