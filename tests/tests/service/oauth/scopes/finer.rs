//! Where the scope that a request needs depends on more than its endpoint.

use eddyline_client::{Client, Json, Method, StreamRequest};
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::json;

use super::{ASKED, clients, covers, refused};
use crate::permissions::Answered;

on_shared_servers![
    a_tab_is_the_matter_of_those_who_read_and_the_rest_of_those_who_manage,
    an_application_that_sees_the_profile_sees_no_other,
    a_stream_needs_a_scope_for_each_part_of_what_it_tells,
];

/// A request, and what it needs: all of these.
struct Case {
    what: &'static str,
    /// Each entry names scopes of which one is enough; they are looked at in this order.
    needs: &'static [&'static str],
    ask: fn(&Tenant, &Client) -> Asking,
}

type Asking = std::pin::Pin<Box<dyn Future<Output = Answered> + Send>>;

fn ask(client: &Client, method: Method, path: &str, body: &Json) -> Asking {
    let request = client.request(method, path);
    let request = if body.is_null() {
        request
    } else {
        request.json(body)
    };
    Box::pin(async { request.send().await.unwrap().into() })
}

fn listen(client: &Client, stream: StreamRequest, path: String) -> Asking {
    let client = client.clone();
    Box::pin(async move {
        if client.stream(&stream).await.is_ok() {
            return Answered {
                status: 200,
                challenge: None,
                body: Json::Null,
            };
        }
        client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .into()
    })
}

async fn check(tenant: &Tenant, cases: &[Case]) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let clients = clients(&robot, &tenant.ada).await;
    let mut wrong = Vec::new();
    for case in cases {
        for ((asked, held), client) in ASKED.into_iter().zip(&clients) {
            let found = (case.ask)(tenant, client).await;
            let missing = case.needs.iter().find(|scopes| !covers(held, scopes));
            let outcome = match missing {
                Some(scopes) => refused(&found, scopes),
                None if found.status == 200 => Ok(()),
                None => Err(format!("{} {}", found.status, found.body)),
            };
            if let Err(why) = outcome {
                wrong.push(format!("{} with {asked:?}: {why}", case.what));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Changes the flow `main`.
fn change(tenant: &Tenant, client: &Client, change: &Json) -> Asking {
    ask(client, Method::PUT, &tenant.path(""), change)
}

/// Shows: 5.11
async fn a_tab_is_the_matter_of_those_who_read_and_the_rest_of_those_who_manage(tenant: Tenant) {
    check(
        &tenant,
        &[
            Case {
                what: "open",
                needs: &["flow manage"],
                ask: |tenant, client| change(tenant, client, &json!({"open": true})),
            },
            Case {
                what: "nothing",
                needs: &["flow manage"],
                ask: |tenant, client| change(tenant, client, &json!({})),
            },
            Case {
                what: "name",
                needs: &["flow manage", "manage"],
                ask: |tenant, client| change(tenant, client, &json!({"name": "Main"})),
            },
            Case {
                what: "description",
                needs: &["flow manage", "manage"],
                ask: |tenant, client| change(tenant, client, &json!({"description": "Talk"})),
            },
            Case {
                what: "access_mode",
                needs: &["flow manage", "manage"],
                ask: |tenant, client| change(tenant, client, &json!({"access_mode": "link"})),
            },
            Case {
                what: "disabled, beside open",
                needs: &["flow manage", "manage"],
                ask: |tenant, client| {
                    change(tenant, client, &json!({"open": true, "disabled": false}))
                },
            },
        ],
    )
    .await;
}

/// Shows: 5.11
async fn an_application_that_sees_the_profile_sees_no_other(tenant: Tenant) {
    check(
        &tenant,
        &[
            Case {
                what: "oneself",
                needs: &["flow manage profile"],
                ask: |tenant, client| {
                    ask(
                        client,
                        Method::GET,
                        &format!("/users/{}", tenant.ada.id),
                        &Json::Null,
                    )
                },
            },
            Case {
                what: "somebody else",
                needs: &["flow manage profile", "flow manage"],
                ask: |tenant, client| {
                    ask(
                        client,
                        Method::GET,
                        &format!("/users/{}", tenant.ben.id),
                        &Json::Null,
                    )
                },
            },
        ],
    )
    .await;
}

/// Shows: 5.11
async fn a_stream_needs_a_scope_for_each_part_of_what_it_tells(tenant: Tenant) {
    check(
        &tenant,
        &[
            Case {
                what: "flows",
                needs: &["flow private", "flow"],
                ask: |tenant, client| {
                    let stream = StreamRequest::new().flow(&tenant.main);
                    listen(
                        client,
                        stream,
                        format!("/stream/flows?filter={}", tenant.main),
                    )
                },
            },
            Case {
                what: "what is sent to the user",
                needs: &["flow private", "private"],
                ask: |_, client| {
                    listen(
                        client,
                        StreamRequest::new().user(),
                        "/stream/flows?user=1".into(),
                    )
                },
            },
            Case {
                what: "both",
                needs: &["flow private", "private", "flow"],
                ask: |tenant, client| {
                    let stream = StreamRequest::new().flow(&tenant.main).user();
                    listen(
                        client,
                        stream,
                        format!("/stream/flows?user=1&filter={}", tenant.main),
                    )
                },
            },
            Case {
                what: "one flow, and what is sent to the user",
                needs: &["flow", "private"],
                ask: |tenant, client| {
                    let stream = StreamRequest::new().path(&tenant.main).user();
                    listen(
                        client,
                        stream,
                        format!("/stream/flows/{}?user=1", tenant.main),
                    )
                },
            },
        ],
    )
    .await;
}
