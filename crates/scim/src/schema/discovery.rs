//! The attributes of what the service tells about itself (RFC 7643, sections 5 to 7). Nobody writes
//! them.

use super::attribute::Attribute;

pub(super) fn service_provider_config() -> Vec<Attribute> {
    let supported = || Attribute::boolean("supported", "Whether the service can do it").required();
    let feature = |name: &str, description: &str, more: Vec<Attribute>| {
        let parts = std::iter::once(supported()).chain(more).collect();
        Attribute::complex(name, description, parts).required()
    };
    let attributes = vec![
        Attribute::reference("documentationUri", "A page about the service", "external"),
        feature("patch", "Changing parts of a resource", Vec::new()),
        feature(
            "bulk",
            "Many operations in one request",
            vec![
                Attribute::integer("maxOperations", "The most operations of a request").required(),
                Attribute::integer("maxPayloadSize", "The most bytes of a request").required(),
            ],
        ),
        feature(
            "filter",
            "Searching for resources",
            vec![Attribute::integer("maxResults", "The most resources of an answer").required()],
        ),
        feature("changePassword", "Setting passwords", Vec::new()),
        feature("sort", "Lists in an order of one's choice", Vec::new()),
        feature("etag", "Versions of resources", Vec::new()),
        Attribute::complex(
            "authenticationSchemes",
            "How a client shows who it is",
            schemes(),
        )
        .required()
        .many(),
    ];
    read_only(attributes)
}

fn schemes() -> Vec<Attribute> {
    let types = [
        "oauth",
        "oauth2",
        "oauthbearertoken",
        "httpbasic",
        "httpdigest",
    ];
    vec![
        Attribute::choice("type", "The kind of scheme", &types).required(),
        Attribute::text("name", "The usual name of the scheme").required(),
        Attribute::text("description", "What to show").required(),
        Attribute::reference("specUri", "The specification of the scheme", "external"),
        Attribute::reference(
            "documentationUri",
            "A page about the use of the scheme",
            "external",
        ),
        Attribute::boolean("primary", "Whether this scheme is preferred"),
    ]
}

pub(super) fn resource_type() -> Vec<Attribute> {
    let extension = vec![
        Attribute::reference("schema", "The URN of the extension", "uri").required(),
        Attribute::boolean("required", "Whether each resource must have it").required(),
    ];
    read_only(vec![
        Attribute::text("id", "The id of the kind"),
        Attribute::text("name", "The name of the kind")
            .required()
            .case_exact()
            .unique(),
        Attribute::text("description", "What resources of this kind are"),
        Attribute::reference(
            "endpoint",
            "Where they are found, below the base address",
            "uri",
        )
        .required()
        .unique(),
        Attribute::reference("schema", "The URN of their schema", "uri").required(),
        Attribute::complex(
            "schemaExtensions",
            "Further schemas that they may have",
            extension,
        )
        .many(),
    ])
}

pub(super) fn schema() -> Vec<Attribute> {
    let mut attribute = description();
    attribute.push(
        Attribute::complex(
            "subAttributes",
            "The parts of a complex attribute",
            description(),
        )
        .many(),
    );
    read_only(vec![
        Attribute::text("id", "The URN of the schema")
            .required()
            .case_exact(),
        Attribute::text("name", "The name of the schema").required(),
        Attribute::text("description", "What the schema is for"),
        Attribute::complex("attributes", "The attributes of the schema", attribute)
            .required()
            .many(),
    ])
}

/// How an attribute is described, but for its parts.
fn description() -> Vec<Attribute> {
    let types = [
        "string",
        "complex",
        "boolean",
        "decimal",
        "integer",
        "dateTime",
        "reference",
        "binary",
    ];
    vec![
        Attribute::text("name", "The name of the attribute")
            .required()
            .case_exact(),
        Attribute::choice("type", "What its values are", &types)
            .required()
            .case_exact(),
        Attribute::boolean("multiValued", "Whether it has a list of values").required(),
        Attribute::text("description", "What it is for").case_exact(),
        Attribute::boolean("required", "Whether a resource must have it"),
        Attribute::text("canonicalValues", "Values that occur")
            .many()
            .case_exact(),
        Attribute::boolean("caseExact", "Whether its values differ by case"),
        Attribute::choice(
            "mutability",
            "Who may set it, and when",
            &["readOnly", "readWrite", "immutable", "writeOnly"],
        )
        .case_exact(),
        Attribute::choice(
            "returned",
            "When it is shown",
            &["always", "never", "default", "request"],
        )
        .case_exact(),
        Attribute::choice(
            "uniqueness",
            "Among which resources a value occurs once",
            &["none", "server", "global"],
        )
        .case_exact(),
        Attribute::text("referenceTypes", "What its addresses may lead to")
            .many()
            .case_exact(),
    ]
}

fn read_only(attributes: Vec<Attribute>) -> Vec<Attribute> {
    attributes.into_iter().map(Attribute::read_only).collect()
}
