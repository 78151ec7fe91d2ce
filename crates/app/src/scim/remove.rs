//! A provider removes a user.

use eddyline_model::UserId;
use eddyline_storage::Tx;

use super::ScimProvider;
use super::find::provided;
use super::reach::tree;
use super::update::check_version;
use crate::accounts::end_access;
use crate::core::transaction::TxResult;
use crate::offboarding::{Leaving, lock_for_removal, offboard};
use crate::{Result, Scim};

impl Scim {
    /// Takes a user out of the provider's organization and of all below it, with everything they
    /// had there; what they wrote stays. They are signed out everywhere, and every token of theirs
    /// has ended, in every process once this answers. The account stays, for other organizations;
    /// the provider does not see it any more.
    ///
    /// # Errors
    ///
    /// [`crate::Error::not_found`] as in [`Scim::user`], [`crate::Error::conflict`] when no
    /// other user administers one of these organizations, [`crate::Error::version_mismatch`] for another
    /// version.
    pub async fn remove(
        &self,
        provider: &ScimProvider,
        id: UserId,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<()> {
        let work = move |tx: &mut Tx<'_>, who: &ScimProvider| remove(tx, who, id, &matches);
        let ((), event) = self.core.transaction_as_provider(provider, work).await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

fn remove(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    id: UserId,
    matches: impl Fn(i64) -> bool,
) -> TxResult<()> {
    // Looked at before anything is held, since all that is in the organization waits then.
    let (_, identity) = provided(tx, provider, id)?;
    check_version(identity.version, &matches)?;
    let organizations = tree(tx, provider.organization)?;
    lock_for_removal(tx, &organizations, id)?;
    let (user, identity) = provided(tx, provider, id)?;
    check_version(identity.version, &matches)?;
    offboard(
        tx,
        &organizations,
        &user,
        &provider.actor(),
        Leaving::Announced,
    )?;
    end_access(tx, id)?;
    Ok(())
}
