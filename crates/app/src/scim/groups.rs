//! The groups of an organization as its identity provider reads and changes them. A provider sees only
//! those members that it knows; the others stay in their groups.

use std::collections::BTreeSet;

use eddyline_model::groups::{Group, GroupLabels, MAX_GROUP_MEMBERS};
use eddyline_model::names::GroupName;
use eddyline_model::{GroupId, OrganizationId, UserId, policy};
use eddyline_scim::{GroupFilter, GroupPatch, GroupResource, GroupState, RequestedGroup};
use eddyline_storage::{Reader, Result as StoreResult, Tx};

use super::ScimProvider;
use super::check::{invalid, named};
use super::update::check_version;
use crate::core::transaction::TxResult;
use crate::groups::{GroupChanges, NewGroup, change};
use crate::{Error, Result, Scim};

/// The number of ids that a refusal names.
const NAMED: usize = 20;

/// Which groups a provider wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupsWanted {
    /// The condition that a group meets.
    pub filter: Option<GroupFilter>,
    /// The number of groups to pass over.
    pub skip: i64,
    /// The most groups of the answer.
    pub limit: i64,
}

/// A change of a group that a provider asks for.
#[derive(Clone, Debug)]
enum GroupUpdate {
    Replace(RequestedGroup),
    Patch(GroupPatch),
}

impl GroupUpdate {
    fn apply(&self, before: GroupState) -> GroupState {
        match self {
            Self::Replace(wanted) => wanted.clone().onto(before),
            Self::Patch(patch) => patch.apply(before),
        }
    }
}

impl Scim {
    /// The groups of the provider's organization, ordered by number, and how many there are in all.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn groups(
        &self,
        provider: &ScimProvider,
        wanted: GroupsWanted,
    ) -> Result<(Vec<GroupResource>, i64)> {
        let organization = provider.organization;
        let groups = self.core.store().read(move |reader| {
            let mut groups = reader.groups().list_of_organizations(&[organization])?;
            groups.sort_unstable_by_key(|group| group.id);
            seen(reader, organization, groups)
        });
        let groups = groups.await?.into_iter();
        let resources = groups.map(|group| self.shown_group(provider, group));
        let matching = |group: &GroupResource| {
            let filter = wanted.filter.as_ref();
            filter.is_none_or(|filter| filter.matches(group))
        };
        let matching: Vec<GroupResource> = resources.filter(matching).collect();
        let total = i64::try_from(matching.len()).unwrap_or(i64::MAX);
        let count = |number: i64| usize::try_from(number.max(0)).unwrap_or(usize::MAX);
        let page = matching.into_iter().skip(count(wanted.skip));
        Ok((page.take(count(wanted.limit)).collect(), total))
    }

    /// A group of the provider's organization.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`].
    pub async fn group(&self, provider: &ScimProvider, id: GroupId) -> Result<GroupResource> {
        let organization = provider.organization;
        let group = self
            .core
            .read(move |reader| find_seen(reader, organization, id));
        Ok(self.shown_group(provider, group.await?))
    }

    /// Makes a group. Its name, by which messages mention it, is made from the `displayName`.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] that names the attribute, [`Error::conflict`] when a user or a group of
    /// the organization has the name and when there are as many groups as may be, and
    /// [`Error::denied`] when the organization is inactive.
    pub async fn create_group(
        &self,
        provider: &ScimProvider,
        wanted: RequestedGroup,
    ) -> Result<GroupResource> {
        let display_name = wanted
            .display_name
            .ok_or_else(|| invalid("displayName", "is required"))?;
        let new = check_group(GroupState {
            display_name,
            external_id: wanted.external_id,
            members: wanted.members.unwrap_or_default(),
        })?;
        let name = group_name(&new.display_name)?;
        self.change_groups(provider, move |tx, who| {
            let users = new.members.iter().copied().collect::<Vec<_>>();
            check_members(tx, who.organization, &users)?;
            let new = NewGroup {
                labels: labels(&new, name.as_str()),
                name: name.clone(),
                users,
            };
            change::create(tx, who.organization, &new, &who.actor())
        })
        .await
    }

    /// Changes what a whole resource says about a group; what it does not say stays. `matches` is
    /// asked first whether the version that there is may be changed.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Scim::group`], [`Error::version_mismatch`], and as in
    /// [`Scim::create_group`].
    pub async fn replace_group(
        &self,
        provider: &ScimProvider,
        id: GroupId,
        wanted: RequestedGroup,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<GroupResource> {
        let wish = GroupUpdate::Replace(wanted);
        self.change_groups(provider, move |tx, who| {
            update(tx, who, id, &wish, &matches)
        })
        .await
    }

    /// The same for a list of changes, of which all are made or none.
    ///
    /// # Errors
    ///
    /// As [`Scim::replace_group`].
    pub async fn patch_group(
        &self,
        provider: &ScimProvider,
        id: GroupId,
        patch: GroupPatch,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<GroupResource> {
        let wish = GroupUpdate::Patch(patch);
        self.change_groups(provider, move |tx, who| {
            update(tx, who, id, &wish, &matches)
        })
        .await
    }

    /// Removes a group with all its members. Messages keep the tags by which they mention it.
    ///
    /// # Errors
    ///
    /// As [`Scim::replace_group`].
    pub async fn remove_group(
        &self,
        provider: &ScimProvider,
        id: GroupId,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<()> {
        let work = move |tx: &mut Tx<'_>, who: &ScimProvider| {
            hold(tx, who.organization)?;
            let seen = find_seen(tx, who.organization, id)?;
            check_version(seen.version(), &matches)?;
            let group = change::find(tx, who.organization, id)?;
            change::remove(tx, &group, &who.actor())
        };
        let ((), event) = self.core.transaction_as_provider(provider, work).await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }

    /// Changes the groups of the provider's organization, which is held against others, in one
    /// transaction. Returns the group with the id from `work`. Once this answers, every process mentions
    /// the groups as they are now.
    async fn change_groups<F>(&self, provider: &ScimProvider, work: F) -> Result<GroupResource>
    where
        F: Fn(&mut Tx<'_>, &ScimProvider) -> TxResult<GroupId> + Send + 'static,
    {
        let work = move |tx: &mut Tx<'_>, who: &ScimProvider| {
            hold(tx, who.organization)?;
            let id = work(tx, who)?;
            find_seen(tx, who.organization, id)
        };
        let (changed, event) = self.core.transaction_as_provider(provider, work).await?;
        self.core.wait_until_applied(event).await;
        Ok(self.shown_group(provider, changed))
    }

    /// Encodes a group whose members are those that the provider sees.
    fn shown_group(&self, provider: &ScimProvider, seen: Group) -> GroupResource {
        GroupResource {
            id: seen.id,
            version: seen.version(),
            created_at: seen.created_at,
            state: group_state(seen),
            base: self.core.config().addresses.scim(&provider.uid),
        }
    }
}

/// Holds an organization against changes of its groups.
fn hold(tx: &mut Tx<'_>, organization: OrganizationId) -> TxResult<()> {
    let held = tx
        .organizations()
        .lock(organization)?
        .ok_or_else(Error::not_found)?;
    Ok(policy::write(&held).map_err(Error::from)?)
}

/// Removes the members that the provider of the organization does not see.
fn seen(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    mut groups: Vec<Group>,
) -> StoreResult<Vec<Group>> {
    let users: BTreeSet<UserId> = groups
        .iter()
        .flat_map(|group| &group.users)
        .copied()
        .collect();
    let users: Vec<UserId> = users.into_iter().collect();
    let known = reader.identities().list_among(organization, &users)?;
    for group in &mut groups {
        group.users.retain(|user| known.binary_search(user).is_ok());
    }
    Ok(groups)
}

fn find_seen(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    id: GroupId,
) -> TxResult<Group> {
    let group = change::find(reader, organization, id)?;
    let group = seen(reader, organization, vec![group])?.pop();
    Ok(group.ok_or_else(Error::not_found)?)
}

/// Returns the state of a group for SCIM. The group has only the members that the provider sees.
fn group_state(seen: Group) -> GroupState {
    GroupState {
        display_name: seen.display_name().to_owned(),
        external_id: seen.labels.external_id,
        members: seen.users.into_iter().collect(),
    }
}

/// Checks what does not depend on others.
fn check_group(state: GroupState) -> Result<GroupState> {
    Ok(GroupState {
        display_name: named(&state.display_name, "displayName")?,
        external_id: state
            .external_id
            .map(|id| named(&id, "externalId"))
            .transpose()?,
        members: state.members,
    })
}

/// The name by which messages mention a group that the provider calls this.
fn group_name(display_name: &str) -> Result<GroupName> {
    GroupName::of_label(display_name).map_err(|wrong| invalid("displayName", &wrong.to_string()))
}

fn labels(state: &GroupState, name: &str) -> GroupLabels {
    GroupLabels {
        display_name: Some(state.display_name.clone()).filter(|label| label != name),
        external_id: state.external_id.clone(),
    }
}

/// Checks that the provider knows these users and that they belong to the organization, as those
/// whom it has suspended do not.
fn check_members(tx: &mut Tx<'_>, organization: OrganizationId, users: &[UserId]) -> TxResult<()> {
    if users.len() > MAX_GROUP_MEMBERS {
        return Err(too_many_members().into());
    }
    let known = tx.identities().list_among(organization, users)?;
    let members = tx.organization_members().list_among(organization, &known)?;
    let others = users.iter().filter(|user| !members.contains(user));
    let others: Vec<String> = others.take(NAMED).map(ToString::to_string).collect();
    if others.is_empty() {
        return Ok(());
    }
    let text = format!(
        "can't hold {}: the provider has no such users in the organization",
        others.join(", ")
    );
    Err(invalid("members", &text).into())
}

fn too_many_members() -> Error {
    let text = format!("can't be more than {MAX_GROUP_MEMBERS}");
    invalid("members", &text)
}

/// Makes a group of an organization that is held what is wanted.
fn update(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    id: GroupId,
    wish: &GroupUpdate,
    matches: impl Fn(i64) -> bool,
) -> TxResult<GroupId> {
    let organization = provider.organization;
    let group = change::find(tx, organization, id)?;
    let seen = find_seen(tx, organization, id)?;
    check_version(seen.version(), matches)?;
    let before = group_state(seen);
    let wanted = check_group(wish.apply(before.clone()))?;
    let name = match wanted.display_name == before.display_name {
        true => None,
        false => Some(group_name(&wanted.display_name)?),
    };
    let kept = name
        .as_ref()
        .map_or(group.name.as_str(), |name| name.as_str());
    let changes = GroupChanges {
        labels: Some(labels(&wanted, kept)),
        users: match wanted.members == before.members {
            true => None,
            false => {
                let added: Vec<UserId> = wanted
                    .members
                    .difference(&before.members)
                    .copied()
                    .collect();
                check_members(tx, organization, &added)?;
                let unseen = group
                    .users
                    .iter()
                    .filter(|user| !before.members.contains(user));
                let users: Vec<UserId> = unseen.chain(&wanted.members).copied().collect();
                if users.len() > MAX_GROUP_MEMBERS {
                    return Err(too_many_members().into());
                }
                Some(users)
            }
        },
        name,
    };
    change::change(tx, &group, &changes, &provider.actor())?;
    Ok(id)
}
