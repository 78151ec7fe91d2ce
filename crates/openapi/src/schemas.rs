//! The schemas of answers, with an example of each.

use eddyline_wire::{
    Attachment, Author, ErrorBody, Flow, FlowNotifications, FlowUser, FormerUser, Group,
    ImportedInvitations, IntegrationError, Invitation, Link, Message, NamedRecord, Organization,
    OrganizationSummary, OrganizationUser, Participant, PictureSize, PrivateActivity,
    PrivateConversation, RecordTarget, ScheduledDeletion, SetupApplication, Source,
    SourceApplication, Thread, ThreadLastMessage, Thumbnail, User, UserNotifications,
};
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use crate::examples;
use eddyline_wire::oauth::{
    ClientErrorAnswer, IntrospectionAnswer, RegisteredApplication, TokenAnswer,
};

/// All schemas, by name. Those of the classic profile are among them when that is served.
pub(crate) fn all(is_classic: bool) -> Map<String, Value> {
    let mut schemas = of_messages();
    schemas.extend(of_people());
    schemas.extend(of_oauth());
    schemas.extend(of_scim());
    if is_classic {
        schemas.insert(
            "RegisteredApplication".into(),
            json!(RegisteredApplication::schema()),
        );
    }
    for (name, schema) in &mut schemas {
        if let Some(example) = examples::of_schema(name) {
            schema["examples"] = json!([example]);
        }
    }
    schemas
}

/// Refers to a schema by its name.
pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn members(schemas: Value) -> Map<String, Value> {
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}

fn of_messages() -> Map<String, Value> {
    members(json!({
        "Attachment": Attachment::schema(),
        "Author": Author::schema(),
        "Empty": {"type": "object", "maxProperties": 0, "description": "An empty object: it is done"},
        "ErrorBody": ErrorBody::schema(),
        "StreamEvent": {
            "type": "object",
            "description": "A message, with all that lists show of it, or what is told at the moment only, such as who \
                comes and goes, and has no number",
            "required": ["event", "content"],
            "properties": {
                "id": {"type": ["integer", "null"], "format": "int64"},
                "event": {"type": "string", "description": "Kind of message, presence, activity.user or read"},
                "content": {"description": "A text or an object, by the kind"},
                "flow": {"type": ["string", "null"], "description": "The flow's id"},
                "user": {"type": ["string", "null"], "description": "Number of the sender, as text"},
            },
            "additionalProperties": true,
        },
        "Flow": Flow::schema(),
        "Group": Group::schema(),
        "ImportedInvitations": ImportedInvitations::schema(),
        "IntegrationError": IntegrationError::schema(),
        "Invitation": Invitation::schema(),
        "Link": Link::schema(),
        "Message": Message::schema(),
        "Picture": PictureSize::schema(),
        "PrivateActivity": PrivateActivity::schema(),
        "PrivateConversation": PrivateConversation::schema(),
        "Source": Source::schema(),
        "SourceApplication": SourceApplication::schema(),
        "Thread": Thread::schema(),
        "ThreadLastMessage": ThreadLastMessage::schema(),
        "Thumbnail": Thumbnail::schema(),
    }))
}

fn of_people() -> Map<String, Value> {
    members(json!({
        "AuditRecord": NamedRecord::schema(),
        "AuditTarget": RecordTarget::schema(),
        "FlowUser": FlowUser::schema(),
        "FlowNotifications": FlowNotifications::schema(),
        "SetupApplication": SetupApplication::schema(),
        "FormerUser": FormerUser::schema(),
        "UserNotifications": UserNotifications::schema(),
        "Organization": Organization::schema(),
        "OrganizationSummary": OrganizationSummary::schema(),
        "OrganizationUser": OrganizationUser::schema(),
        "ScheduledDeletion": ScheduledDeletion::schema(),
        "Participant": Participant::schema(),
        // The value of `trial` decides which of the two it is; a derived schema would not say so.
        "Subscription": {"oneOf": [
            {
                "type": "object",
                "description": "The organization tries the service",
                "required": ["trial", "trial_ends"],
                "properties": {"trial": {"const": true}, "trial_ends": {"type": "string", "format": "date"}},
            },
            {
                "type": "object",
                "description": "The organization pays; billing_date is null on servers without billing",
                "required": ["trial", "billing_date"],
                "properties": {"trial": {"const": false}, "billing_date": {"type": ["string", "null"]}},
            },
        ]},
        "User": User::schema(),
    }))
}

fn of_oauth() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    members(json!({
        "AuthorizationServer": {
            "type": "object",
            "description": "Addresses, and what is supported (RFC 8414)",
            "required": ["issuer", "authorization_endpoint", "token_endpoint", "response_types_supported"],
            "properties": {
                "issuer": text,
                "authorization_endpoint": text,
                "token_endpoint": text,
                "token_endpoint_auth_methods_supported": texts,
                "revocation_endpoint": text,
                "revocation_endpoint_auth_methods_supported": texts,
                "introspection_endpoint": text,
                "introspection_endpoint_auth_methods_supported": texts,
                "scopes_supported": texts,
                "response_types_supported": texts,
                "response_modes_supported": texts,
                "grant_types_supported": texts,
                "code_challenge_methods_supported": texts,
                "authorization_response_iss_parameter_supported": {"type": "boolean"},
            },
        },
        "ClientErrorAnswer": ClientErrorAnswer::schema(),
        "IntrospectionAnswer": IntrospectionAnswer::schema(),
        "TokenAnswer": TokenAnswer::schema(),
    }))
}

/// A user and its list are described for both shapes: that of the specification, and that of RFC
/// 7643.
fn of_scim() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let supported = json!({
        "type": "object",
        "required": ["supported"],
        "properties": {"supported": {"type": "boolean"}},
    });
    let page_of = |items: Value| {
        json!({
            "type": "object",
            "description": "A page of resources (RFC 7644, section 3.4.2)",
            "required": ["Resources"],
            "properties": {
                "schemas": texts,
                "totalResults": {"type": "integer"},
                "startIndex": {"type": "integer"},
                "itemsPerPage": {"type": "integer"},
                "Resources": {"type": "array", "items": items},
            },
        })
    };
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let page = |items: &str| page_of(reference(items));
    members(json!({
        "ScimUser": {
            "type": "object",
            "description": "A user (RFC 7643, section 4.1). In plain JSON the id is a number. With attributes or \
                excludedAttributes, members are left out",
            "properties": {
                "schemas": texts,
                "id": {"type": ["string", "integer"]},
                "externalId": text,
                "userName": text,
                "name": {"type": "object", "properties": {"givenName": text, "familyName": text}},
                "displayName": text,
                "nickName": text,
                "emails": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"value": text, "type": text, "primary": {"type": "boolean"}},
                }},
                "active": {"type": "boolean"},
                "groups": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"value": text, "$ref": text, "display": text, "type": text},
                }},
                "meta": {"$ref": "#/components/schemas/ScimMeta"},
            },
        },
        "ScimGroup": {
            "type": "object",
            "description": "A group (RFC 7643, section 4.2) with the members whom the provider sees. With attributes \
                or excludedAttributes, members of this object are left out",
            "properties": {
                "schemas": texts,
                "id": text,
                "externalId": text,
                "displayName": text,
                "members": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"value": text, "$ref": text, "type": text},
                }},
                "meta": {"$ref": "#/components/schemas/ScimMeta"},
            },
        },
        "ScimMessage": {"type": "object", "required": ["message"], "properties": {"message": text}},
        "ScimUsers": page("ScimUser"),
        "ScimGroups": page("ScimGroup"),
        "ScimResources": page_of(json!({"anyOf": [reference("ScimUser"), reference("ScimGroup")]})),
        "ScimMeta": {
            "type": "object",
            "properties": {
                "resourceType": text,
                "created": text,
                "lastModified": text,
                "location": text,
                "version": text,
            },
        },
        "ScimServiceProviderConfig": {
            "type": "object",
            "description": "What the service can do (RFC 7643, section 5)",
            "required": ["schemas", "patch", "bulk", "filter", "changePassword", "sort", "etag", "authenticationSchemes"],
            "properties": {
                "schemas": texts,
                "patch": supported,
                "bulk": supported,
                "filter": supported,
                "changePassword": supported,
                "sort": supported,
                "etag": supported,
                "authenticationSchemes": {"type": "array", "items": {"type": "object", "additionalProperties": true}},
                "meta": {"$ref": "#/components/schemas/ScimMeta"},
            },
        },
        "ScimResourceType": {
            "type": "object",
            "description": "A kind of resource (RFC 7643, section 6)",
            "required": ["schemas", "name", "endpoint", "schema"],
            "properties": {
                "schemas": texts,
                "id": text,
                "name": text,
                "description": text,
                "endpoint": text,
                "schema": text,
                "schemaExtensions": {"type": "array", "items": {"type": "object", "additionalProperties": true}},
                "meta": {"$ref": "#/components/schemas/ScimMeta"},
            },
        },
        "ScimResourceTypes": page("ScimResourceType"),
        "ScimSchema": {
            "type": "object",
            "description": "The attributes of a kind of resource (RFC 7643, section 7)",
            "required": ["id", "attributes"],
            "properties": {
                "schemas": texts,
                "id": text,
                "name": text,
                "description": text,
                "attributes": {"type": "array", "items": {"type": "object", "additionalProperties": true}},
                "meta": {"$ref": "#/components/schemas/ScimMeta"},
            },
        },
        "ScimSchemas": page("ScimSchema"),
        "ScimError": {
            "type": "object",
            "description": "What is wrong (RFC 7644, section 3.12)",
            "required": ["schemas", "status"],
            "properties": {"schemas": texts, "status": text, "scimType": text, "detail": text},
        },
    }))
}
