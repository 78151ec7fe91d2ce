//! Giving domains of e-mail addresses to organizations: within them an identity provider's word
//! proves addresses.

use eddyline_model::OrganizationId;
use eddyline_model::audit::AuditAction;
use eddyline_model::names::Domain;
use eddyline_storage::{Reader, Tx};
use serde_json::json;

use super::{OPERATOR, find_organization, taken};
use crate::audit::note;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::{Error, Operator, Result};

impl Operator {
    /// Gives a domain to an organization, for its identity provider and those of the organizations
    /// below it. The addresses there that they stated before, and that wait to be proved, are
    /// proved by that; tells how many. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, [`Error::conflict`] when the domain
    /// belongs to another one.
    pub async fn add_domain(&self, organization: &str, domain: &Domain) -> Result<usize> {
        let (name, domain) = (organization.to_owned(), domain.as_str().to_owned());
        let belongs = format!("the domain {domain} belongs to another organization");
        let work = move |tx: &mut Tx<'_>| {
            let organization = find_organization(tx, &name)?;
            match tx.organizations().find_by_domain(&domain)? {
                Some(holder) if holder == organization => return Ok(0),
                Some(holder) => return Err(held_by(tx, &domain, holder)?),
                None => {}
            }
            let now = tx.now();
            tx.organizations()
                .insert_domain(&domain, organization, now)?;
            set_proved(tx, organization, &domain, true)
        };
        let (proved, _) = self
            .core
            .store()
            .transaction(NoCaller::Operator, work)
            .await
            .map_err(|abort| taken(abort, &belongs))?;
        Ok(proved)
    }

    /// Takes a domain from an organization. The addresses there that only its word had proved are
    /// no longer proved; tells how many.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, or when the domain is not its.
    pub async fn remove_domain(&self, organization: &str, domain: &Domain) -> Result<usize> {
        let (name, domain) = (organization.to_owned(), domain.as_str().to_owned());
        let work = move |tx: &mut Tx<'_>| {
            let organization = find_organization(tx, &name)?;
            if !tx.organizations().delete_domain(&domain, organization)? {
                return Err(Error::not_found().into());
            }
            set_proved(tx, organization, &domain, false)
        };
        let (unproved, _) = self.core.transaction(NoCaller::Operator, work).await?;
        Ok(unproved)
    }

    /// The domains of an organization, in alphabetical order.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn domains(&self, organization: &str) -> Result<Vec<String>> {
        let name = organization.to_owned();
        self.core
            .read(move |reader| {
                let organization = find_organization(reader, &name)?;
                Ok(reader.organizations().list_domains(organization)?)
            })
            .await
    }
}

/// Why an organization is not given a domain: whose it is.
fn held_by(
    reader: &mut Reader<'_>,
    domain: &str,
    holder: OrganizationId,
) -> TxResult<eddyline_storage::Abort<Error>> {
    let name = reader
        .organizations()
        .find(holder)?
        .ok_or_else(Error::not_found)?
        .parameterized_name;
    let text = format!(
        "the domain {domain} belongs to the organization {name}, and with it to all below that; remove it there \
         first"
    );
    Ok(Error::conflict(text).into())
}

/// Has the domain count for what the providers of an organization and of those below it stated, or
/// no longer count, and records that. Processes that remember a user need not be told: an address
/// that waits for a mailed link is that of an account which was not used yet.
fn set_proved(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    domain: &str,
    proved: bool,
) -> TxResult<usize> {
    let mut tree = vec![organization];
    tree.extend(tx.organizations().list_below(organization)?);
    let changed = tx.emails().set_stated_proved(domain, &tree, proved)?;
    let (action, count) = if proved {
        (AuditAction::DomainAdd, "proved")
    } else {
        (AuditAction::DomainRemove, "unproved")
    };
    note(
        tx,
        organization,
        (OPERATOR, action),
        None,
        &json!({"domain": domain, count: changed}),
    )?;
    Ok(changed)
}
