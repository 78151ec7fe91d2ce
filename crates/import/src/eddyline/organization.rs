//! The organization of an archive.

use eddyline_archive::OrganizationRecord;
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::names::{GroupName, parameterized_candidates};
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{ImportOrigin, ImportedKind};
use tokio::runtime::Handle;

use super::content::Users;
use crate::target::ImportWork;
use crate::{Error, ImportTarget, LeftOutKind, Result, texts};

/// As what it is noted that an import has made an organization, until it has filled it.
pub(super) const UNFINISHED: &str = "eddyline-organization";

/// Makes the organization, with places for all of its members.
pub(super) fn make(
    target: &ImportTarget,
    record: &OrganizationRecord,
    runtime: &Handle,
) -> Result<OrganizationId> {
    let wanted = target.organization.clone();
    // A name that stands in URLs is one of its own candidates.
    if parameterized_candidates(&wanted, "x").next().as_ref() != Some(&wanted) {
        return Err(Error::Unfit(format!(
            "--org {wanted}: the name in URLs of a new organization has lower-case letters, digits and - only"
        )));
    }
    let name = texts::display_name(&record.name);
    let limit = record
        .user_limit
        .max(i64::try_from(record.members.len()).unwrap_or(i64::MAX));
    let created_at = texts::time(record.created_at);
    let work = target.store.write(move |tx| {
        let id = tx
            .organizations()
            .insert(&name, &wanted, limit, created_at)?;
        let entry = AuditEntry::new(AuditAction::OrganizationCreate, Some(id));
        tx.audit().insert(&entry.by(actor::OPERATOR))?;
        let origin = origin(id);
        let begun = [("begun".to_owned(), id.0)];
        tx.imports()
            .insert_records(&origin, ImportedKind::Room, &begun)?;
        Ok(id)
    });
    Ok(runtime.block_on(work)?.0)
}

fn origin(organization: OrganizationId) -> ImportOrigin {
    ImportOrigin {
        organization,
        source: UNFINISHED.to_owned(),
    }
}

/// Gives the organization its groups, and a new one what else the archive says of it.
pub(super) fn fill(
    work: &mut ImportWork<'_>,
    record: &OrganizationRecord,
    users: &Users,
    is_new: bool,
) -> Result<()> {
    let organization = work.origin.organization;
    for group in &record.groups {
        let Ok(name) = group.name.parse::<GroupName>() else {
            work.report
                .leave_out(LeftOutKind::UnreadableRecord, group.name.clone());
            continue;
        };
        let members: Vec<UserId> = group
            .people
            .iter()
            .filter_map(|number| users.get(number).copied())
            .collect();
        let created_at = texts::time(group.created_at);
        let shown = group.name.clone();
        let is_there = work.write(move |tx| {
            tx.organizations().lock(organization)?;
            let key = name.key();
            let is_nick = tx
                .organization_members()
                .has_nick(organization, &key, UserId(0))?;
            if is_nick {
                return Ok(tx.groups().find_by_name(organization, &key)?.is_some());
            }
            let group = tx
                .groups()
                .insert(organization, (name.as_str(), &key), created_at)?;
            tx.groups().insert_members(organization, group, &members)?;
            tx.record_event(eddyline_model::log::Control::GroupChange { organization });
            Ok(true)
        })?;
        if !is_there {
            work.report.leave_out(LeftOutKind::TakenNick, shown);
        }
    }
    if is_new {
        names(work, record)?;
    }
    Ok(())
}

/// Gives a new organization the names in URLs that it had, and its parent.
fn names(work: &mut ImportWork<'_>, record: &OrganizationRecord) -> Result<()> {
    let organization = work.origin.organization;
    let is_own = work.target.organization == record.parameterized_name;
    let (mut wanted, parent) = (record.names.clone(), record.parent.clone());
    wanted.retain(|name| is_own && *name != record.parameterized_name);
    let (taken, has_parent) = work.write(move |tx| {
        let Some(found) = tx.organizations().find(organization)? else {
            return Ok((Vec::new(), true));
        };
        let mut taken = Vec::new();
        for name in &wanted {
            match tx.organizations().find_id_by_name(name)? {
                None => tx.organizations().update(&Organization {
                    parameterized_name: name.clone(),
                    ..found.clone()
                })?,
                Some(other) if other != organization => taken.push(name.clone()),
                Some(_) => {}
            }
        }
        let above = match &parent {
            Some(parent) => tx.organizations().find_id_by_name(parent)?,
            None => None,
        };
        let above = above.filter(|above| *above != organization);
        let has_parent = parent.is_none() || above.is_some();
        tx.organizations().update(&Organization {
            parent: above,
            ..found
        })?;
        Ok((taken, has_parent))
    })?;
    for name in taken {
        work.report.leave_out(LeftOutKind::TakenName, name);
    }
    if !has_parent {
        work.report
            .leave_out(LeftOutKind::UnusedField, "the organization above it");
    }
    Ok(())
}

/// Ends the making of an organization: with everything in it, it is as the archive says.
pub(super) fn finish(work: &ImportWork<'_>, record: &OrganizationRecord) -> Result<()> {
    let organization = work.origin.organization;
    let day = |text: &Option<String>| text.as_ref().and_then(|day| day.parse().ok());
    let subscription = match day(&record.trial_ends) {
        Some(ends) => OrganizationSubscription::Trial { ends },
        None => OrganizationSubscription::Paid {
            next_bill: day(&record.billing_date),
        },
    };
    let (user_limit, active) = (record.user_limit, record.active);
    work.write(move |tx| {
        if let Some(found) = tx.organizations().lock(organization)? {
            tx.organizations().update(&Organization {
                user_limit,
                active,
                subscription: subscription.clone(),
                ..found
            })?;
        }
        tx.record_event(eddyline_model::log::Control::OrganizationChange);
        let done = [("done".to_owned(), organization.0)];
        tx.imports()
            .insert_records(&origin(organization), ImportedKind::Room, &done)
    })
}
