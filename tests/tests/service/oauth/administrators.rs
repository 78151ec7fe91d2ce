//! What the people of an organization have allowed applications, as its administrators see it.

use eddyline_tests::{Tenant, on_shared_servers};

use super::account::{application_of, signed_in};

on_shared_servers![
    an_administrator_ends_what_the_people_allowed,
    what_people_allowed_is_for_administrators_alone,
];

const OFFLINE: &str = "flow private offline_access";

async fn an_administrator_ends_what_the_people_allowed(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let robot = tenant.server().robot(&neighbour.name, &[]);
    let own = tenant.server().robot(&tenant.name, &[]);
    let path = format!("/app/{}/settings/applications", tenant.name);
    let mut ada = signed_in(&tenant, &tenant.ada.email).await;
    ada.get(&path)
        .await
        .says(200, "has given an application access.");

    let bens = robot.by_password(&tenant.ben, OFFLINE).await;
    let adas = robot.by_password(&tenant.ada, "flow").await;
    let foreign = own.by_password(&neighbour.ben, "flow").await;
    let page = ada.get(&path).await;
    page.is_named_throughout(&path);
    for part in [
        "<h3>ben <span class=\"hint\">@ben</span>: Robot</h3>",
        "<h3>ada <span class=\"hint\">@ada</span>: Robot</h3>",
        "Act for you also when you are not there",
        &format!("By {}.", neighbour.name),
        "<a href=\"/developer/",
    ] {
        page.says(200, part);
    }
    let (application, ben) = (
        application_of(&page, &neighbour.name),
        tenant.ben.id.to_string(),
    );
    for wrong in [("", &*application), (&*ben, ""), ("x", &*application)] {
        let page = ada
            .post(&path, &[("user", wrong.0), ("application", wrong.1)])
            .await;
        page.says(400, "couldn’t read this form");
    }
    let foreigner = neighbour.ben.id.to_string();
    let page = ada
        .post(
            &path,
            &[("user", &foreigner), ("application", &application)],
        )
        .await;
    page.says(404, "Page not found");
    let page = ada
        .post(&path, &[("user", &ben), ("application", &application)])
        .await;
    assert_eq!(page.sent_on(), format!("{path}?done=ended"));
    for (robot, tokens, expected) in [
        (&robot, &bens, 401),
        (&robot, &adas, 200),
        (&own, &foreign, 200),
    ] {
        assert_eq!(robot.status(&tokens["access_token"]).await, expected);
    }
    let page = ada.get(&format!("{path}?done=ended")).await;
    page.says(200, "The application no longer has access.");
    assert!(!page.text.contains("@ben"), "{}", page.text);
}

async fn what_people_allowed_is_for_administrators_alone(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ada, "flow").await;
    let path = format!("/app/{}/settings/applications", tenant.name);
    let ada = tenant.ada.id.to_string();
    let mut administrator = signed_in(&tenant, &tenant.ada.email).await;
    let application = application_of(&administrator.get(&path).await, &tenant.name);
    let deed = [
        ("user", ada.as_str()),
        ("application", application.as_str()),
    ];
    let neighbour = tenant.neighbour();
    for (email, expected) in [
        (&tenant.ben.email, 403),
        (&neighbour.ada.email, 404),
        (&neighbour.ben.email, 404),
    ] {
        let mut visitor = signed_in(&tenant, email).await;
        let page = visitor.get(&path).await;
        assert_eq!(page.status, expected, "{email}");
        assert!(!page.text.contains("Robot"), "{}", page.text);
        assert_eq!(visitor.post(&path, &deed).await.status, expected, "{email}");
    }
    tenant.server().visitor().post(&path, &deed).await.sent_on();
    assert_eq!(robot.status(&tokens["access_token"]).await, 200);
    let name = tenant.name.to_uppercase();
    administrator
        .get(&format!("/app/{name}/settings/applications"))
        .await
        .says(200, "Robot");
}
