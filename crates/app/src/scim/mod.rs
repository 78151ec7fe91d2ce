//! What identity providers do with the users and groups of their organizations: SCIM (specification, section
//! 4; RFC 7644).
//!
//! A provider shows a token of its own and sees the users that it knows: those it made, and those
//! that an operator has linked to it. It decides about the whole account of each that belongs to
//! its organization alone ([`reach`]): names, address, and whether it may be used. Of an account
//! that belongs to another organization too, it ends and restores the membership in its own
//! ([`suspension`]). Its word proves an address within the domains that an operator gave to the
//! organization, and nowhere else ([`address`]). All groups of the organization are the provider's to
//! change, with those of their members whom it knows ([`groups`]).

mod address;
mod bring_back;
mod check;
mod create;
mod find;
mod groups;
mod reach;
mod remove;
mod suspension;
mod update;

use std::net::IpAddr;
use std::sync::Arc;

use eddyline_auth::FailureLimiter;
use eddyline_auth::{Credentials, Secret, network_of};
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::identities::Identity;
use eddyline_model::users::User;
use eddyline_model::{GroupId, Timestamp};
use eddyline_scim::{GroupOfUser, ScimType, State, UserResource};

pub use find::UsersWanted;
pub use groups::GroupsWanted;

use crate::charging::charge_provider;
use crate::core::Core;
use crate::core::provider::{ScimProvider, is_token_of, wrong_token};
use crate::core::transaction::NoCaller;
use crate::mailer::Mail;
use crate::{Error, ErrorKind, Limit, Result};

/// How often it is noted that a provider uses its token.
const HOUR_MILLIS: i64 = 60 * 60 * 1000;

/// What identity providers do. See [`crate::App::scim`].
#[derive(Clone)]
pub struct Scim {
    core: Core,
    mail: Mail,
    /// Limits wrong tokens, by uid and network.
    failures: Arc<FailureLimiter>,
}

crate::core::opaque_debug!(Scim);

impl Scim {
    pub(crate) fn new(core: Core, mail: Mail) -> Self {
        let failures = Arc::new(FailureLimiter::new(core.config().scim_attempts));
        Self {
            core,
            mail,
            failures,
        }
    }

    /// Finds out which provider asks at the addresses of `uid`, with this `Authorization` header.
    ///
    /// A right token is never refused because of wrong ones that others have shown, since there is
    /// no guessing it: who shows wrong ones is only slowed down.
    ///
    /// # Errors
    ///
    /// [`Error::missing_token`] without a header, and [`Error::denied`] for one that cannot be
    /// read, a wrong token, and a provider that there is not; [`Error::too_many_attempts`] after
    /// too many of those for this uid from this address.
    pub async fn provider(
        &self,
        uid: &str,
        authorization: Option<&[u8]>,
        address: IpAddr,
    ) -> Result<ScimProvider> {
        let Some(header) = authorization else {
            return Err(Error::missing_token(
                "Authentication is required: send the token as a Bearer",
            ));
        };
        let wanted = uid.to_owned();
        let provider = self
            .core
            .store()
            .read(move |reader| {
                let Some(provider) = reader.identities().find_provider(&wanted)? else {
                    return Ok(None);
                };
                let deletion = DeletionTarget::Organization(provider.organization);
                Ok(Some((provider, reader.deletions().find(deletion)?)))
            })
            .await?;
        let token = match Credentials::parse(header) {
            Ok(Credentials::Bearer(token)) => Some(token.hash()),
            _ => None,
        };
        match (provider, token) {
            (Some((provider, deletion)), Some(token)) if is_token_of(&provider, &token) => {
                charge_provider(provider.organization);
                if let Some(deletion) = deletion {
                    return Err(Error::closed(deletion.due_at));
                }
                let (used, now) = (provider.used_at, self.core.now());
                let provider = ScimProvider {
                    organization: provider.organization,
                    uid: provider.uid,
                    token,
                };
                if used.is_none_or(|used| now.0 - used.0 >= HOUR_MILLIS) {
                    self.note_use(&provider, now).await;
                }
                Ok(provider)
            }
            _ => {
                let (failures, key, now) =
                    (&self.failures, (uid, network_of(address)), self.core.now());
                failures.check(&key, now).map_err(|wait| {
                    Error::too_many_attempts(Limit::ProviderTokens, wait.seconds)
                })?;
                failures.failed(&key, now);
                Err(wrong_token())
            }
        }
    }

    /// Notes that a provider uses its token, unless its other writes would have to be waited for:
    /// the next request tries again.
    async fn note_use(&self, provider: &ScimProvider, now: Timestamp) {
        let keys = provider.own_key().into();
        let Ok(counted) = self.core.store().transaction_permit_now(keys) else {
            return;
        };
        let (organization, token) = (provider.organization, provider.token);
        let noting = self.core.store().write(NoCaller::Provider, move |tx| {
            tx.identities().touch_provider(organization, &token.0, now)
        });
        if let Err(error) = self.core.store().run_counted(counted, noting).await {
            tracing::debug!(%error, "the use of a provider's token could not be noted");
        }
    }

    fn shown(
        &self,
        uid: &str,
        (user, identity): &(User, Identity),
        groups: Vec<(GroupId, String)>,
    ) -> UserResource {
        let addresses = &self.core.config().addresses;
        let group = |(id, display_name)| GroupOfUser {
            id,
            display_name,
            location: addresses.scim_group(uid, id),
        };
        UserResource {
            id: user.id,
            state: state(user, identity),
            groups: groups.into_iter().map(group).collect(),
            created_at: identity.created_at,
            updated_at: identity.updated_at,
            version: identity.version,
            location: addresses.scim_user(uid, user.id),
        }
    }
}

/// A user as the provider sees them.
fn state(user: &User, identity: &Identity) -> State {
    State {
        user_name: identity.subject.clone(),
        external_id: identity.external_id.clone(),
        name: user.name.clone(),
        email: user.email.clone(),
        nick: user.nick.clone(),
        active: user.active && identity.suspended_at.is_none(),
    }
}

/// The end of a nick that nobody has.
fn random_end() -> String {
    format!("-{}", Secret::generate_hex::<4>().expose())
}

/// Names the attribute of a conflict: two requests may both find a name free, and the store refuses
/// the second.
fn raced(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Conflict => error.with_scim_type(ScimType::Uniqueness),
        _ => error,
    }
}
