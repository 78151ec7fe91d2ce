"""Has openapi-python-client make a client from the document of a server, and talks to the server through it.

Reads as JSON: the directory that holds the document, the address of the server, an access token, the organization, the
flow and the nick of the user. Prints what it did, and what the generator left out.
"""

import json
import re
import subprocess
import sys

about = json.load(sys.stdin)
command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
command += ["--path", "openapi.json", "--output-path", "generated"]
making = subprocess.run(command, cwd=about["directory"], capture_output=True, text=True)
assert making.returncode == 0, making.stdout + making.stderr
# It says so for each answer.
left_out = set(re.findall("^WARNING parsing ([A-Z]+ [^ ]+)", making.stdout + making.stderr, re.MULTILINE))

# It is there from now on.
sys.path.insert(0, about["directory"])
from generated import AuthenticatedClient
from generated.api.flows import list_flows
from generated.api.messages import edit_flow_message, get_flow_message, list_flow_messages, post_flow_message
from generated.api.users import list_users
from generated.models import EditFlowMessageRequest, ErrorBody, PostFlowMessageForm, PostFlowMessageFormEvent
from generated.models import PostFlowMessageParts, PostFlowMessagePartsEvent, PostFlowMessageRequest
from generated.models import PostFlowMessageRequestEvent
from generated.types import File

client = AuthenticatedClient(base_url=about["server"], token=about["token"], raise_on_unexpected_status=True)
place = {"organization": about["organization"], "flow": about["flow"], "client": client}

[flow] = [flow for flow in list_flows.sync(client=client) if flow.parameterized_name == about["flow"]]
assert flow.open_ is True, flow

chat = PostFlowMessageRequestEvent.MESSAGE
post = PostFlowMessageRequest(event=chat, content="Made in Python", tags=["snake"], uuid="python-1")
posted = post_flow_message.sync(body=post, x_service_wait_for_message="true", **place)
assert (posted.content, posted.tags, posted.uuid) == ("Made in Python", ["snake"], "python-1"), posted

# Without the header there is nothing to say but that it is done.
form = PostFlowMessageForm(event=PostFlowMessageFormEvent.MESSAGE, content="As a form", uuid="python-2")
done = post_flow_message.sync_detailed(body=form, **place)
assert (done.status_code, done.parsed.to_dict()) == (202, {}), done

numbers = File(payload=b"1,2,3", file_name="numbers.csv", mime_type="text/csv")
upload = PostFlowMessageParts(event=PostFlowMessagePartsEvent.FILE, content=numbers)
file = post_flow_message.sync(body=upload, x_service_wait_for_message="true", **place)
assert file.content["file_name"] == "numbers.csv", file

listed = list_flow_messages.sync(limit=10, **place)
assert posted.id in [message.id for message in listed], listed
assert "As a form" in [message.content for message in listed], listed
[found] = list_flow_messages.sync(tags="snake", **place)
assert found.to_dict() == posted.to_dict(), found

edit_flow_message.sync(message=posted.id, body=EditFlowMessageRequest(content="Edited in Python"), **place)
edited = get_flow_message.sync(message=posted.id, **place)
assert edited.content == "Edited in Python" and edited.edited is not None, edited

refused = post_flow_message.sync_detailed(body=PostFlowMessageRequest(event=chat, content=""), **place)
assert refused.status_code == 400 and isinstance(refused.parsed, ErrorBody), refused
assert refused.parsed.errors["content"], refused

assert about["nick"] in [user.nick for user in list_users.sync(client=client)]
json.dump({"message": posted.id, "left_out": sorted(left_out)}, sys.stdout)
