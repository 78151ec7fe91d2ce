//! Join links: who sees them, and how they end.

use eddyline_client::{Client, Json, Method, StreamRequest};
use eddyline_tests::{Caller, Listener, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

use crate::pages::path_of;

on_shared_servers![
    another_access_mode_gives_another_join_link,
    a_join_link_is_replaced_through_the_api,
    a_join_link_is_replaced_on_the_page_of_its_flow,
    a_removal_ends_the_join_links_of_all_flows_of_the_organization,
    a_removed_user_comes_back_only_by_an_invitation_of_a_member,
    an_invitation_that_a_removed_user_sent_does_not_bring_them_back,
    a_deactivated_user_leaves_no_join_link_that_works,
    only_credentials_with_manage_see_join_links_in_flows,
    only_streams_with_manage_see_join_links,
    a_user_who_is_out_of_a_flow_hears_of_it_no_more,
];

/// Changes a flow and gives the path of its join link.
async fn opened(tenant: &Tenant, flow: &str, mode: &str) -> String {
    let path = format!("/flows/{}/{flow}", tenant.name);
    let flow = tenant
        .ada
        .send(Method::PUT, &path, &json!({"access_mode": mode}))
        .await;
    join_path(tenant, &flow.success().unwrap().json())
}

fn join_path(tenant: &Tenant, flow: &Json) -> String {
    let url = flow["join_url"]
        .as_str()
        .unwrap_or_else(|| panic!("no join_url in {flow}"));
    url.strip_prefix(tenant.server().base_url())
        .unwrap()
        .to_owned()
}

async fn status(tenant: &Tenant, link: &str) -> u16 {
    tenant.server().visitor().get(link).await.status
}

async fn remove(tenant: &Tenant, user: &Caller) {
    let path = format!("/organizations/{}/users/{}", tenant.name, user.id);
    tenant.ada.does(Method::DELETE, &path, &Json::Null).await;
}

async fn another_access_mode_gives_another_join_link(tenant: Tenant) {
    let first = opened(&tenant, "main", "link").await;
    let second = opened(&tenant, "main", "organization").await;
    assert_ne!(first, second);
    assert_eq!(
        (
            status(&tenant, &first).await,
            status(&tenant, &second).await
        ),
        (404, 200)
    );
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "invitation"}),
        )
        .await;
    let third = opened(&tenant, "main", "organization").await;
    assert_eq!(
        (
            status(&tenant, &second).await,
            status(&tenant, &third).await
        ),
        (404, 200)
    );
    assert_eq!(
        opened(&tenant, "main", "organization").await,
        third,
        "the same mode changes nothing"
    );
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"name": "Parlour"}))
        .await;
    assert_eq!(status(&tenant, &third).await, 200, "nor does another name");
}

async fn a_join_link_is_replaced_through_the_api(tenant: Tenant) {
    let first = opened(&tenant, "main", "link").await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let flow = tenant
        .ada
        .send(Method::POST, &tenant.path("/join_url"), &Json::Null)
        .await;
    assert_eq!(flow.status, 200, "{}", flow.text());
    let second = join_path(&tenant, &flow.json());
    assert_eq!(flow.json(), tenant.ada.get(&tenant.path("")).await);
    assert_eq!(
        (
            status(&tenant, &first).await,
            status(&tenant, &second).await
        ),
        (404, 200)
    );
    let told = stream.event("flow-change").await;
    assert!(
        told["content"]["access_mode"] == "link" && !told.to_string().contains("/invitations/")
    );
    let refused = tenant
        .ben
        .send(Method::POST, &tenant.path("/join_url"), &Json::Null)
        .await;
    assert_eq!(refused.status, 403, "a member who did not make the flow");
    assert_eq!(status(&tenant, &second).await, 200);
    let typed = tenant
        .ada
        .client
        .flow(&tenant.name, "main")
        .replace_join_link()
        .await
        .unwrap();
    assert!(typed.join_url.is_some_and(|url| !url.ends_with(&second)));
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "invitation"}),
        )
        .await;
    let closed = tenant
        .ada
        .send(Method::POST, &tenant.path("/join_url"), &Json::Null)
        .await;
    assert_eq!(
        (closed.status.as_u16(), closed.json().get("join_url")),
        (200, None)
    );
}

async fn a_join_link_is_replaced_on_the_page_of_its_flow(tenant: Tenant) {
    let page = format!("/app/{}/settings/joining", tenant.main);
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let closed = ada.get(&page).await;
    assert!(
        !closed.text.contains("Join link") && !closed.text.contains("Replace"),
        "{}",
        closed.text
    );
    let first = opened(&tenant, "main", "link").await;
    ada.get(&page).await.says(200, &first);
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let seen = ben.get(&page).await;
    seen.says(200, &first);
    assert!(
        !seen.text.contains("Replace the join link"),
        "{}",
        seen.text
    );
    ben.post(&page, &[("do", "replace")])
        .await
        .says(403, "You can’t open this page");
    ada.post(&page, &[("do", "nothing")])
        .await
        .says(400, "We couldn’t read this form");
    assert_eq!(status(&tenant, &first).await, 200);
    let sent = ada.post(&page, &[("do", "replace")]).await;
    assert_eq!(sent.sent_on(), format!("{page}?done=replaced"));
    let after = ada.get(sent.sent_on()).await;
    after.says(200, "The flow has a new join link");
    assert!(!after.text.contains(&first), "{}", after.text);
    assert_eq!(status(&tenant, &first).await, 404);
}

async fn a_removal_ends_the_join_links_of_all_flows_of_the_organization(tenant: Tenant) {
    let mia = tenant.member("mia");
    tenant.flow("side", &[&tenant.ada]);
    let neighbour = tenant.neighbour();
    let elsewhere = opened(&neighbour, "main", "link").await;
    let before = [
        opened(&tenant, "main", "link").await,
        opened(&tenant, "side", "organization").await,
    ];
    remove(&tenant, &mia).await;
    let flows = ["main", "side"].map(|flow| format!("/flows/{}/{flow}", tenant.name));
    let mut after = Vec::new();
    for (flow, link) in flows.iter().zip(&before) {
        assert_eq!(status(&tenant, link).await, 404, "{flow}");
        after.push(join_path(&tenant, &tenant.ada.get(flow).await));
        assert_eq!(status(&tenant, after.last().unwrap()).await, 200, "{flow}");
    }
    assert_ne!(
        after[0].split('-').next(),
        after[1].split('-').next(),
        "each flow has a secret of its own"
    );
    assert_eq!(
        status(&neighbour, &elsewhere).await,
        200,
        "other organizations keep theirs"
    );
}

async fn a_removed_user_comes_back_only_by_an_invitation_of_a_member(tenant: Tenant) {
    let mia = tenant.member("mia");
    remove(&tenant, &mia).await;
    let link = opened(&tenant, "main", "organization").await;
    let mut browser = tenant.server().signed_in(&mia.email, PASSWORD).await;
    let join = [("do", "join")];
    browser
        .post(&link, &join)
        .await
        .says(403, "You can’t join this flow");
    // The page also mails an invitation. Nobody of the organization vouches for it.
    let mut visitor = tenant.server().visitor();
    let asked = visitor
        .post(&link, &[("do", "mail"), ("email", &mia.email)])
        .await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    let mailed = path_of(
        &tenant.server().letter(&mia.email, 1).await,
        tenant.server(),
    );
    browser
        .post(&mailed, &join)
        .await
        .says(403, "You can’t join this flow");
    let flows = async || mia.get("/flows").await.as_array().unwrap().len();
    assert_eq!(flows().await, 0);
    // The same invitation counts once a member has sent it.
    tenant
        .ben
        .does(
            Method::POST,
            &tenant.path("/invitations"),
            &json!({"email": mia.email}),
        )
        .await;
    assert_eq!(
        browser.post(&mailed, &join).await.sent_on(),
        format!("/app/{}", tenant.main)
    );
    assert_eq!(flows().await, 1);
    // Back in, the removal is over: a member may leave a flow and join it again.
    mia.does(
        Method::DELETE,
        &tenant.path(&format!("/users/{}", mia.id)),
        &Json::Null,
    )
    .await;
    mia.does(Method::PUT, &tenant.path(""), &json!({"open": true}))
        .await;
    assert_eq!(flows().await, 1);
}

async fn an_invitation_that_a_removed_user_sent_does_not_bring_them_back(tenant: Tenant) {
    let mia = tenant.member("mia");
    let second = format!("mia.too@{}.example", tenant.name);
    mia.does(
        Method::POST,
        &tenant.path("/invitations"),
        &json!({"email": second}),
    )
    .await;
    let mailed = path_of(&tenant.server().letter(&second, 1).await, tenant.server());
    remove(&tenant, &mia).await;
    let mut browser = tenant.server().signed_in(&mia.email, PASSWORD).await;
    browser
        .post(&mailed, &[("do", "join")])
        .await
        .says(404, "This link doesn’t work");
    assert_eq!(mia.get("/flows").await, json!([]));
}

async fn a_deactivated_user_leaves_no_join_link_that_works(tenant: Tenant) {
    let server = tenant.server();
    let (mia, provider) = (tenant.member("mia"), server.provider(&tenant.name));
    let first = opened(&tenant, "main", "link").await;
    server.admin(&[
        "user",
        "set-active",
        "--email",
        &mia.email,
        "--active",
        "false",
    ]);
    assert_eq!(
        status(&tenant, &first).await,
        404,
        "deactivated by an operator"
    );
    server.admin(&[
        "user",
        "set-active",
        "--email",
        &mia.email,
        "--active",
        "true",
    ]);
    let second = join_path(&tenant, &tenant.ada.get(&tenant.path("")).await);
    assert_eq!(status(&tenant, &second).await, 200);
    server.admin(&["scim", "link", "--org", &tenant.name, "--email", &mia.email]);
    let change = json!({"Operations": [{"op": "replace", "path": "active", "value": false}]});
    let answer = provider
        .scim(Method::PATCH, &format!("/Users/{}", mia.id), Some(&change))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        status(&tenant, &second).await,
        404,
        "deactivated by the identity provider"
    );
}

async fn only_credentials_with_manage_see_join_links_in_flows(tenant: Tenant) {
    opened(&tenant, "main", "organization").await;
    let flow = tenant.ada.get(&tenant.path("")).await;
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut clients: Vec<(&str, bool, Client)> = vec![
        ("an API token", true, tenant.ada.client.clone()),
        ("a password", true, tenant.ada.by_password()),
    ];
    for (scope, sees) in [
        ("flow", false),
        ("integration", false),
        ("manage", true),
        ("flow manage", true),
    ] {
        clients.push((
            scope,
            sees,
            robot.with(&robot.by_password(&tenant.ada, scope).await["access_token"]),
        ));
    }
    let find = format!("/flows/find?id={}", flow["id"].as_str().unwrap());
    for (credentials, sees, client) in clients {
        for path in ["/flows", "/flows/all", &find, &tenant.path("")] {
            let answer: Json = client.request(Method::GET, path).call().await.unwrap();
            let shown = if answer.is_array() {
                answer[0].clone()
            } else {
                answer
            };
            assert_eq!(shown["id"], flow["id"], "{credentials} {path}");
            let expected = sees.then(|| flow["join_url"].clone());
            assert_eq!(
                shown.get("join_url").cloned(),
                expected,
                "{credentials} {path}"
            );
        }
    }
}

async fn only_streams_with_manage_see_join_links(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    tenant.flow("side", &[&tenant.ada]);
    let link = opened(&tenant, "side", "link").await;
    let mut streams = vec![(
        true,
        Listener::open(&tenant.ben.client, &StreamRequest::new().user()).await,
    )];
    for (scope, sees) in [
        ("private", false),
        ("flow private", false),
        ("private manage", true),
    ] {
        let client = robot.with(&robot.by_password(&tenant.ben, scope).await["access_token"]);
        streams.push((
            sees,
            Listener::open(&client, &StreamRequest::new().user()).await,
        ));
        streams.push((
            sees,
            Listener::open(&client, &StreamRequest::new().user().json()).await,
        ));
    }
    let side = format!("/flows/{}/side/users", tenant.name);
    tenant
        .ada
        .does(Method::POST, &side, &json!({"id": tenant.ben.id}))
        .await;
    for (sees, stream) in &mut streams {
        let added = stream.event("flow-add").await;
        assert_eq!(added["content"]["parameterized_name"], "side");
        let shown = added["content"]["join_url"]
            .as_str()
            .map(|url| url.ends_with(&link));
        assert_eq!(shown, sees.then_some(true), "{added}");
    }
}

/// What a user's own stream says from the beginning, up to a private message with this text.
async fn own_replay(user: &Caller, end: &str) -> String {
    let mut stream = Listener::open(
        &user.client,
        &StreamRequest::new().user().after("0-00000000"),
    )
    .await;
    let talk = format!("/private/{}/messages", user.id);
    user.does(
        Method::POST,
        &talk,
        &json!({"event": "message", "content": end}),
    )
    .await;
    let mut heard = String::new();
    loop {
        let event = stream.json().await.to_string();
        if event.contains(end) {
            return heard;
        }
        heard.push_str(&event);
    }
}

async fn a_user_who_is_out_of_a_flow_hears_of_it_no_more(tenant: Tenant) {
    let main = opened(&tenant, "main", "link").await;
    let [blocked, left, removed] = ["bo", "lee", "rex"].map(|nick| tenant.member(nick));
    for user in [&blocked, &left, &removed] {
        let heard = own_replay(user, "first end").await;
        assert!(
            heard.contains("flow-add") && heard.contains(&main),
            "{heard}"
        );
    }
    let place = |user: &Caller| tenant.path(&format!("/users/{}", user.id));
    tenant
        .ada
        .does(Method::PUT, &place(&blocked), &json!({"disabled": true}))
        .await;
    left.does(Method::DELETE, &place(&left), &Json::Null).await;
    remove(&tenant, &removed).await;
    let changes = json!({"name": "Merger", "description": "confidential"});
    let flow = tenant
        .ada
        .send(Method::PUT, &tenant.path(""), &changes)
        .await
        .success()
        .unwrap()
        .json();
    for (who, user) in [
        ("blocked", &blocked),
        ("left", &left),
        ("removed", &removed),
    ] {
        let heard = own_replay(user, "second end").await;
        for secret in [
            "flow-add",
            &main,
            &join_path(&tenant, &flow),
            "Merger",
            "confidential",
        ] {
            assert!(!heard.contains(secret), "{who}: {secret} in {heard}");
        }
    }
    let back = json!({"disabled": false});
    tenant.ada.does(Method::PUT, &place(&blocked), &back).await;
    let heard = own_replay(&blocked, "third end").await;
    assert!(
        heard.contains("flow-add") && heard.contains("Merger"),
        "{heard}"
    );
}
