//! How an attribute is described (RFC 7643, section 7).

use serde_json::{Map, Value, json};

/// The description of an attribute: a single value, optional, without case, that may be read and
/// written, unless told otherwise.
pub(super) struct Attribute(Map<String, Value>);

impl Attribute {
    fn new(kind: &str, name: &str, description: &str) -> Self {
        let mut members = Map::new();
        for (member, value) in [
            ("name", json!(name)),
            ("type", json!(kind)),
            ("description", json!(description)),
            ("multiValued", json!(false)),
            ("required", json!(false)),
            ("mutability", json!("readWrite")),
            ("returned", json!("default")),
        ] {
            members.insert(member.to_owned(), value);
        }
        Self(members)
    }

    pub(super) fn text(name: &str, description: &str) -> Self {
        let text = Self::new("string", name, description);
        text.with("caseExact", json!(false))
            .with("uniqueness", json!("none"))
    }

    /// A text of which only some values occur.
    pub(super) fn choice(name: &str, description: &str, values: &[&str]) -> Self {
        Self::text(name, description).with("canonicalValues", json!(values))
    }

    pub(super) fn boolean(name: &str, description: &str) -> Self {
        Self::new("boolean", name, description)
    }

    pub(super) fn integer(name: &str, description: &str) -> Self {
        Self::new("integer", name, description).with("uniqueness", json!("none"))
    }

    /// An address: of something outside (`external`), or any (`uri`).
    pub(super) fn reference(name: &str, description: &str, kind: &str) -> Self {
        let reference =
            Self::new("reference", name, description).with("referenceTypes", json!([kind]));
        reference.case_exact().with("uniqueness", json!("none"))
    }

    pub(super) fn complex(name: &str, description: &str, parts: Vec<Self>) -> Self {
        Self::new("complex", name, description).with("subAttributes", values(parts))
    }

    pub(super) fn required(self) -> Self {
        self.with("required", json!(true))
    }

    pub(super) fn many(self) -> Self {
        self.with("multiValued", json!(true))
    }

    pub(super) fn case_exact(self) -> Self {
        self.with("caseExact", json!(true))
    }

    /// No two resources of the server have the same.
    pub(super) fn unique(self) -> Self {
        self.with("uniqueness", json!("server"))
    }

    /// The attribute and its parts, which only the server sets.
    pub(super) fn read_only(mut self) -> Self {
        if let Some(Value::Array(parts)) = self.0.get_mut("subAttributes") {
            for part in parts {
                if let Value::Object(members) = part.take() {
                    *part = Value::Object(Self(members).read_only().0);
                }
            }
        }
        self.with("mutability", json!("readOnly"))
    }

    pub(super) fn with(mut self, member: &str, value: Value) -> Self {
        self.0.insert(member.to_owned(), value);
        self
    }
}

/// The descriptions as they are shown.
pub(super) fn values(attributes: Vec<Attribute>) -> Value {
    attributes
        .into_iter()
        .map(|attribute| Value::Object(attribute.0))
        .collect()
}
