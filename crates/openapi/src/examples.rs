//! Examples of parameters and of answers.

use eddyline_model::threads::ThreadMark;
use serde_json::{Value, json};

pub(crate) const FLOW_ID: &str = "a176c7c7-2ac7-4bc5-9be9-c9c461d448e3";
const THREAD_ID: &str = "AQAAAAEAAAAB5DLR4Z1NsSugRnE";

/// The example of a parameter of an operation, which has this schema.
pub(crate) fn of_parameter(operation: &str, name: &str, schema: &Value) -> Option<Value> {
    if let Some(example) = of_operation(operation, name) {
        return Some(example);
    }
    let kind = |schema: &Value| schema["type"].as_str().unwrap_or_default().to_owned();
    Some(
        match (kind(schema).as_str(), kind(&schema["items"]).as_str()) {
            ("boolean", _) => json!(true),
            ("integer", _) => of_integer(name)?.into(),
            ("array", "integer") => json!([17, 18]),
            ("array", "object") => of_objects(name)?,
            ("array", _) => json!(["coffee", "break"]),
            ("object", _) => of_object(name)?,
            _ => of_text(name)?.into(),
        },
    )
}

/// Parameters that mean another thing than those of the same name elsewhere.
fn of_operation(operation: &str, name: &str) -> Option<Value> {
    Some(match (operation, name) {
        ("postComment" | "postMessageComment", "event") => json!("comment"),
        ("postMessage" | "postComment", "flow") => json!("acme/main"),
        ("orderTabs", "flows") => json!(["acme/design", "acme/main"]),
        ("updateNotifications" | "updateFlowNotifications", "level") => json!("all"),
        ("updateNotifications", "from") => json!("22:00"),
        ("updateNotifications", "until") => json!("07:00"),
        ("streamFlows", "flows") => json!("joined"),
        ("streamFlows", "filter") => json!("acme/main,acme/design"),
        ("listFlows" | "listAllFlows", "after") | ("findFlow", "id") => json!(FLOW_ID),
        ("downloadFile", "link") => json!("4f1c9a7e"),
        ("locateFile" | "locateThumbnail" | "downloadFile", "name") => json!("plan.png"),
        ("createSource" | "updateSource" | "updateOwnSource", "name") => json!("Tracker"),
        ("editFlowMessage", "remove_tags") => json!(["tea"]),
        ("renameOrganization", "name") => json!("Acme"),
        ("deleteOrganization", "name") => json!("acme"),
        ("createGroup" | "updateGroup", "name") => json!("team"),
        ("patchProvidedGroup", "Operations") => {
            json!([{"op": "replace", "path": "displayName", "value": "Engineering"}])
        }
        ("listProvidedGroups" | "searchProvidedGroups", "filter") => {
            json!("displayName eq \"Engineering Team\"")
        }
        (
            "listProvidedGroups" | "searchProvidedGroups" | "getProvidedGroup",
            "excludedAttributes",
        ) => json!("members"),
        ("listProvidedGroups" | "searchProvidedGroups" | "getProvidedGroup", "attributes") => {
            json!("displayName")
        }
        ("updateSelf" | "updateSelfById", "name") => json!("Ada Lovelace"),
        ("updateSelf" | "updateSelfById", "password") => json!("staple battery horse correct"),
        ("getSchema", "id") => json!("urn:ietf:params:scim:schemas:core:2.0:User"),
        ("getResourceType", "id") => json!("User"),
        ("findOrganization", "id") => json!(3),
        ("listAuditRecords", "action") => json!("flow."),
        ("searchMessages" | "listMentions", "before") => json!("1769846400000-3-4711"),
        _ => return None,
    })
}

/// What an example of a body has beside the required parameters, because one of these is needed.
pub(crate) fn also_sent(operation: &str) -> &'static [&'static str] {
    match operation {
        "postMessage" => &["content", "flow"],
        "postFlowMessage" | "postThreadMessage" => &["content"],
        "orderTabs" => &["flows"],
        "postComment" => &["flow"],
        "issueToken" => &["code", "redirect_uri", "client_id", "client_secret"],
        _ => &[],
    }
}

fn of_integer(name: &str) -> Option<i64> {
    Some(match name {
        "id" | "user" => 17,
        "message" | "message_id" | "since_id" | "beyond_id" | "around_id" => 4711,
        "around_time" | "since_time" | "until_time" => 1_769_846_400_000,
        "until_id" => 4799,
        "invitation" | "after" | "source" => 5,
        "limit" => 30,
        "count" => 100,
        "startIndex" => 1,
        "skip" => 0,
        "position" => 0,
        "group" => 2,
        "size" => 64,
        _ => return None,
    })
}

fn of_object(name: &str) -> Option<Value> {
    Some(match name {
        "application" => {
            json!({"name": "Deploy bot", "redirect_uri": "https://bot.example/callback"})
        }
        "attachments" => json!({"log": "a file of the form"}),
        "author" => json!({"name": "Ada Lovelace", "avatar": "https://tracker.example/ada.png"}),
        "name" => json!({"givenName": "Ada", "familyName": "Lovelace"}),
        "thread" => json!({
            "title": "Login fails on Sundays",
            "external_url": "https://tracker.example/tickets/88",
            "status": {"value": "open", "color": "green"},
        }),
        _ => return None,
    })
}

fn of_objects(name: &str) -> Option<Value> {
    Some(match name {
        "Operations" => json!([{"op": "replace", "path": "active", "value": false}]),
        "emails" => json!([{"value": "ada@acme.example", "type": "work", "primary": true}]),
        "members" => json!([{"value": "17"}]),
        _ => return None,
    })
}

fn of_text(name: &str) -> Option<&'static str> {
    Some(match name {
        "accept" => "text/event-stream",
        "access_mode" => "organization",
        "active" => "idle",
        "thread" | "thread_id" | "before" => THREAD_ID,
        "application" => "8ae1f3c2d4b5",
        "attributes" => "userName,active",
        "avatar" => "17-3f2a",
        "body" => "<p>The session ends too early.</p>",
        "client_id" => "8ae1f3c2d4b5",
        "client_secret" => "the secret of the application",
        "code" => "the code from the redirect",
        "code_verifier" => "q7Yw2cK9dXvR4tB1nLm8sZp0aGh5eFj3uCo6iVx-TkQ",
        "configuration_url" => "https://bot.example/sources/5",
        "content" => "Good morning #coffee",
        "current_password" | "password" => "correct horse battery staple",
        "description" => "What we ship, and when",
        "displayName" => "Engineering Team",
        "email" | "username" | "from_address" | "reply_to" | "userName" => "ada@acme.example",
        "emoji" => "👍",
        "marker" => "chat",
        "error_message" => "The tracker answers with 401",
        "event" => "message",
        "excludedAttributes" => "emails",
        "externalId" => "00u1a2b3",
        "external_thread_id" => "ticket-88",
        "external_url" | "link" => "https://tracker.example/tickets/88",
        "external_user_name" => "Nightly build",
        "file" => "f3a91c",
        "filter" => "userName eq \"ada@acme.example\"",
        "flow" => "main",
        "from_name" => "Ada Lovelace",
        "grant_type" => "authorization_code",
        "last_event_id" => "4711-1a2b3c4d",
        "list" => "Ada <ada@acme.example>, ben@acme.example",
        "message" => "Join us!",
        "name" => "Main",
        "nick" | "nickName" => "Ada",
        "organization" => "acme",
        "project" => "Website",
        "redirect_uri" => "https://bot.example/callback",
        "refresh_token" => "the last refresh token",
        "scope" => "flow private",
        "search" => "coffee break",
        "since" => "2026-01-31T08:00:00Z",
        "sort" => "desc",
        "source" => "Tracker",
        "state" => "accepted",
        "subject" | "title" => "Login fails on Sundays",
        "tag_mode" => "and",
        "tags" => "coffee,break",
        "token" => "6b1f0c7a",
        "token_type_hint" => "access_token",
        "uid" => "a1b2c3",
        "until" => "2026-02-28T17:30:00Z",
        "uuid" => "0f8fad5b-d9cb-469f-a165-70867728950e",
        "status" => "open",
        "stream" => "5d0f3ac29be81746",
        "website" => "https://ada.example",
        "zone" => "Europe/Helsinki",
        _ => return None,
    })
}

/// The example of a schema.
pub(crate) fn of_schema(name: &str) -> Option<Value> {
    Some(match name {
        "Author" => json!({"name": "Ada Lovelace", "avatar": null}),
        "Empty" => json!({}),
        "ErrorBody" => {
            json!({"message": "Validation error", "errors": {"content": ["is missing"]}})
        }
        "StreamEvent" => {
            json!({"event": "activity.user", "content": {"last_activity": 1769846400000_i64}, "flow": FLOW_ID, "user": "17"})
        }
        "Link" => {
            json!({"url": "https://chat.example/flows/acme/main/messages", "methods": ["GET", "POST"]})
        }
        "IntegrationError" => {
            json!({"message": "The integration answered with status 500", "status": 500})
        }
        "Flow" => flow(),
        "FlowUser" => flow_user(),
        "FormerUser" => json!({
            "id": 18,
            "nick": "Ben",
            "name": "Ben Bitdiddle",
            "avatar": "https://chat.example/avatars/18-77c0/",
        }),
        "Group" => group(),
        "ImportedInvitations" => json!({
            "invitations": [invitation()],
            "added_users": [flow_user()],
            "erroneous_emails": [{"nonsense": "is not an address"}],
        }),
        "SetupApplication" => json!({
            "id": 4,
            "name": "Tracker",
            "icon_url": null,
            "setup_url": "https://bot.example/setup?flow=a176c7c7",
        }),
        "FlowNotifications" => json!({"level": "account"}),
        "UserNotifications" => json!({
            "level": "mentions",
            "shows_text": false,
            "quiet": true,
            "from": "22:00",
            "until": "07:00",
            "zone": "Europe/Helsinki",
        }),
        "Invitation" => invitation(),
        "Message" => message(),
        "Attachment" => attachment(),
        "Picture" => json!({"width": 640, "height": 480}),
        "Thumbnail" => attachment()["thumbnail"].clone(),
        "Thread" => thread(),
        "ThreadLastMessage" => json!({
            "id": 4712,
            "event": "comment",
            "user": "17",
            "author_name": null,
            "text": "With milk, please",
            "sent": 1_769_846_700_000_i64,
        }),
        "AuditRecord" => audit_record(),
        "AuditTarget" => audit_record()["target"].clone(),
        "Organization" => organization(),
        "OrganizationSummary" => flow()["organization"].clone(),
        "OrganizationUser" => organization()["users"][0].clone(),
        "ScheduledDeletion" => json!({
            "requested_by": 17,
            "requested_at": "2026-01-31T08:00:00.000Z",
            "due_at": "2026-03-02T08:00:00.000Z",
            "cancellable": true,
        }),
        "Subscription" => organization()["subscription"].clone(),
        "Participant" => conversation()["users"][0].clone(),
        "PrivateActivity" => conversation()["activity"].clone(),
        "PrivateConversation" => conversation(),
        "Source" => source(),
        "SourceApplication" => source()["application"].clone(),
        "User" => json!({
            "id": 17,
            "email": "ada@acme.example",
            "name": "Ada Lovelace",
            "nick": "Ada",
            "avatar": "https://chat.example/avatars/17-3f2a/",
            "website": "https://ada.example",
        }),
        name => return of_oauth(name).or_else(|| of_scim(name)),
    })
}

fn flow() -> Value {
    json!({
        "id": FLOW_ID,
        "name": "Main",
        "parameterized_name": "main",
        "email": "main@acme.chat.example",
        "description": "What we ship, and when",
        "organization": {
            "id": 3,
            "name": "Acme",
            "parameterized_name": "acme",
            "user_limit": 50,
            "user_count": 12,
            "active": true,
            "url": "https://chat.example/organizations/acme",
        },
        "unread_mentions": 0,
        "unread": 2,
        "first_unread": 4710,
        "read": 4709,
        "inbox": {"read": 4690, "unread": 1, "first_unread": 4702},
        "open": true,
        "tab_position": 1,
        "joined": true,
        "url": "https://chat.example/flows/acme/main",
        "web_url": "https://chat.example/app/acme/main",
        "access_mode": "organization",
        "flow_admin": false,
        "disabled": false,
        "last_message_at": "2026-01-31T08:00:00.000Z",
        "last_message_id": 4711,
        "links": {},
    })
}

fn flow_user() -> Value {
    json!({
        "id": 17,
        "nick": "Ada",
        "name": "Ada Lovelace",
        "email": "ada@acme.example",
        "avatar": "https://chat.example/avatars/17-3f2a/",
        "status": "in the workshop",
        "disabled": false,
        "last_activity": 1_769_846_400_000_i64,
        "last_ping": 1_769_846_460_000_i64,
        "in_flow": true,
        "presence": "active",
    })
}

fn group() -> Value {
    json!({
        "id": 2,
        "name": "team",
        "tag": ":group:team",
        "url": "https://chat.example/organizations/acme/groups/2",
        "users": [17, 18],
    })
}

fn invitation() -> Value {
    json!({
        "id": 5,
        "state": "pending",
        "email": "ada@acme.example",
        "flow": FLOW_ID,
        "url": "https://chat.example/flows/acme/main/invitations/5",
    })
}

fn message() -> Value {
    json!({
        "id": 4711,
        "event": "message",
        "content": "Good morning #coffee",
        "tags": ["coffee"],
        "app": "chat",
        "emojiReactions": {"👍": [17, 18]},
        "uuid": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "user": "17",
        "sent": 1_769_846_400_000_i64,
        "flow": FLOW_ID,
        "attachments": [],
        "created_at": "2026-01-31T08:00:00.000Z",
        "edited": null,
        "edited_at": null,
        "thread_id": THREAD_ID,
        "thread": thread(),
    })
}

fn attachment() -> Value {
    json!({
        "content_type": "image/png",
        "content_id": null,
        "file_name": "plan.png",
        "file_size": 48_213,
        "path": "/files/f3a91c/plan.png",
        "image": {"width": 640, "height": 480},
        "thumbnail": {"path": "/files/f3a91c/thumbnail/plan.png", "width": 320, "height": 240},
    })
}

fn thread() -> Value {
    json!({
        "id": THREAD_ID,
        "mark": ThreadMark::of(THREAD_ID).number(),
        "title": "Good morning #coffee",
        "body": "",
        "external_url": null,
        "status": null,
        "actions": [],
        "fields": [],
        "source": null,
        "activities": 0,
        "internal_comments": 1,
        "external_comments": 0,
        "initial_message": 4711,
        "updated_at": "2026-01-31T08:05:00.000Z",
        "created_at": "2026-01-31T08:00:00.000Z",
    })
}

fn audit_record() -> Value {
    json!({
        "id": 5120,
        "at": "2026-01-31T08:00:00.000Z",
        "organization": 3,
        "actor": "user:17",
        "actor_name": "Ada Lovelace",
        "application": null,
        "address": "192.0.2.17",
        "action": "flow.change",
        "user": null,
        "user_name": null,
        "target": {"kind": "flow", "id": FLOW_ID, "name": "Main"},
        "detail": {"name": ["Main", "Harbour"]},
    })
}

fn organization() -> Value {
    json!({
        "id": 3,
        "parameterized_name": "acme",
        "name": "Acme",
        "user_limit": 50,
        "user_count": 1,
        "active": true,
        "url": "https://chat.example/organizations/acme",
        "subscription": {"trial": false, "billing_date": null},
        "users": [{"id": 17, "name": "Ada Lovelace", "email": "ada@acme.example", "admin": true}],
        "groups": [],
    })
}

fn conversation() -> Value {
    json!({
        "id": 17,
        "url": "https://chat.example/private/17",
        "name": "Ada Lovelace",
        "open": true,
        "tab_position": null,
        "read": 16,
        "last_message_id": 16,
        "activity": {"inbox": false, "mentions": 0, "chat": true},
        "users": [{
            "id": 17,
            "nick": "Ada",
            "email": "ada@acme.example",
            "avatar": "https://chat.example/avatars/17-3f2a/",
            "name": "Ada Lovelace",
        }],
    })
}

fn source() -> Value {
    json!({
        "id": 5,
        "name": "Tracker",
        "flow": FLOW_ID,
        "application": {"id": "4", "name": "Tracker", "configuration_uri": null},
        "error_message": null,
        "url": "https://chat.example/flows/acme/main/sources/5",
        "external_url": "https://tracker.example/projects/1",
        "configuration_url": null,
        "creator": 17,
        "created_at": "2026-01-31T08:00:00.000Z",
        "updated_at": "2026-01-31T08:00:00.000Z",
        "threads_updated_at": "2026-01-31T08:05:00.000Z",
    })
}

fn of_oauth(name: &str) -> Option<Value> {
    Some(match name {
        "AuthorizationServer" => json!({
            "issuer": "https://chat.example",
            "authorization_endpoint": "https://chat.example/oauth/authorize",
            "token_endpoint": "https://chat.example/oauth/token",
            "response_types_supported": ["code"],
        }),
        "ClientErrorAnswer" => {
            json!({"error": "invalid_grant", "error_description": "The code has expired"})
        }
        "IntrospectionAnswer" => {
            json!({"active": true, "scope": "flow", "client_id": "8ae1f3c2d4b5"})
        }
        "RegisteredApplication" => json!({
            "name": "Deploy bot",
            "redirect_uri": "https://bot.example/callback",
            "client_id": "8ae1f3c2d4b5",
            "client_secret": "shown this once",
        }),
        "TokenAnswer" => json!({
            "access_token": "6b1f0c7a",
            "token_type": "Bearer",
            "expires_in": 7_200,
            "scope": "flow,private",
        }),
        _ => return None,
    })
}

fn of_scim(name: &str) -> Option<Value> {
    let page = |resource: &str| {
        json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": 1,
            "startIndex": 1,
            "itemsPerPage": 1,
            "Resources": [of_scim(resource)],
        })
    };
    Some(match name {
        "ScimUser" => json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
            "id": "17",
            "userName": "ada@acme.example",
            "name": {"givenName": "Ada", "familyName": "Lovelace"},
            "displayName": "Ada Lovelace",
            "nickName": "Ada",
            "emails": [{"value": "ada@acme.example", "type": "work", "primary": true}],
            "active": true,
        }),
        "ScimGroup" => json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
            "id": "2",
            "displayName": "Engineering Team",
            "members": [{
                "value": "17",
                "$ref": "https://chat.example/scim/a1b2c3/Users/17",
                "type": "User",
            }],
        }),
        "ScimUsers" => page("ScimUser"),
        "ScimGroups" => page("ScimGroup"),
        "ScimResources" => page("ScimUser"),
        "ScimMessage" => json!({"message": "You are authorized to provision users here"}),
        "ScimMeta" => json!({"resourceType": "User", "version": "W/\"3\""}),
        "ScimServiceProviderConfig" => {
            eddyline_scim::schema::service_provider_config("https://chat.example/scim/a1b2c3")
        }
        "ScimResourceType" => json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
            "id": "User",
            "name": "User",
            "endpoint": "/Users",
            "schema": "urn:ietf:params:scim:schemas:core:2.0:User",
        }),
        "ScimResourceTypes" => page("ScimResourceType"),
        "ScimSchema" => {
            json!({"id": "urn:ietf:params:scim:schemas:core:2.0:User", "name": "User", "attributes": []})
        }
        "ScimSchemas" => page("ScimSchema"),
        "ScimError" => json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"],
            "status": "404",
            "detail": "not found",
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_of_the_shapes_that_they_show() {
        fn is<T: serde::de::DeserializeOwned>(name: &str) {
            let example = of_schema(name).unwrap_or_else(|| panic!("{name} has an example"));
            serde_json::from_value::<T>(example).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        is::<eddyline_wire::Flow>("Flow");
        is::<eddyline_wire::FlowUser>("FlowUser");
        is::<eddyline_wire::FormerUser>("FormerUser");
        is::<eddyline_wire::Group>("Group");
        is::<eddyline_wire::ImportedInvitations>("ImportedInvitations");
        is::<eddyline_wire::Message>("Message");
        is::<eddyline_wire::NamedRecord>("AuditRecord");
        is::<eddyline_wire::Organization>("Organization");
        is::<eddyline_wire::PrivateConversation>("PrivateConversation");
        is::<eddyline_wire::Source>("Source");
        is::<eddyline_wire::User>("User");
        is::<eddyline_wire::IntegrationError>("IntegrationError");
        is::<eddyline_wire::ErrorBody>("ErrorBody");
    }
}
