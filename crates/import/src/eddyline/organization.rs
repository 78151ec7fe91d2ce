//! The organization of an archive.

use std::collections::{BTreeSet, HashSet};

use eddyline_archive::{ExportReader, GroupRecord, OrganizationRecord, PersonRecord, paths};
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::groups::{MAX_GROUP_MEMBERS, MAX_GROUP_MEMBERSHIPS, MAX_GROUPS};
use eddyline_model::log::Control;
use eddyline_model::names::{GroupName, parameterized_candidates};
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{ImportOrigin, ImportedKind};

use super::content::Users;
use crate::target::{ImportWork, find_organization, parent_of_existing};
use crate::{Error, ImportTarget, LeftOutKind, Result, texts};

/// The most places that an archive gives an organization, unless it has more members.
const MAX_PLACES: i64 = 10_000;
/// The most former names in URLs that an archive gives an organization.
const MAX_NAMES: usize = 20;
/// As what it is noted that an import has made an organization, until it has filled it.
pub(super) const UNFINISHED: &str = "eddyline-organization";

/// Reads the organization. Its members are people of the archive, each once: as many places are
/// made for them.
pub(super) fn read(reader: &ExportReader, people: &[PersonRecord]) -> Result<OrganizationRecord> {
    let mut record: OrganizationRecord = reader.record(paths::ORGANIZATION)?;
    let mut others: HashSet<u32> = people.iter().map(|person| person.number).collect();
    record
        .members
        .retain(|member| others.remove(&member.person));
    Ok(record)
}

/// The organization that a new one is to be below: what `--parent` names, whatever the archive says.
pub(super) fn find_parent(target: &ImportTarget, is_made: bool) -> Result<Option<OrganizationId>> {
    let Some(name) = &target.parent else {
        return Ok(None);
    };
    if !is_made {
        return Err(parent_of_existing());
    }
    match find_organization(target, name)? {
        Some(parent) => Ok(Some(parent)),
        None => Err(Error::NoOrganization(name.clone())),
    }
}

/// Checks that the name that stands in URLs may be that of a new organization.
pub(super) fn check_name(target: &ImportTarget) -> Result<()> {
    let wanted = &target.organization;
    match is_name(wanted) {
        true => Ok(()),
        false => Err(Error::Unfit(format!(
            "--org {wanted}: the name in URLs of a new organization has lower-case letters, digits and - only"
        ))),
    }
}

/// Returns `true` if a name may stand in URLs: it is its own first candidate then.
fn is_name(name: &str) -> bool {
    parameterized_candidates(name, "x").next().as_deref() == Some(name)
}

/// The id under which it is noted that an archive, by the digest of its manifest, has made an
/// organization. Another archive does not go on with it.
pub(super) fn begun_id(digest: &str) -> String {
    format!("begun {digest}")
}

/// Makes the organization, with places for all of its members.
pub(super) fn make(
    work: &ImportWork<'_>,
    record: &OrganizationRecord,
    digest: &str,
) -> Result<OrganizationId> {
    let (wanted, parent) = (work.target.organization.clone(), work.parent);
    let name = texts::display_name(&record.name);
    let limit = user_limit(record).max(member_count(record));
    let created_at = texts::time(record.created_at, work.now);
    let begun = begun_id(digest);
    work.write(move |tx| {
        let id = tx
            .organizations()
            .insert(&name, &wanted, limit, created_at)?;
        if let (Some(_), Some(made)) = (parent, tx.organizations().find(id)?) {
            tx.organizations()
                .update(&Organization { parent, ..made })?;
        }
        let entry = AuditEntry::new(AuditAction::OrganizationCreate, Some(id));
        tx.audit().insert(&entry.by(actor::OPERATOR))?;
        let begun = [(begun.clone(), id.0)];
        tx.imports()
            .insert_records(&origin(id), ImportedKind::Room, &begun)?;
        Ok(id)
    })
}

fn member_count(record: &OrganizationRecord) -> i64 {
    i64::try_from(record.members.len()).unwrap_or(i64::MAX)
}

/// The places that the archive gives the organization. An operator may give more.
fn user_limit(record: &OrganizationRecord) -> i64 {
    let most = MAX_PLACES.max(member_count(record));
    record.user_limit.clamp(0, most)
}

/// Returns the origin under which the making of an organization is noted.
pub(super) fn origin(organization: OrganizationId) -> ImportOrigin {
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
    if is_new && record.parent.is_some() && work.parent.is_none() {
        let which = record.parent.clone().unwrap_or_default();
        work.report.leave_out(LeftOutKind::Parent, which);
    }
    if is_new && record.user_limit > user_limit(record) {
        let places = format!("{} places", record.user_limit);
        work.report.leave_out(LeftOutKind::BeyondLimit, places);
    }
    if work.target.is_dry_run {
        return Ok(());
    }
    let (groups, spare) = record.groups.split_at(record.groups.len().min(MAX_GROUPS));
    for group in spare {
        work.report
            .leave_out(LeftOutKind::BeyondLimit, group.name.clone());
    }
    for group in groups {
        match group.name.parse::<GroupName>() {
            Ok(name) => fill_group(work, group, name, users)?,
            Err(_) => {
                work.report
                    .leave_out(LeftOutKind::UnreadableRecord, group.name.clone());
            }
        }
    }
    match is_new {
        true => names(work, record),
        false => Ok(()),
    }
}

/// Makes a group of the members of the organization who are in it, unless it is there.
fn fill_group(
    work: &mut ImportWork<'_>,
    group: &GroupRecord,
    name: GroupName,
    users: &Users,
) -> Result<()> {
    let organization = work.origin.organization;
    let numbers = group.people.iter();
    let members: BTreeSet<UserId> = numbers
        .filter_map(|number| users.get(number)?.member())
        .collect();
    let members: Vec<UserId> = members.into_iter().collect();
    let created_at = texts::time(group.created_at, work.now);
    let left_out = work.write(move |tx| {
        tx.organizations().lock(organization)?;
        let key = name.key();
        let mut of_organization = tx.organization_members();
        if of_organization.has_nick(organization, &key, UserId(0))? {
            let is_there = tx.groups().find_by_name(organization, &key)?.is_some();
            return Ok((!is_there).then_some(LeftOutKind::TakenNick));
        }
        let groups = tx.groups().list_of_organizations(&[organization])?;
        let memberships: usize = groups.iter().map(|group| group.users.len()).sum();
        if groups.len() >= MAX_GROUPS
            || members.len() > MAX_GROUP_MEMBERS
            || memberships + members.len() > MAX_GROUP_MEMBERSHIPS
        {
            return Ok(Some(LeftOutKind::BeyondLimit));
        }
        let group = tx
            .groups()
            .insert(organization, (name.as_str(), &key), created_at)?;
        tx.groups().insert_members(organization, group, &members)?;
        tx.record_event(Control::GroupChange { organization });
        Ok(None)
    })?;
    if let Some(kind) = left_out {
        work.report.leave_out(kind, group.name.clone());
    }
    Ok(())
}

/// Gives a new organization the names in URLs that it had.
fn names(work: &mut ImportWork<'_>, record: &OrganizationRecord) -> Result<()> {
    let organization = work.origin.organization;
    let is_own = work.target.organization == record.parameterized_name;
    let mut wanted = record.names.clone();
    wanted.retain(|name| is_own && *name != record.parameterized_name);
    let spare = wanted.split_off(wanted.len().min(MAX_NAMES));
    for name in spare {
        work.report.leave_out(LeftOutKind::BeyondLimit, name);
    }
    let taken = work.write(move |tx| {
        let Some(found) = tx.organizations().find(organization)? else {
            return Ok(Vec::new());
        };
        let mut taken = Vec::new();
        for name in &wanted {
            match tx.organizations().find_id_by_name(name)? {
                None if is_name(name) => tx.organizations().update(&Organization {
                    parameterized_name: name.clone(),
                    ..found.clone()
                })?,
                Some(other) if other == organization => {}
                _ => taken.push(name.clone()),
            }
        }
        tx.organizations().update(&found)?;
        Ok(taken)
    })?;
    for name in taken {
        work.report.leave_out(LeftOutKind::TakenName, name);
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
    let (user_limit, active) = (user_limit(record), record.active);
    let made_with = user_limit.max(member_count(record));
    work.write(move |tx| {
        let made = tx.organizations().lock(organization)?;
        // An operator who has set the places since has the last word.
        if let Some(made) = made.filter(|made| made.user_limit == made_with) {
            tx.organizations().update(&Organization {
                user_limit,
                active,
                subscription: subscription.clone(),
                ..made
            })?;
        }
        tx.record_event(Control::OrganizationChange);
        let done = [("done".to_owned(), organization.0)];
        tx.imports()
            .insert_records(&origin(organization), ImportedKind::Room, &done)
    })
}
