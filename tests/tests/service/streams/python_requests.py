"""Posts messages and waits for each on the stream, in blocks of 512 bytes as scripts do by default."""

import json
import sys

import requests

about = json.load(sys.stdin)
heard = []
for accept in ["application/json", "text/event-stream"]:
    session = requests.Session()
    session.auth = (about["token"], "")
    stream = session.get(about["stream"], headers={"Accept": accept}, stream=True, timeout=15)
    stream.raise_for_status()
    lines = stream.iter_lines(chunk_size=512)
    for number, length in enumerate([1, 300, 511, 512, 513, 5000]):
        content = str(number) * length
        message = {"event": "message", "content": content}
        requests.post(about["messages"], auth=(about["token"], ""), json=message, timeout=15).raise_for_status()
        for line in lines:
            line = line.decode().removeprefix("data: ")
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "message":
                heard.append(event["content"] == content)
                break
    stream.close()
json.dump(heard, sys.stdout)
