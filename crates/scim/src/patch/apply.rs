//! What becomes of a user by changes.

use super::change::{Change, cannot_go};
use super::no_target;
use crate::names::{family_beside, join, split};
use crate::path::{Condition, Literal, ValueFilter};
use crate::values::{boolean_of_text, invalid};
use crate::{ScimError, State};

pub(super) fn apply(changes: &[Change], mut state: State) -> Result<State, ScimError> {
    let mut name = Name::default();
    let mut missed = 0;
    for change in changes {
        match change {
            Change::UserName(user_name) => state.user_name.clone_from(user_name),
            Change::ExternalId(external_id) => state.external_id.clone_from(external_id),
            Change::Active(active) => state.active = *active,
            Change::Nick(nick) => state.nick.clone_from(nick),
            Change::DisplayName(full) => name.display = Some(full),
            Change::Formatted(full) => name.formatted = Some(full),
            Change::GivenName(given) => name.given = Some(given),
            Change::FamilyName(family) => name.family = Some(family),
            Change::Email(filter, address) => {
                // An address that is not kept, such as one for home, is passed over like other
                // attributes.
                if !filter
                    .as_ref()
                    .is_none_or(|filter| matches(filter, &state.email))
                {
                    missed += 1;
                    continue;
                }
                let address = address.as_ref().ok_or_else(|| cannot_go("emails"))?;
                state.email.clone_from(address);
            }
        }
    }
    if missed > 0 && missed == changes.len() {
        return Err(no_target("No address matches that is kept"));
    }
    if let Some(full) = name.full(&state.name) {
        if full.is_empty() {
            return Err(invalid("name", "is required"));
        }
        state.name = full;
    }
    Ok(state)
}

/// All that was said about the name, which is one full name in the end.
#[derive(Default)]
struct Name<'a> {
    display: Option<&'a str>,
    formatted: Option<&'a str>,
    given: Option<&'a str>,
    family: Option<&'a str>,
}

impl Name<'_> {
    /// The full name that comes of the present one; `None` when nothing was said.
    ///
    /// A path that names a part means a name of parts. The display name beside it may be anything
    /// (`Lovelace, Ada (Engines)`), so the other part is that of the present name, not a guess from
    /// it.
    fn full(&self, present: &str) -> Option<String> {
        match (self.given, self.family) {
            (Some(given), Some(family)) => Some(join(given, family)),
            (Some(given), None) => Some(join(given, family_beside(present, given))),
            (None, Some(family)) => Some(join(split(present).0, family)),
            (None, None) => self
                .formatted
                .or(self.display)
                .map(|full| full.trim().to_owned()),
        }
    }
}

/// Whether the address is meant, which is of the type `work` and primary.
fn matches(filter: &ValueFilter, email: &str) -> bool {
    filter
        .conditions()
        .iter()
        .all(|condition| holds(condition, email))
}

fn holds(condition: &Condition, email: &str) -> bool {
    let attribute = condition.attribute().to_ascii_lowercase();
    match (attribute.as_str(), condition.value()) {
        ("type", Literal::Text(kind)) => kind.eq_ignore_ascii_case("work"),
        ("primary", Literal::Boolean(flag)) => *flag,
        ("primary", Literal::Text(flag)) => boolean_of_text(flag) == Some(true),
        ("value", Literal::Text(value)) => value.to_lowercase() == email.to_lowercase(),
        _ => false,
    }
}
