//! Texts as HTML, for clients that ask for it (docs/protocol.md, Texts as HTML).

use eddyline_client::{Event, FlowClient, Json, MessageQuery, Method, NewMessage, StreamRequest};
use eddyline_tests::{Listener, Tenant, on_shared_servers};

on_shared_servers![
    a_list_has_html_where_it_is_asked_for,
    the_next_part_of_a_list_has_html_as_well,
    a_stream_of_events_has_html_where_it_is_asked_for,
    hostile_text_is_shown_as_it_was_typed,
];

fn flow(tenant: &Tenant) -> FlowClient {
    let (organization, flow) = tenant.main.split_once('/').unwrap();
    tenant.ada.client.flow(organization, flow)
}

async fn a_list_has_html_where_it_is_asked_for(tenant: Tenant) {
    let flow = flow(&tenant);
    tenant
        .ada
        .say(&tenant.main, "see https://example.org, @ben")
        .await;
    let shown = flow.messages(&MessageQuery::new().html()).await.unwrap();
    assert_eq!(
        shown[0].html.as_deref(),
        Some(
            "see <a href=\"https://example.org\" rel=\"nofollow noopener noreferrer\" \
             target=\"_blank\">https://example.org</a>, <b class=\"at\">@ben</b>"
        )
    );
    let plain = flow.messages(&MessageQuery::new()).await.unwrap();
    assert_eq!(plain[0].html, None);
}

async fn the_next_part_of_a_list_has_html_as_well(tenant: Tenant) {
    for text in ["one", "two"] {
        tenant.ada.say(&tenant.main, text).await;
    }
    let path = tenant.path("/messages?limit=1&html=1");
    let answer = tenant.ada.send(Method::GET, &path, &Json::Null).await;
    let link = answer.header("link").expect("the list goes on");
    assert!(link.contains("html=true"), "{link}");
}

async fn a_stream_of_events_has_html_where_it_is_asked_for(tenant: Tenant) {
    let request = StreamRequest::new().flow(&tenant.main);
    let mut with = Listener::open(&tenant.ben.client, &request.clone().html()).await;
    let mut without = Listener::open(&tenant.ben.client, &request).await;
    let id = tenant.ada.say(&tenant.main, "a `b`").await["id"]
        .as_i64()
        .unwrap();
    let (shown, plain) = (with.json().await, without.json().await);
    assert_eq!(shown["html"], "a <code>b</code>");
    assert_eq!(shown["thread_title"], "a b");
    assert!(plain["html"].is_null());
    assert!(plain["thread_title"].is_null());

    let flow = flow(&tenant);
    let edit = eddyline_client::requests::EditMessage {
        content: Some("_c_".to_owned()),
        ..Default::default()
    };
    flow.edit(id, &edit).await.unwrap();
    let heard = with.next().await;
    assert!(matches!(heard.event(), Event::MessageEdit { .. }));
    assert_eq!(heard.json["html"], "<i>c</i>");

    flow.comment(id, &NewMessage::new("comment", "~~d~~"))
        .await
        .unwrap();
    assert_eq!(with.json().await["html"], "<s>d</s>");

    let json = StreamRequest::new().flow(&tenant.main).html().json();
    let refused = tenant.ben.client.stream(&json).await.unwrap_err();
    let refused = refused.api().expect("the server refused");
    assert_eq!(refused.status, 400);
    assert!(refused.errors.contains_key("html"), "{refused}");
}

async fn hostile_text_is_shown_as_it_was_typed(tenant: Tenant) {
    let flow = flow(&tenant);
    tenant
        .ada
        .say(
            &tenant.main,
            "<script>alert(1)</script> [x](javascript:alert(1))",
        )
        .await;
    let shown = flow.messages(&MessageQuery::new().html()).await.unwrap();
    assert_eq!(
        shown[0].html.as_deref(),
        Some("&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert(1))")
    );
}
