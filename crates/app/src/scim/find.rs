//! Finding the users of a provider.

use eddyline_model::UserId;
use eddyline_model::identities::Identity;
use eddyline_model::names::email_key;
use eddyline_model::users::User;
use eddyline_scim::{Filter, FilterAttribute, UserResource};
use eddyline_storage::{ProvidedQuery, Reader};

use super::ScimProvider;
use crate::core::transaction::TxResult;
use crate::{Error, Result, Scim};

/// Which users a provider wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsersWanted {
    /// What must hold of them.
    pub filter: Option<Filter>,
    /// How many of them to pass over.
    pub skip: i64,
    /// How many at most; `None` for all.
    pub limit: Option<i64>,
    /// Whether the `externalId` is the `userName`, as the specification has it, rather than what
    /// the provider gave as one.
    pub external_is_subject: bool,
}

impl Scim {
    /// The users of a provider, ordered by number, and how many there are in all.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn users(
        &self,
        provider: &ScimProvider,
        wanted: UsersWanted,
    ) -> Result<(Vec<UserResource>, i64)> {
        let Some(query) = query(&wanted) else {
            return Ok((Vec::new(), 0));
        };
        let organization = provider.organization;
        let (found, total) = self
            .core
            .store()
            .read(move |reader| reader.identities().list_users(organization, &query))
            .await?;
        Ok((
            found
                .iter()
                .map(|(user, identity)| self.shown(&provider.uid, user, identity))
                .collect(),
            total,
        ))
    }

    /// A user of a provider.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for a user that the provider does not know or has removed, and for
    /// bots.
    pub async fn user(&self, provider: &ScimProvider, id: UserId) -> Result<UserResource> {
        let who = provider.clone();
        let (user, identity) = self
            .core
            .read(move |reader| provided(reader, &who, id))
            .await?;
        Ok(self.shown(&provider.uid, &user, &identity))
    }
}

/// A user of a provider.
///
/// # Errors
///
/// [`Error::not_found`].
pub(super) fn provided(
    reader: &mut Reader<'_>,
    provider: &ScimProvider,
    id: UserId,
) -> TxResult<(User, Identity)> {
    Ok(reader
        .identities()
        .find_user(provider.organization, id)?
        .ok_or_else(Error::not_found)?)
}

/// The query of a filter; `None` for one that nobody can meet.
fn query(wanted: &UsersWanted) -> Option<ProvidedQuery> {
    let mut query = ProvidedQuery {
        skip: wanted.skip,
        limit: wanted.limit,
        ..ProvidedQuery::default()
    };
    for term in wanted.filter.iter().flat_map(Filter::terms) {
        let external = || term.value.clone();
        let (slot, value) = match term.attribute {
            FilterAttribute::ExternalId if !wanted.external_is_subject => {
                (&mut query.external_id, external())
            }
            FilterAttribute::UserName | FilterAttribute::ExternalId => {
                (&mut query.subject_key, email_key(&term.value))
            }
            FilterAttribute::Email => (&mut query.email_key, email_key(&term.value)),
        };
        if slot.as_ref().is_some_and(|other| *other != value) {
            return None;
        }
        *slot = Some(value);
    }
    Some(query)
}
