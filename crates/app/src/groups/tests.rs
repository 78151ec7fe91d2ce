//! The bounds of groups, and which of them a process mentions.

use eddyline_model::OrganizationId;
use eddyline_model::groups::{GroupLabels, MAX_GROUP_MEMBERS, MAX_GROUP_MEMBERSHIPS, MAX_GROUPS};
use eddyline_model::names::GroupName;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_storage::{NewUser, Store};

use super::*;
use crate::core::transaction::NoCaller;
use crate::{App, Config, ErrorKind};

async fn app() -> (App, OrganizationId) {
    let app = App::new(Store::open("sqlite::memory:").unwrap(), Config::default())
        .await
        .unwrap();
    let made = app.core().transaction(NoCaller::Operator, |tx| {
        let now = tx.now();
        Ok(tx.organizations().insert("Acme", "acme", 10_000, now)?)
    });
    let organization = made.await.unwrap().0;
    (app, organization)
}

async fn people(app: &App, organization: OrganizationId, count: usize) -> Vec<UserId> {
    let made = app.core().transaction(NoCaller::Operator, move |tx| {
        let now = tx.now();
        let mut users = Vec::new();
        for number in 0..count {
            let nick = format!("user{number}");
            let email = format!("{nick}@acme.example");
            let user = tx.users().insert(&NewUser {
                id: None,
                email_key: email.clone(),
                email,
                name: nick.clone(),
                nick: nick.clone(),
                avatar: nick.clone(),
                bot: false,
                active: true,
                password_hash: None,
                created_at: now,
            })?;
            let membership = OrganizationMembership {
                organization,
                user,
                role: OrganizationRole::Member,
            };
            tx.organization_members().insert(membership, &nick, now)?;
            users.push(user);
        }
        Ok(users)
    });
    made.await.unwrap().0
}

fn named(name: &str, users: &[UserId]) -> NewGroup {
    NewGroup {
        name: name.parse::<GroupName>().unwrap(),
        labels: GroupLabels::default(),
        users: users.to_vec(),
    }
}

async fn create(app: &App, organization: OrganizationId, new: NewGroup) -> Result<GroupId> {
    let made = app.core().transaction(NoCaller::Operator, move |tx| {
        change::create(tx, organization, &new, "operator")
    });
    Ok(made.await?.0)
}

fn refused_for<T: std::fmt::Debug>(outcome: Result<T>, bound: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains(bound), "{error}");
}

#[tokio::test]
async fn a_group_has_a_bounded_number_of_members() {
    let (app, organization) = app().await;
    let users = people(&app, organization, MAX_GROUP_MEMBERS + 1).await;
    let (last, first) = (users[MAX_GROUP_MEMBERS], users[0]);
    let all = create(&app, organization, named("all-of-them", &users)).await;
    assert!(matches!(&all, Err(error) if error.fields().contains_key("users")));
    let twice: Vec<UserId> = [&users[..MAX_GROUP_MEMBERS], &users[..1]].concat();
    let id = create(&app, organization, named("team", &twice))
        .await
        .unwrap();
    let set = async |user, is_member| {
        let done = app.core().transaction(NoCaller::Operator, move |tx| {
            let group = change::find(tx, organization, id)?;
            change::set_member(tx, &group, user, is_member, "operator")
        });
        done.await.map(drop)
    };
    set(first, true).await.expect("a member already");
    refused_for(set(last, true).await, "1000 members");
    set(first, false).await.unwrap();
    set(last, true).await.expect("there is room again");
    let found = app
        .core()
        .read(move |reader| change::find(reader, organization, id))
        .await
        .unwrap();
    assert_eq!(
        (found.users.len(), found.users.contains(&last)),
        (MAX_GROUP_MEMBERS, true)
    );
}

#[tokio::test]
async fn an_organization_has_a_bounded_number_of_groups() {
    let (app, organization) = app().await;
    let made = app.core().transaction(NoCaller::Operator, move |tx| {
        for number in 0..MAX_GROUPS {
            change::create(
                tx,
                organization,
                &named(&format!("g{number}"), &[]),
                "operator",
            )?;
        }
        Ok(())
    });
    made.await.unwrap();
    let more = create(&app, organization, named("more", &[])).await;
    refused_for(more, "500 groups");
    app.operator().remove_group("acme", "G7").await.unwrap();
    create(&app, organization, named("more", &[]))
        .await
        .expect("there is room again");
    let groups = app.operator().groups("acme").await.unwrap();
    assert_eq!(groups.len(), MAX_GROUPS);
}

#[tokio::test]
async fn the_groups_of_an_organization_have_a_bounded_number_of_members_together() {
    let (app, organization) = app().await;
    let users = people(&app, organization, MAX_GROUP_MEMBERS).await;
    for number in 0..MAX_GROUP_MEMBERSHIPS / MAX_GROUP_MEMBERS {
        create(&app, organization, named(&format!("g{number}"), &users))
            .await
            .unwrap();
    }
    let refused = |made: Result<GroupId>| {
        refused_for(made, "20000 members together");
    };
    refused(create(&app, organization, named("more", &users[..1])).await);
    let empty = create(&app, organization, named("empty", &[]))
        .await
        .unwrap();
    let add = app.core().transaction(NoCaller::Operator, {
        let user = users[0];
        move |tx| {
            let group = change::find(tx, organization, empty)?;
            change::set_member(tx, &group, user, true, "operator")
        }
    });
    refused(add.await.map(|_| empty));
    app.operator().remove_group("acme", "g0").await.unwrap();
    create(&app, organization, named("more", &users[..1]))
        .await
        .expect("there is room again");
}

#[tokio::test]
async fn a_room_of_an_organization_knows_its_groups_until_they_change() {
    let (app, organization) = app().await;
    let _background = app.start().await.unwrap();
    let users = people(&app, organization, 2).await;
    let new = crate::NewFlow {
        organization: "acme".into(),
        name: "main".parse().unwrap(),
    };
    let (flow, _) = app.operator().create_flow(new).await.unwrap();
    let room = app.rooms().room_id_by_public_id(&flow).await.unwrap();
    let members = async |name: &str| {
        use eddyline_model::tags::Roster as _;
        app.rooms()
            .load_room(room)
            .await
            .unwrap()
            .group(name)
            .map(<[_]>::to_vec)
    };
    assert_eq!(members("team").await, None);
    let before = app.rooms().load_room(room).await.unwrap();
    assert!(
        std::sync::Arc::ptr_eq(&before, &app.rooms().load_room(room).await.unwrap()),
        "it is cached"
    );
    let name: GroupName = "Team".parse().unwrap();
    app.operator().create_group("acme", name).await.unwrap();
    assert_eq!(members("team").await, Some(vec![]));
    let email = "user1@acme.example".parse().unwrap();
    app.operator()
        .set_group_member("acme", "team", &email, true)
        .await
        .unwrap();
    assert_eq!(members("team").await, Some(vec![users[1]]));
    assert_eq!(
        before.most_tags() + 1,
        app.rooms().load_room(room).await.unwrap().most_tags()
    );
}

#[tokio::test]
async fn messages_that_mention_a_group_share_whom_they_address_while_one_is_in_memory() {
    use eddyline_model::tags::{Context, Extracted, Roster as _, extract};
    use std::sync::Arc;
    let (app, organization) = app().await;
    let _background = app.start().await.unwrap();
    let users = people(&app, organization, 3).await;
    let new = crate::NewFlow {
        organization: "acme".into(),
        name: "main".parse().unwrap(),
    };
    let (flow, _) = app.operator().create_flow(new).await.unwrap();
    for number in 0..2 {
        let email = format!("user{number}@acme.example").parse().unwrap();
        app.operator()
            .add_flow_user("acme", "main", &email)
            .await
            .unwrap();
    }
    create(&app, organization, named("Team", &users))
        .await
        .unwrap();
    let id = app.rooms().room_id_by_public_id(&flow).await.unwrap();
    let room = app.rooms().load_room(id).await.unwrap();
    let post = |text: &str| -> Extracted {
        let context = Context {
            roster: &*room,
            sender: Some(users[0]),
            has_attachments: false,
        };
        extract(&[], text, &context)
    };
    let (one, other) = (post("@team hey"), post("hey @team"));
    let [cohort] = one.tags.cohorts() else {
        panic!("{one:?}")
    };
    assert_eq!(cohort.users(), &users[..2], "those in the flow");
    assert!(Arc::ptr_eq(cohort, &other.tags.cohorts()[0]));
    let seen = Arc::downgrade(cohort);
    drop((one, other));
    assert!(seen.upgrade().is_none(), "the flow itself keeps none");
    let members = room.group("team").unwrap();
    assert_eq!(room.group_cohort("team", members).users(), &users[..2]);
}
