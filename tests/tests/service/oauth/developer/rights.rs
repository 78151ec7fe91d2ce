//! Who may do what with an application on the pages for developers.

use eddyline_tests::{Tenant, on_shared_servers};

use super::{ask, form, organization, register, send, signed_in, with};

on_shared_servers![the_table_of_callers_and_actions_holds];

/// Who may do what with an application that Ben registered: the status of each answer, of reading
/// and of doing it.
async fn the_table_of_callers_and_actions_holds(tenant: Tenant) {
    let (cyd, neighbour) = (tenant.user("cyd"), tenant.neighbour());
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let setup = with(
        form(&organization(&mut ben).await),
        "setup_uri",
        "https://a.example/",
    );
    for (email, see, change, done) in [
        (Some(&cyd.email), 200, 403, 403),
        (Some(&neighbour.ada.email), 404, 404, 404),
        (Some(&neighbour.ben.email), 404, 404, 404),
        (None, 303, 303, 303),
        (Some(&tenant.ada.email), 200, 200, 303),
        (Some(&tenant.ben.email), 200, 200, 303),
    ] {
        let told = register(&mut ben, &setup).await;
        let mut visitor = match email {
            Some(email) => signed_in(&tenant, email).await,
            None => tenant.server().visitor(),
        };
        let path = |rest: &str| format!("{}{rest}", told.path);
        let page = visitor.get(&path("")).await;
        assert_eq!(page.status, see, "{email:?}");
        assert_eq!(
            page.text
                .contains("<form method=\"post\" action=\"/developer"),
            change == 200,
            "{email:?}"
        );
        assert_eq!(visitor.get(&path("/setup")).await.status, see, "{email:?}");
        for rest in ["/secret", "/remove"] {
            assert_eq!(
                visitor.get(&path(rest)).await.status,
                change,
                "{email:?} {rest}"
            );
        }
        let renamed = with(setup.clone(), "name", "Renamed");
        assert_eq!(
            send(&mut visitor, &path(""), &renamed).await.status,
            done,
            "{email:?}"
        );
        let wrong = with(setup.clone(), "name", "");
        let expected = if change == 200 { 400 } else { change };
        assert_eq!(
            send(&mut visitor, &path(""), &wrong).await.status,
            expected,
            "{email:?}"
        );
        assert_eq!(
            visitor.post(&path("/secret"), &[]).await.status,
            change,
            "{email:?}"
        );
        let name = if change == 200 {
            "Renamed"
        } else {
            "Robot &#60;3"
        };
        ben.get(&path(""))
            .await
            .says(200, &format!("<h1>{name}</h1>"));
        let old = ask(&tenant, &told, &told.secret).await.0;
        assert_eq!(old, if change == 200 { 401 } else { 200 }, "{email:?}");
        assert_eq!(
            visitor.post(&path("/remove"), &[]).await.status,
            done,
            "{email:?}"
        );
        assert_eq!(
            ben.get(&path("")).await.status,
            if change == 200 { 404 } else { 200 },
            "{email:?}"
        );
    }
}
