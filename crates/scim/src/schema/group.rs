//! The attributes of groups that are kept (RFC 7643, section 4.2).

use serde_json::json;

use super::attribute::Attribute;

pub(super) fn attributes() -> Vec<Attribute> {
    vec![
        Attribute::text(
            "displayName",
            "The name, from which the one is made by which the group is mentioned",
        )
        .required()
        .unique(),
        Attribute::complex("members", "The users in the group", members()).many(),
    ]
}

/// A member comes and goes, and does not become another.
fn members() -> Vec<Attribute> {
    let parts = [
        Attribute::text("value", "The id of the user").required(),
        Attribute::reference("$ref", "The address of the user", "User"),
        Attribute::choice(
            "type",
            "The kind of the member, which is always User",
            &["User"],
        ),
    ];
    let immutable = |part: Attribute| part.with("mutability", json!("immutable"));
    parts.into_iter().map(immutable).collect()
}
