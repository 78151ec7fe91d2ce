use super::*;
use crate::{Confirmation, ExpectedToken};

fn shown(password: Option<&str>) -> Confirmation {
    Confirmation {
        current_password: password.map(Password::new),
        address: HERE,
    }
}

#[tokio::test]
async fn providers_and_administrators_need_a_fresh_sign_in_or_the_password() {
    let world = World::new().await;
    let (app, mail) = (&world.app, ADA.parse().unwrap());
    let administers = OrganizationRole::Administrator;
    app.operator().set_admin("acme", &mail, true).await.unwrap();
    let session = sign_in(&world, GOOD).await.unwrap();
    let by_session = || async {
        let actor = app.accounts().by_session(&session).await.unwrap();
        actor.unwrap()
    };
    let organization = app
        .organizations()
        .list_own(&by_session().await)
        .await
        .unwrap()[0]
        .id;
    let connect = async |expected, shown| {
        let actor = by_session().await;
        app.organizations()
            .connect_provider(&actor, organization, expected, &shown)
            .await
            .map(drop)
            .map_err(|error| (error.kind(), error.into_fields()))
    };
    assert_eq!(connect(ExpectedToken::None, shown(None)).await, Ok(()));
    world.pass(11 * MINUTE);
    for (password, text) in [
        (None, "is required"),
        (Some("a wild guess"), "is not your present password"),
    ] {
        let fields = [("current_password".to_owned(), vec![text.to_owned()])];
        assert_eq!(
            connect(ExpectedToken::Present, shown(password)).await,
            Err((ErrorKind::Invalid, fields.into()))
        );
    }
    assert_eq!(
        connect(ExpectedToken::Present, shown(Some(GOOD))).await,
        Ok(())
    );

    let (ben, _) = person_with_token(app, "ben@acme.example", "ben").await;
    let appoint = async |role, shown| {
        let (actor, user) = (by_session().await, ben.user_id().unwrap());
        let organizations = app.organizations();
        let changed = organizations.set_role(&actor, organization, user, role, &shown);
        changed.await.map_err(|error| error.kind())
    };
    let refused = Err(ErrorKind::Invalid);
    assert_eq!(appoint(administers, shown(None)).await, refused);
    assert_eq!(appoint(administers, shown(Some(GOOD))).await, Ok(()));
    let member = OrganizationRole::Member;
    let outcome = appoint(member, shown(None)).await;
    assert_eq!(outcome, Ok(()), "a right is taken back at once");
}
