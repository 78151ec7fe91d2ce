//! The operator's commands about groups, and their answers.

use std::fmt::{self, Display};

use eddyline_app::App;
use eddyline_model::groups::Group;
use eddyline_model::names::{Email, GroupName, nick_key};
use eddyline_model::tags::group_tag;
use eddyline_model::users::User;
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, in_organization, named, print};
use crate::CommandError;
use crate::cli::{GroupCommand, GroupMember, NamedGroup, NewGroup};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: GroupCommand, json: bool) -> Result<(), CommandError> {
    match command {
        GroupCommand::Create(NewGroup { org, name }) => {
            let name: GroupName = named("name", &name)?;
            let made = app
                .operator()
                .create_group(&org, name)
                .await
                .map_err(in_organization(&org))?;
            print(&Created(OneGroup::of(made, org)), json)
        }
        GroupCommand::List { org } => {
            let found = app
                .operator()
                .groups(&org)
                .await
                .map_err(in_organization(&org))?;
            let groups: Vec<Listed> = found.into_iter().map(Listed::of).collect();
            list::write_whole(json, &groups)
        }
        GroupCommand::Show(NamedGroup { org, group }) => {
            let (found, users) = app
                .operator()
                .group(&org, &group)
                .await
                .map_err(|error| explain(error, &what(&org, &group)))?;
            let users = users.into_iter().map(Member::of).collect();
            print(
                &GroupDetails {
                    group: OneGroup::of(found, org),
                    users,
                },
                json,
            )
        }
        GroupCommand::AddUser(member) => set_member(app, member, true, json).await,
        GroupCommand::RemoveUser(member) => set_member(app, member, false, json).await,
        GroupCommand::Remove(NamedGroup { org, group }) => {
            let removed = app
                .operator()
                .remove_group(&org, &group)
                .await
                .map_err(|error| explain(error, &what(&org, &group)))?;
            print(&Removed(OneGroup::of(removed, org)), json)
        }
    }
}

async fn set_member(
    app: &App,
    member: GroupMember,
    is_member: bool,
    json: bool,
) -> Result<(), CommandError> {
    let GroupMember {
        of: NamedGroup { org, group },
        email,
    } = member;
    let address: Email = named("email", &email)?;
    let (found, user) = app
        .operator()
        .set_group_member(&org, &group, &address, is_member)
        .await
        .map_err(|error| {
            explain(
                error,
                &format!("{}, or the address {email},", what(&org, &group)),
            )
        })?;
    print(
        &MemberSet {
            organization: org,
            group: found.name,
            user: user.0,
            email,
            is_member,
        },
        json,
    )
}

fn what(organization: &str, group: &str) -> String {
    format!("group {group} of the organization {organization}")
}

/// A group without its members.
#[derive(Serialize)]
struct OneGroup {
    id: i64,
    name: String,
    organization: String,
    /// The tag of messages that mention it.
    tag: String,
}

impl OneGroup {
    fn of(group: Group, organization: String) -> Self {
        Self {
            id: group.id.0,
            tag: group_tag(&nick_key(&group.name)),
            name: group.name,
            organization,
        }
    }
}

/// `group create` has been done.
#[derive(Serialize)]
#[serde(transparent)]
struct Created(OneGroup);

impl Display for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OneGroup {
            id,
            name,
            organization,
            ..
        } = &self.0;
        write!(f, "Group {id} of {organization} has been made: @{name}")
    }
}

/// `group remove` has been done.
#[derive(Serialize)]
#[serde(transparent)]
struct Removed(OneGroup);

impl Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has no group @{} any more",
            self.0.organization, self.0.name
        )
    }
}

/// A group in a list.
#[derive(Serialize)]
struct Listed {
    id: i64,
    name: String,
    /// Numbers of its members.
    users: Vec<i64>,
}

impl Listed {
    fn of(group: Group) -> Self {
        Self {
            id: group.id.0,
            name: group.name,
            users: group.users.iter().map(|user| user.0).collect(),
        }
    }
}

impl ListRow for Listed {
    const NAME: &'static str = "groups";
    const COLUMNS: &'static [&'static str] = &["ID", "MEMBERS", "NAME"];
    const EMPTY: &'static str = "The organization has no groups";

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.users.len().to_string(),
            format!("@{}", self.name),
        ]
    }
}

fn members(count: usize) -> String {
    if count == 1 {
        "1 member".to_owned()
    } else {
        format!("{count} members")
    }
}

/// A member of a group.
#[derive(Serialize)]
struct Member {
    id: i64,
    nick: String,
    name: String,
    email: String,
}

impl Member {
    fn of(user: User) -> Self {
        Self {
            id: user.id.0,
            nick: user.nick,
            name: user.name,
            email: user.email,
        }
    }
}

/// What `group show` shows.
#[derive(Serialize)]
struct GroupDetails {
    #[serde(flatten)]
    group: OneGroup,
    users: Vec<Member>,
}

impl Display for GroupDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OneGroup {
            id,
            name,
            organization,
            tag,
        } = &self.group;
        write!(
            f,
            "@{name}, group {id} of {organization}, tag {tag}: {}",
            members(self.users.len())
        )?;
        for Member {
            id,
            nick,
            name,
            email,
        } in &self.users
        {
            write!(f, "\n  {id}  {nick}  {name}  {email}")?;
        }
        Ok(())
    }
}

/// `group add-user` or `group remove-user` has been done.
#[derive(Serialize)]
struct MemberSet {
    organization: String,
    group: String,
    user: i64,
    email: String,
    /// Whether the user is in the group now.
    is_member: bool,
}

impl Display for MemberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            organization,
            group,
            email,
            is_member,
            ..
        } = self;
        let how = if *is_member { "is in" } else { "is not in" };
        write!(f, "{email} {how} @{group} of {organization}")
    }
}
