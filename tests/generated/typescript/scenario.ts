// Talks to a server through openapi-fetch, with the types that openapi-typescript made from its document.
//
// Reads as JSON: the address of the server, an API token, the organization, the flow and the nick of the user. Prints
// what it did.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import createClient from "openapi-fetch";

import type { components, paths } from "./schema.js";

type ErrorBody = components["schemas"]["ErrorBody"];

const about: { server: string; api_token: string; organization: string; flow: string; nick: string } = JSON.parse(
    readFileSync(0, "utf8"),
);
const credentials = Buffer.from(`${about.api_token}:`).toString("base64");
const client = createClient<paths>({
    baseUrl: about.server,
    headers: { Authorization: `Basic ${credentials}` },
});
const path = { organization: about.organization, flow: about.flow };
const messages = "/flows/{organization}/{flow}/messages";
const message = "/flows/{organization}/{flow}/messages/{message}";

const flows = await client.GET("/flows", { params: { query: { users: true } } });
const flow = flows.data?.find((flow) => flow.parameterized_name === about.flow);
assert.equal(flow?.open, true);

const posted = await client.POST(messages, {
    params: { path, header: { "X-Service-Wait-For-Message": "true" } },
    body: { event: "message", content: "Made in TypeScript", tags: ["type"], uuid: "typescript-1" },
});
assert.ok(posted.data && "id" in posted.data);
const { id, tags, uuid } = posted.data;
assert.deepEqual([tags, uuid], [["type"], "typescript-1"]);

const listed = await client.GET(messages, { params: { path, query: { tags: "type" } } });
assert.deepEqual(listed.data, [posted.data]);

const done = await client.PUT(message, {
    params: { path: { ...path, message: id } },
    body: { content: "Edited in TypeScript" },
});
assert.equal(done.response.status, 200);
const edited = await client.GET(message, { params: { path: { ...path, message: id } } });
assert.equal(edited.data?.content, "Edited in TypeScript");
assert.equal(typeof edited.data.edited, "number");

const refused = await client.POST(messages, { params: { path }, body: { event: "message", content: "" } });
assert.equal(refused.response.status, 400);
const error: ErrorBody | undefined = refused.error;
assert.ok(error?.errors?.["content"]?.length);

const users = await client.GET("/users");
assert.ok(users.data?.some((user) => user.nick === about.nick));
console.log(JSON.stringify({ message: id }));
