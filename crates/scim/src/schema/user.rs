//! The attributes of users that are kept (RFC 7643, section 4.1).
//!
//! Required is what a user always has, so that it cannot be removed. A new user needs only a
//! `userName`.

use serde_json::json;

use super::attribute::Attribute;

pub(super) fn attributes() -> Vec<Attribute> {
    vec![
        Attribute::text(
            "userName",
            "The name by which the provider signs the user in, mostly an address",
        )
        .required()
        .unique(),
        Attribute::complex(
            "name",
            "The parts of the full name, which is kept as a whole",
            name(),
        )
        .required(),
        Attribute::text(
            "displayName",
            "The full name; beside the parts of a name it counts for nothing",
        )
        .required(),
        Attribute::text(
            "nickName",
            "The name shown in the chat; made from the full name when it is missing",
        )
        .required(),
        Attribute::complex(
            "emails",
            "The address of the user; of several, the first is kept",
            emails(),
        )
        .required()
        .many(),
        Attribute::boolean("active", "Whether the user may sign in").required(),
        Attribute::complex("groups", "The groups that the user is in", groups())
            .many()
            .read_only(),
    ]
}

fn groups() -> Vec<Attribute> {
    vec![
        Attribute::text("value", "The id of the group"),
        Attribute::reference("$ref", "The address of the group", "Group"),
        Attribute::text("display", "The name of the group"),
        Attribute::choice(
            "type",
            "How the user is in the group, which is always by itself",
            &["direct"],
        ),
    ]
}

fn name() -> Vec<Attribute> {
    vec![
        Attribute::text("givenName", "The full name up to its first space"),
        Attribute::text("familyName", "The full name behind its first space"),
    ]
}

fn emails() -> Vec<Attribute> {
    vec![
        Attribute::text("value", "The address").required(),
        Attribute::choice(
            "type",
            "What the address is for, which is always work",
            &["work"],
        ),
        // The one address is the primary one, whatever was said.
        Attribute::boolean(
            "primary",
            "Whether this is the first address to write to, which is always true",
        )
        .with("canonicalValues", json!(["true"])),
    ]
}
