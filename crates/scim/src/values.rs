//! Values of attributes, as providers write them.

use serde_json::{Map, Value};

use crate::{ScimError, ScimType};

/// The member of this name, in any case, as it stands there. Twice the same is an error.
pub(crate) fn find<'a>(
    object: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Value>, ScimError> {
    let mut members = object
        .iter()
        .filter(|(key, _)| key.eq_ignore_ascii_case(name));
    let first = members.next();
    match members.next() {
        Some(_) => Err(ScimError::invalid(
            ScimType::InvalidSyntax,
            name,
            "is given twice",
        )),
        None => Ok(first.map(|(_, value)| value)),
    }
}

/// The member of this name, in any case; `null` is the same as none (RFC 7643, section 2.5).
pub(crate) fn find_given<'a>(
    object: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Value>, ScimError> {
    Ok(find(object, name)?.filter(|value| !value.is_null()))
}

/// A text. NUL is refused, since no database keeps it.
pub(crate) fn text(field: &str, value: &Value) -> Result<String, ScimError> {
    match value {
        Value::String(text) if text.contains('\0') => {
            Err(invalid(field, "must not contain a NUL character"))
        }
        Value::String(text) => Ok(text.clone()),
        _ => Err(invalid(field, "must be a text")),
    }
}

/// A boolean, or a text that says one in any case.
pub(crate) fn boolean(field: &str, value: &Value) -> Result<bool, ScimError> {
    let read = match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => boolean_of_text(text),
        _ => None,
    };
    read.ok_or_else(|| invalid(field, "must be true or false"))
}

/// What a text says that stands for a boolean.
pub(crate) fn boolean_of_text(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// An object.
pub(crate) fn object<'a>(
    field: &str,
    value: &'a Value,
) -> Result<&'a Map<String, Value>, ScimError> {
    value
        .as_object()
        .ok_or_else(|| invalid(field, "must be an object"))
}

/// The address among `emails` that is marked as primary (RFC 7643, section 2.4), or else the first:
/// an array of objects with `value`, or of texts, or only one of these. `None` when there is none.
pub(crate) fn primary_email(value: &Value) -> Result<Option<String>, ScimError> {
    match value {
        Value::Array(emails) => {
            let primary = emails.iter().find(|email| is_primary(email));
            primary.or(emails.first()).map_or(Ok(None), email)
        }
        one => email(one),
    }
}

/// Whether an address is marked as primary.
pub(crate) fn is_primary(email: &Value) -> bool {
    let mark = email
        .as_object()
        .and_then(|email| find(email, "primary").ok().flatten());
    match mark {
        Some(Value::String(text)) => boolean_of_text(text) == Some(true),
        Some(mark) => mark == &Value::Bool(true),
        None => false,
    }
}

/// The address that one of `emails` has. `None` when there is none.
pub(crate) fn email(value: &Value) -> Result<Option<String>, ScimError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(email) => find_given(email, "value")?
            .map(|value| text("emails.value", value))
            .transpose(),
        Value::String(_) => text("emails", value).map(Some),
        _ => Err(invalid(
            "emails",
            "must be an array of objects with a value",
        )),
    }
}

/// A value that its attribute cannot have.
pub(crate) fn invalid(field: &str, detail: &str) -> ScimError {
    ScimError::invalid(ScimType::InvalidValue, field, detail)
}
