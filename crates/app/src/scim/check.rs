//! What a provider may make of a user.

use eddyline_model::identities::MAX_SUBJECT_CHARS;
use eddyline_model::names::{self, Email, Nick, nick_candidates};
use eddyline_model::{OrganizationId, UserId};
use eddyline_scim::{ScimError, ScimType, State};
use eddyline_storage::{Result as StoreResult, Tx};
use eddyline_wire::is_unseen;

use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// A state of a user that may be kept, but for what others have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValidUser {
    pub(super) user_name: String,
    pub(super) external_id: Option<String>,
    pub(super) name: String,
    pub(super) email: Email,
    /// `None` to have one made from the name.
    pub(super) nick: Option<Nick>,
    pub(super) active: bool,
}

impl ValidUser {
    /// How the subject is compared with others.
    pub(super) fn subject_key(&self) -> String {
        names::email_key(&self.user_name)
    }
}

/// Checks what does not depend on others.
///
/// # Errors
///
/// [`Error::invalid`], naming the attribute.
pub(super) fn check(state: State) -> Result<ValidUser> {
    let user_name = named(&state.user_name, "userName")?;
    let external_id = state
        .external_id
        .map(|id| named(&id, "externalId"))
        .transpose()?;
    let name =
        names::display_name(&state.name).map_err(|wrong| invalid("name", &wrong.to_string()))?;
    let email: Email = state
        .email
        .parse()
        .map_err(|wrong: names::InvalidName| invalid("emails", &wrong.to_string()))?;
    let nick = match state.nick.as_str() {
        "" => None,
        nick => Some(
            nick.parse()
                .map_err(|wrong: names::InvalidName| invalid("nickName", &wrong.to_string()))?,
        ),
    };
    Ok(ValidUser {
        user_name,
        external_id,
        name,
        email,
        nick,
        active: state.active,
    })
}

/// A name that only the provider gives a meaning.
pub(super) fn named(text: &str, attribute: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(invalid(attribute, "can't be blank"));
    }
    if text.chars().nth(MAX_SUBJECT_CHARS).is_some() {
        return Err(invalid(
            attribute,
            &format!("is too long (maximum is {MAX_SUBJECT_CHARS} characters)"),
        ));
    }
    if text.chars().any(|c| c.is_control() || is_unseen(c)) {
        return Err(invalid(
            attribute,
            "can't contain characters that nobody sees",
        ));
    }
    Ok(text.to_owned())
}

/// Something wrong with an attribute.
pub(super) fn invalid(attribute: &str, text: &str) -> Error {
    ScimError::invalid(ScimType::InvalidValue, attribute, text).into()
}

/// The organization has no place for another user.
pub(super) fn full() -> Error {
    invalid("", "the organization's user limit is reached")
}

/// Somebody else has what must be unique.
pub(super) fn taken(text: &str) -> Error {
    Error::conflict(text.to_owned()).with_scim_type(ScimType::Uniqueness)
}

/// The nick for a user, which must be free in all of these organizations: the one that is wanted,
/// or one made from the name.
///
/// # Errors
///
/// [`Error::conflict`] when another user has it.
pub(super) fn nick_for(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    user: UserId,
    (wanted, name): (Option<&Nick>, &str),
    random: &str,
) -> TxResult<Nick> {
    if let Some(nick) = wanted {
        if is_taken(tx, organizations, user, nick)? {
            return Err(taken(&format!("nickName {nick} is taken")).into());
        }
        return Ok(nick.clone());
    }
    for nick in nick_candidates(name, random) {
        if !is_taken(tx, organizations, user, &nick)? {
            return Ok(nick);
        }
    }
    Err(taken("no nickName could be made from the name; send one").into())
}

/// Whether another user has a nick in one of these organizations, or in a closed one that the user
/// belonged to and may come back into.
pub(super) fn is_taken(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    user: UserId,
    nick: &Nick,
) -> StoreResult<bool> {
    let closed = tx.deletions().list_closed_of_user(user)?;
    let closed = closed.into_iter().map(|of| of.organization);
    for organization in organizations.iter().copied().chain(closed) {
        if tx
            .organization_members()
            .has_nick(organization, &nick.key(), user)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
