//! Whether both databases have the same rows.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

use super::side::{MoveSide, on};
use crate::copy::{Described, quoted};
use crate::reader::Inner;
use crate::{Error, Result};

/// The rows of a table as a number, which is the same for the same rows in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDigest {
    /// The table.
    pub table: String,
    /// How many rows it has.
    pub rows: u64,
    /// The sum of a hash of each, without carry.
    pub sum: u64,
}

/// The digests of tables, in the order of their names.
pub(super) fn digests(side: &mut MoveSide, tables: &[Described]) -> Result<Vec<TableDigest>> {
    let mut found = Vec::with_capacity(tables.len());
    for table in tables {
        found.push(digest(side, table)?);
    }
    found.sort_by(|one, other| one.table.cmp(&other.table));
    Ok(found)
}

fn digest(side: &mut MoveSide, table: &Described) -> Result<TableDigest> {
    // The databases may have their columns in different orders.
    let mut columns: Vec<_> = table.columns.iter().collect();
    columns.sort_by(|one, other| one.name.cmp(&other.name));
    let query = format!(
        "select {} as value from {} {}",
        side.array(columns.into_iter(), ""),
        quoted(&table.name),
        table.restriction(None)
    );
    let (mut rows, mut sum, mut unreadable) = (0, 0_u64, false);
    on!(side, texts, &query, |row| {
        rows += 1;
        // The databases write the same value with other spaces and escapes.
        match serde_json::from_str::<Value>(&row) {
            Ok(row) => sum = sum.wrapping_add(hash(&row)),
            Err(_) => unreadable = true,
        }
    })?;
    if unreadable {
        return Err(Error::Corrupt("a row cannot be read"));
    }
    Ok(TableDigest {
        table: table.name.clone(),
        rows,
        sum,
    })
}

fn hash(row: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.to_string().hash(&mut hasher);
    hasher.finish()
}
