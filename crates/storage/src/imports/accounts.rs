//! Accounts as archives meet them: the account that has an address before an import, and the
//! accounts that imports have made.

use diesel::prelude::*;
use eddyline_model::policy::AddressAccount;
use eddyline_model::users::Account;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use super::{ImportOrigin, ImportedKind};
use crate::Result;
use crate::areas::{Deletions, Emails, Identities, Imports, OrganizationMembers, Passwords, Users};
use crate::reader::Access;
use crate::schema::imported_records;
use crate::transaction::Tx;

#[portable]
impl<C: Access> Imports<'_, C> {
    /// Returns `true` if an import into an organization made this account for this address.
    fn has_made_account(
        c: &mut Connection,
        organization: OrganizationId,
        email_key: &str,
        user: UserId,
    ) -> Result<bool> {
        let (kind, _) = ImportedKind::MadeAccount.columns();
        let record = imported_records::table
            .filter(imported_records::organization_id.eq(organization.0))
            .filter(imported_records::kind.eq(kind))
            .filter(imported_records::foreign_id.eq(email_key))
            .filter(imported_records::local_id.eq(user.0));
        Ok(diesel::select(diesel::dsl::exists(record)).get_result(c)?)
    }
}

impl<C: Access> Imports<'_, C> {
    /// The account that has an address, and its relation to an organization that an archive goes
    /// into.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn find_address_account(
        &mut self,
        organization: OrganizationId,
        email_key: &str,
    ) -> Result<Option<(Account, AddressAccount)>> {
        let Some(account) = Users(self.0).find_account_by_email(email_key)? else {
            return Ok(None);
        };
        let user = account.user.id;
        let mut organizations = self.list_organizations_of(user)?;
        let is_suspended = Identities(self.0)
            .find(user)?
            .is_some_and(|identity| identity.suspended_at.is_some());
        let is_removed = OrganizationMembers(self.0).is_removed(organization, user)?;
        let is_member = OrganizationMembers(self.0)
            .find_user(organization, user)?
            .is_some();
        organizations.retain(|of| *of != organization);
        let state = AddressAccount {
            is_member,
            is_elsewhere: !organizations.is_empty(),
            is_proved: account.user.email_proved,
            is_active: account.user.active,
            has_password: account.password_hash.is_some(),
            is_imported: self.has_made_account(organization, email_key, user)?,
            is_kept_out: is_removed || is_suspended,
        };
        Ok(Some((account, state)))
    }

    /// Returns `true` if an account that had an address may take it back, or gets its links to a new
    /// password there.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn is_address_claimed(&mut self, email_key: &str, now: Timestamp) -> Result<bool> {
        Ok(Emails(self.0).is_claimed(email_key, UserId(0), now)?
            || Passwords(self.0)
                .find_user_by_recovery(email_key)?
                .is_some())
    }

    /// The organizations that have a part in an account.
    fn list_organizations_of(&mut self, user: UserId) -> Result<Vec<OrganizationId>> {
        let members = OrganizationMembers(self.0).list_of_user(user)?;
        let suspended = OrganizationMembers(self.0).list_suspended(user)?;
        let closed = Deletions(self.0).list_closed_of_user(user)?;
        let identity = Identities(self.0).find(user)?;
        let memberships = members.into_iter().chain(suspended);
        Ok(memberships
            .map(|membership| membership.organization)
            .chain(closed.into_iter().map(|closed| closed.organization))
            .chain(identity.map(|identity| identity.organization))
            .collect())
    }
}

impl Imports<'_, Tx<'_>> {
    /// Notes that an import made an account for an address.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn insert_made_account(
        &mut self,
        origin: &ImportOrigin,
        email_key: &str,
        user: UserId,
    ) -> Result<()> {
        let record = [(email_key.to_owned(), user.0)];
        self.insert_records(origin, ImportedKind::MadeAccount, &record)
    }
}
