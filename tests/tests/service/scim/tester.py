"""Has scim2-tester try all that it knows against a server, and prints what came of it."""

import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

about = json.load(sys.stdin)
headers = {"Authorization": "Bearer " + about["token"], "Accept": "application/scim+json"}
http = Client(base_url=about["url"], headers=headers, timeout=60)
results = check_server(SyncSCIMClient(http))


def told(result):
    return {
        "title": result.title,
        "status": result.status.name,
        "reason": str(result.reason),
        "resource": str(getattr(result, "resource_type", "")),
        "data": repr(result.data)[:500],
    }


json.dump([told(result) for result in results], sys.stdout)
