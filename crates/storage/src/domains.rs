//! Domains of e-mail addresses that operators gave to organizations.

use diesel::prelude::*;
use eddyline_model::names::domain_of;
use eddyline_model::policy::AddressDomain;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Emails, Organizations};
use crate::reader::Access;
use crate::schema::{identities, organization_domains, users};
use crate::transaction::Tx;

#[portable]
impl<C: Access> Organizations<'_, C> {
    /// The organization to which a domain belongs.
    pub fn find_by_domain(c: &mut Connection, domain: &str) -> Result<Option<OrganizationId>> {
        let holder = organization_domains::table
            .find(domain)
            .select(organization_domains::organization_id);
        Ok(holder.get_result::<i64>(c).optional()?.map(OrganizationId))
    }

    /// The domains of an organization, in alphabetical order.
    pub fn list_domains(c: &mut Connection, organization: OrganizationId) -> Result<Vec<String>> {
        Ok(organization_domains::table
            .filter(organization_domains::organization_id.eq(organization.0))
            .order(organization_domains::domain)
            .select(organization_domains::domain)
            .load(c)?)
    }
}

impl<C: Access> Organizations<'_, C> {
    /// Returns the owner of the domain of an address, as an organization sees it: what belongs to
    /// an organization belongs to those below it too. The address is given in the form by which
    /// addresses are compared.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn find_address_domain(
        &mut self,
        organization: OrganizationId,
        email_key: &str,
    ) -> Result<AddressDomain> {
        let Some(holder) = self.find_by_domain(domain_of(email_key))? else {
            return Ok(AddressDomain::Unclaimed);
        };
        let is_own = holder == organization || self.list_below(holder)?.contains(&organization);
        Ok(match is_own {
            true => AddressDomain::Own,
            false => AddressDomain::Another,
        })
    }
}

#[portable]
impl Organizations<'_, Tx<'_>> {
    /// Gives a domain to an organization.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when it belongs to one already.
    pub fn insert_domain(
        c: &mut Connection,
        domain: &str,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(organization_domains::table)
            .values((
                organization_domains::domain.eq(domain),
                organization_domains::organization_id.eq(organization.0),
                organization_domains::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Takes a domain from an organization. Tells whether it had it.
    pub fn delete_domain(
        c: &mut Connection,
        domain: &str,
        organization: OrganizationId,
    ) -> Result<bool> {
        let found = organization_domains::table.find(domain);
        let of_it = found.filter(organization_domains::organization_id.eq(organization.0));
        Ok(diesel::delete(of_it).execute(c)? > 0)
    }
}

#[portable]
impl Emails<'_, Tx<'_>> {
    /// Sets whether the addresses of a domain are proved that the providers of these organizations
    /// stated and that no mailed link has proved. Tells how many changed. An address that its owner
    /// has entered instead of the stated one stays as it is, and so does one that a provider put in
    /// the place of the owner's.
    pub fn set_stated_proved(
        c: &mut Connection,
        domain: &str,
        organizations: &[OrganizationId],
        proved: bool,
    ) -> Result<usize> {
        let organizations: Vec<i64> = organizations
            .iter()
            .map(|organization| organization.0)
            .collect();
        let stated = identities::table
            .filter(identities::organization_id.eq_any(organizations))
            .filter(identities::stated_email.eq(users::email_key.nullable()))
            .filter(identities::user_id.eq(users::id));
        // No character of a domain means something to `like`.
        let of_domain = users::table
            .filter(users::email_key.like(format!("%@{domain}")))
            .filter(users::email_proved.eq(!proved))
            .filter(users::recovery_key.is_null())
            .filter(diesel::dsl::exists(stated));
        Ok(diesel::update(of_domain)
            .set(users::email_proved.eq(proved))
            .execute(c)?)
    }

    /// Notes that a mailed link proved the address of a user: it no longer depends on what a
    /// provider stated.
    pub fn delete_stated(c: &mut Connection, user: UserId) -> Result<()> {
        diesel::update(identities::table.find(user.0))
            .set(identities::stated_email.eq(None::<String>))
            .execute(c)?;
        Ok(())
    }
}

impl Organizations<'_, Tx<'_>> {
    /// Returns the owner of the domain of an address, as
    /// [`find_address_domain`](Self::find_address_domain) does. It stays so until the transaction
    /// ends.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_address_domain(
        &mut self,
        organization: OrganizationId,
        email_key: &str,
    ) -> Result<AddressDomain> {
        self.lock_domain(domain_of(email_key))?;
        self.find_address_domain(organization, email_key)
    }

    /// The organization to which a domain belongs, which keeps it until the transaction ends.
    fn lock_domain(&mut self, domain: &str) -> Result<Option<OrganizationId>> {
        match self.0.connection() {
            #[cfg(feature = "postgres")]
            crate::reader::Inner::Postgres(c) => {
                let found = organization_domains::table.find(domain);
                let holder = found
                    .select(organization_domains::organization_id)
                    .for_share();
                Ok(holder.get_result::<i64>(c).optional()?.map(OrganizationId))
            }
            // A transaction that writes to SQLite runs alone.
            #[cfg(feature = "sqlite")]
            crate::reader::Inner::Sqlite(_) => self.find_by_domain(domain),
        }
    }
}
