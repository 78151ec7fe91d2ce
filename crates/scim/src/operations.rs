//! The operations of a PATCH (RFC 7644, section 3.5.2), whatever they change.

use serde_json::{Map, Value};

use crate::values::{find, find_given, invalid, text};
use crate::{ScimError, ScimType};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Replace,
    Remove,
}

/// One of the operations. One that removes has a path, and any other has a value.
pub(crate) struct Operation<'a> {
    pub(crate) op: Op,
    pub(crate) path: Option<String>,
    pub(crate) value: Option<&'a Value>,
}

/// The operations of the body of a PATCH, 1 to `most` of them, one after the other.
pub(crate) fn operations(
    body: &Map<String, Value>,
    most: usize,
) -> Result<impl Iterator<Item = Result<Operation<'_>, ScimError>>, ScimError> {
    let operations = find_given(body, "Operations")?.and_then(Value::as_array);
    let operations = operations.filter(|list| (1..=most).contains(&list.len()));
    let operations = operations.ok_or_else(|| {
        let detail = format!("must be an array of 1 to {most} operations");
        ScimError::invalid(ScimType::InvalidSyntax, "Operations", detail)
    })?;
    Ok(operations.iter().map(read))
}

fn read(operation: &Value) -> Result<Operation<'_>, ScimError> {
    let syntax = |field, detail| ScimError::invalid(ScimType::InvalidSyntax, field, detail);
    let operation = operation
        .as_object()
        .ok_or_else(|| syntax("Operations", "must contain objects only"))?;
    let op = find(operation, "op")?
        .and_then(Value::as_str)
        .and_then(op_of);
    let op = op.ok_or_else(|| syntax("op", "must be add, replace or remove"))?;
    let path = find_given(operation, "path")?
        .map(|path| text("path", path))
        .transpose()?;
    let path = path.filter(|path| !path.is_empty());
    let value = find(operation, "value")?;
    match op {
        Op::Remove if path.is_none() => {
            let detail = "To remove something needs a path";
            Err(ScimError::invalid(ScimType::NoTarget, "", detail))
        }
        Op::Add | Op::Replace if value.is_none() => Err(invalid("value", "is required")),
        _ => Ok(Operation { op, path, value }),
    }
}

fn op_of(text: &str) -> Option<Op> {
    match text.to_ascii_lowercase().as_str() {
        "add" => Some(Op::Add),
        "replace" => Some(Op::Replace),
        "remove" => Some(Op::Remove),
        _ => None,
    }
}
