//! What the service tells about itself (RFC 7643, sections 5 to 8; RFC 7644, section 4).
//!
//! The `base` of all addresses is the one that the provider was given, above `/Users` and
//! `/Groups`.

mod attribute;
mod discovery;
mod group;
mod user;

use serde_json::{Value, json};

use self::attribute::Attribute;
use crate::{GROUP_SCHEMA, USER_SCHEMA};

/// The most resources of one page.
pub const MAX_RESULTS: i64 = 1_000;

const CONFIG_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const RESOURCE_TYPE_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Schema";

/// What the service can do (RFC 7643, section 5).
#[must_use]
pub fn service_provider_config(base: &str) -> Value {
    json!({
        "schemas": [CONFIG_SCHEMA],
        "patch": {"supported": true},
        "bulk": {"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": true, "maxResults": MAX_RESULTS},
        "changePassword": {"supported": false},
        "sort": {"supported": false},
        "etag": {"supported": true},
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "The token that was issued when provisioning was set up",
            "specUri": "https://www.rfc-editor.org/info/rfc6750",
            "primary": true,
        }],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": location(base, "ServiceProviderConfig"),
        },
    })
}

/// The kinds of resources (RFC 7643, section 6): users and groups. Each has an `id`.
#[must_use]
pub fn resource_types(base: &str) -> Vec<Value> {
    let resource_type = |name: &str, description: &str, schema: &str| {
        json!({
            "schemas": [RESOURCE_TYPE_SCHEMA],
            "id": name,
            "name": name,
            "description": description,
            "endpoint": format!("/{name}s"),
            "schema": schema,
            "schemaExtensions": [],
            "meta": {
                "resourceType": "ResourceType",
                "location": location(base, &format!("ResourceTypes/{name}")),
            },
        })
    };
    vec![
        resource_type(
            "User",
            "A person who signs in through the provider",
            USER_SCHEMA,
        ),
        resource_type(
            "Group",
            "People of the organization who are mentioned together",
            GROUP_SCHEMA,
        ),
    ]
}

/// The schemas of all resources (RFC 7643, section 7), of which each has its URN as `id`: users
/// and groups with the attributes that are kept, and what these three functions return.
#[must_use]
pub fn schemas(base: &str) -> Vec<Value> {
    let schema = |id: &str, name: &str, description: &str, attributes: Vec<Attribute>| {
        json!({
            "schemas": [SCHEMA_SCHEMA],
            "id": id,
            "name": name,
            "description": description,
            "attributes": attribute::values(attributes),
            "meta": {"resourceType": "Schema", "location": location(base, &format!("Schemas/{id}"))},
        })
    };
    vec![
        schema(USER_SCHEMA, "User", "A user's account", user::attributes()),
        schema(
            GROUP_SCHEMA,
            "Group",
            "A group of users",
            group::attributes(),
        ),
        schema(
            CONFIG_SCHEMA,
            "ServiceProviderConfig",
            "What the service can do",
            discovery::service_provider_config(),
        ),
        schema(
            RESOURCE_TYPE_SCHEMA,
            "ResourceType",
            "A kind of resources",
            discovery::resource_type(),
        ),
        schema(
            SCHEMA_SCHEMA,
            "Schema",
            "The attributes of resources",
            discovery::schema(),
        ),
    ]
}

fn location(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::groups::show::{group_resource, tests::team};
    use crate::show::{resource, tests::ada};

    const BASE: &str = "https://chat.example/scim/u1";

    fn schema_of(id: &str) -> Value {
        schemas(BASE)
            .into_iter()
            .find(|schema| schema["id"] == id)
            .expect(id)
    }

    fn attribute<'a>(attributes: &'a Value, name: &str) -> Option<&'a Value> {
        attributes
            .as_array()?
            .iter()
            .find(|attribute| attribute["name"] == name)
    }

    /// Each member has an attribute of its type, and what is required is there.
    fn assert_fits(members: &Map<String, Value>, attributes: &Value) {
        for (name, value) in members {
            let attribute =
                attribute(attributes, name).unwrap_or_else(|| panic!("{name} is not described"));
            let values = match value {
                Value::Array(values) => {
                    assert_eq!(attribute["multiValued"], true, "{name}");
                    values.as_slice()
                }
                _ => {
                    assert_eq!(attribute["multiValued"], false, "{name}");
                    std::slice::from_ref(value)
                }
            };
            for value in values {
                match value {
                    Value::Object(parts) => {
                        assert_eq!(attribute["type"], "complex", "{name}");
                        assert_fits(parts, &attribute["subAttributes"]);
                    }
                    Value::Bool(_) => assert_eq!(attribute["type"], "boolean", "{name}"),
                    Value::Number(_) => assert_eq!(attribute["type"], "integer", "{name}"),
                    _ => assert!(
                        ["string", "reference"].contains(&attribute["type"].as_str().unwrap())
                    ),
                }
            }
        }
        for attribute in attributes.as_array().unwrap() {
            let name = attribute["name"].as_str().unwrap();
            assert!(
                attribute["required"] == false || members.contains_key(name),
                "{name} is missing"
            );
        }
    }

    fn without(resource: &Value, common: &[&str]) -> Map<String, Value> {
        let mut members = resource.as_object().unwrap().clone();
        for name in common {
            assert!(members.remove(*name).is_some(), "{name}");
        }
        members
    }

    #[test]
    fn the_schema_of_users_describes_what_is_shown_of_them() {
        let user = Value::Object(resource(&ada()));
        // Common attributes stand in no schema (RFC 7643, section 3.1).
        let members = without(&user, &["schemas", "id", "externalId", "meta"]);
        let attributes = &schema_of(USER_SCHEMA)["attributes"];
        assert_fits(&members, attributes);
        assert_eq!(attributes.as_array().unwrap().len(), members.len());
        let user_name = attribute(attributes, "userName").unwrap();
        assert_eq!(
            (&user_name["uniqueness"], &user_name["caseExact"]),
            (&json!("server"), &json!(false))
        );
    }

    #[test]
    fn the_schema_of_groups_describes_what_is_shown_of_them() {
        let group = Value::Object(group_resource(&team()));
        let members = without(&group, &["schemas", "id", "externalId", "meta"]);
        let attributes = &schema_of(GROUP_SCHEMA)["attributes"];
        assert_fits(&members, attributes);
        assert_eq!(attributes.as_array().unwrap().len(), members.len());
    }

    #[test]
    fn the_service_describes_itself_by_its_own_schemas() {
        let config = without(&service_provider_config(BASE), &["schemas", "meta"]);
        assert_fits(&config, &schema_of(CONFIG_SCHEMA)["attributes"]);
        for kind in resource_types(BASE) {
            let members = without(&kind, &["schemas", "meta"]);
            assert_fits(&members, &schema_of(RESOURCE_TYPE_SCHEMA)["attributes"]);
        }
        for mut schema in schemas(BASE) {
            // What parts of parts are is described by no schema of the standard.
            for attribute in schema["attributes"].as_array_mut().unwrap() {
                for part in attribute
                    .get_mut("subAttributes")
                    .into_iter()
                    .flat_map(|parts| parts.as_array_mut())
                    .flatten()
                {
                    part.as_object_mut().unwrap().remove("subAttributes");
                }
            }
            let members = without(&schema, &["schemas", "meta"]);
            assert_fits(&members, &schema_of(SCHEMA_SCHEMA)["attributes"]);
        }
    }

    #[test]
    fn every_document_is_found_where_it_says() {
        let config = service_provider_config(&format!("{BASE}/"));
        assert_eq!(
            config["meta"]["location"],
            format!("{BASE}/ServiceProviderConfig")
        );
        for kind in resource_types(BASE) {
            let id = kind["id"].as_str().unwrap();
            let location = format!("{BASE}/ResourceTypes/{id}");
            assert_eq!(kind["meta"]["location"], location);
            assert_eq!(
                kind["schema"],
                schema_of(kind["schema"].as_str().unwrap())["id"]
            );
        }
        for schema in schemas(BASE) {
            let id = schema["id"].as_str().unwrap();
            assert_eq!(schema["meta"]["location"], format!("{BASE}/Schemas/{id}"));
        }
    }
}
