//! Finding the users of a provider.

use std::collections::HashMap;

use eddyline_model::identities::Identity;
use eddyline_model::names::email_key;
use eddyline_model::users::User;
use eddyline_model::{GroupId, UserId};
use eddyline_scim::{Filter, FilterAttribute, UserResource};
use eddyline_storage::{ProvidedQuery, Reader, Result as StoreResult};

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
    /// Whether their groups are wanted, of up to 1,000 users.
    pub with_groups: bool,
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
        let (found, mut groups, total) = self
            .core
            .store()
            .read(move |reader| {
                let (found, total) = reader.identities().list_users(organization, &query)?;
                let mut of_users: HashMap<UserId, Vec<_>> = HashMap::new();
                if wanted.with_groups {
                    let ids: Vec<UserId> = found.iter().map(|(user, _)| user.id).collect();
                    for (user, id, name) in reader.groups().list_of_users(organization, &ids)? {
                        of_users.entry(user).or_default().push((id, name));
                    }
                }
                Ok((found, of_users, total))
            })
            .await?;
        let shown = found.iter().map(|found| {
            let groups = groups.remove(&found.0.id).unwrap_or_default();
            self.shown(&provider.uid, found, groups)
        });
        Ok((shown.collect(), total))
    }

    /// A user of a provider.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for a user that the provider does not know or has removed, and for
    /// bots.
    pub async fn user(&self, provider: &ScimProvider, id: UserId) -> Result<UserResource> {
        let who = provider.clone();
        let (found, groups) = self
            .core
            .read(move |reader| {
                let found = provided(reader, &who, id)?;
                Ok((found, groups_of(reader, &who, id)?))
            })
            .await?;
        Ok(self.shown(&provider.uid, &found, groups))
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

/// The groups that a user of a provider is in, with the names that the provider sees.
pub(super) fn groups_of(
    reader: &mut Reader<'_>,
    provider: &ScimProvider,
    user: UserId,
) -> StoreResult<Vec<(GroupId, String)>> {
    let found = reader
        .groups()
        .list_of_users(provider.organization, &[user])?;
    Ok(found.into_iter().map(|(_, id, name)| (id, name)).collect())
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
