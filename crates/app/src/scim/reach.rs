//! How far a provider reaches: for which addresses its word is enough, and which accounts are its
//! organization's alone.

use eddyline_model::OrganizationId;
use eddyline_model::identities::Identity;
use eddyline_model::policy::AddressDomain;
use eddyline_storage::{Reader, Result as StoreResult, Tx};

/// Whether the word of an organization's provider proves an address, given in the form by which
/// addresses are compared: when its domain belongs to the organization, or to one above it. It
/// stays so until the transaction ends.
pub(super) fn vouches(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    email_key: &str,
) -> StoreResult<bool> {
    let domain = tx
        .organizations()
        .lock_address_domain(organization, email_key)?;
    Ok(domain == AddressDomain::Own)
}

/// The organizations that a provider reaches: its own, which comes first, and all below it.
pub(super) fn tree(
    reader: &mut Reader<'_>,
    own: OrganizationId,
) -> StoreResult<Vec<OrganizationId>> {
    let mut tree = vec![own];
    tree.extend(reader.organizations().list_below(own)?);
    Ok(tree)
}

/// Whether an account is not the provider's organization's alone: because it belongs to an
/// organization that the provider does not reach, or because the provider has suspended the
/// membership for that reason. It stays so while the user is held.
pub(super) fn is_shared(reader: &mut Reader<'_>, identity: &Identity) -> StoreResult<bool> {
    if identity.suspended_at.is_some() {
        return Ok(true);
    }
    let own = identity.organization;
    let mut others = reader.organization_members().list_of_user(identity.user)?;
    others.retain(|membership| membership.organization != own);
    if others.is_empty() {
        return Ok(false);
    }
    let below = reader.organizations().list_below(own)?;
    Ok(others
        .iter()
        .any(|membership| !below.contains(&membership.organization)))
}
