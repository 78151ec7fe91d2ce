//! Private messages on the stream (specification, section 6), with one server and with two.

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_tests::{Acme, Backend, Caller, Listener, Server, Tenant, on_shared_servers, run};
use serde_json::json;

use super::{messages, own_stream, path, remove, unread, write, write_all};

on_shared_servers![
    private_messages_come_to_all_streams_of_both,
    a_stream_goes_on_with_the_private_messages_missed,
    a_stream_goes_on_without_what_may_not_be_read_any_more,
    changes_of_private_messages_are_told_to_both,
];

mod what_is_private_on_one_server_is_so_on_the_other {
    #[test]
    fn postgres() {
        super::run(super::Backend::Postgres, &[], async |one| {
            let other = one.another_node("node-2", &[]);
            super::what_is_private_on_one_server_is_so_on_the_other(one, other).await;
        });
    }
}

/// Shows: 6.4
async fn private_messages_come_to_all_streams_of_both(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let (mut ada_one, mut ada_two) = (own_stream(&tenant.ada).await, own_stream(&tenant.ada).await);
    let both = StreamRequest::new().user().flow(&tenant.main);
    let mut ben = Listener::open(&tenant.ben.client, &both).await;
    let mut third = Listener::open(&cleo.client, &both).await;
    let mut flow_only = Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    write_all(&tenant.ada, &tenant.ben, &["hello back"]).await;
    tenant.ben.say(&tenant.main, "for all").await;
    let listed = tenant.ada.get(&messages(&tenant.ben)).await;
    for stream in [&mut ada_one, &mut ada_two, &mut ben] {
        assert_eq!(json!([stream.json().await, stream.json().await]), listed);
    }
    for stream in [&mut ben, &mut third, &mut flow_only] {
        assert_eq!(
            stream.json().await["content"],
            "for all",
            "and nothing before it"
        );
    }
}

/// Shows: 6.4
async fn a_stream_goes_on_with_the_private_messages_missed(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    write_all(&tenant.ben, &tenant.ada, &["heard"]).await;
    let mut ada = own_stream(&tenant.ada).await;
    let mut ben = own_stream(&tenant.ben).await;
    write_all(&tenant.ben, &tenant.ada, &["heard too"]).await;
    ada.texts_through("heard too").await;
    ben.texts_through("heard too").await;
    let (ada_at, ben_at) = (ada.last_event_id(), ben.last_event_id());
    drop((ada, ben));
    // One conversation goes on, another is born.
    write_all(&tenant.ben, &tenant.ada, &["missed"]).await;
    write_all(&cleo, &tenant.ada, &["we have not met"]).await;
    write_all(&cleo, &tenant.ben, &["nor have we"]).await;
    let after = |id: &str| StreamRequest::new().user().after(id);
    let mut ada = Listener::open(&tenant.ada.client, &after(&ada_at)).await;
    assert_eq!(
        ada.texts_through("we have not met").await,
        ["missed", "we have not met"]
    );
    let mut ben = Listener::open(&tenant.ben.client, &after(&ben_at)).await;
    assert_eq!(
        ben.texts_through("nor have we").await,
        ["missed", "nor have we"]
    );
}

/// Shows: 6.4
async fn a_stream_goes_on_without_what_may_not_be_read_any_more(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    let (mut ben, mut gone) = (own_stream(&tenant.ben).await, own_stream(&cleo).await);
    write_all(&tenant.ada, &tenant.ben, &["begin"]).await;
    write_all(&tenant.ada, &cleo, &["begin"]).await;
    ben.texts_through("begin").await;
    gone.texts_through("begin").await;
    let (ben_at, gone_at) = (ben.last_event_id(), gone.last_event_id());
    drop(ben);
    write_all(&cleo, &tenant.ben, &["secret"]).await;
    write_all(&cleo, &cleo, &["note to self"]).await;
    write_all(&tenant.ada, &tenant.ben, &["not secret"]).await;
    remove(&tenant, &cleo).await;
    gone.rest().await;
    write_all(&tenant.ada, &tenant.ben, &["end"]).await;
    write_all(&cleo, &cleo, &["end"]).await;
    let after = |id: &str| StreamRequest::new().user().after(id);
    let mut ben = Listener::open(&tenant.ben.client, &after(&ben_at)).await;
    assert_eq!(ben.texts_through("end").await, ["not secret", "end"]);
    let mut cleo = Listener::open(&cleo.client, &after(&gone_at)).await;
    assert_eq!(cleo.texts_through("end").await, ["note to self", "end"]);
}

/// Shows: 6.4
async fn changes_of_private_messages_are_told_to_both(tenant: Tenant) {
    let cleo = tenant.user("cleo");
    let mut third = own_stream(&cleo).await;
    write_all(&tenant.ben, &tenant.ada, &["hello"]).await;
    let mut streams = [own_stream(&tenant.ada).await, own_stream(&tenant.ben).await];
    let own = format!("{}/1", messages(&tenant.ada));
    // A listener that lags would hear the present text of the message instead.
    for (method, change, text) in [
        (
            Method::PUT,
            json!({"content": "hello there"}),
            "hello there",
        ),
        (Method::DELETE, Json::Null, ""),
    ] {
        tenant.ben.does(method, &own, &change).await;
        for stream in &mut streams {
            let heard = stream.event("message-edit").await;
            assert_eq!(
                heard["content"],
                json!({"message": 1, "updated_content": text})
            );
            assert_eq!(
                (&heard["user"], &heard["to"]),
                (
                    &json!(tenant.ben.id.to_string()),
                    &json!(tenant.ada.id.to_string())
                )
            );
            assert_eq!(heard.get("flow"), None);
        }
    }
    write_all(&cleo, &cleo, &["end"]).await;
    assert_eq!(
        third.json().await["content"],
        "end",
        "and nothing before it"
    );
}

/// Shows: 6.4
async fn what_is_private_on_one_server_is_so_on_the_other(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let there = |caller: &Caller| Caller {
        client: other.client().api_token(&caller.token).build().unwrap(),
        id: caller.id,
        email: caller.email.clone(),
        token: caller.token.clone(),
    };
    let (ada_there, ben_there) = (there(&ada), there(&ben));
    let (mut here, mut away) = (own_stream(&ada).await, own_stream(&ben_there).await);
    // Both servers begin the conversation.
    let (first, second) = tokio::join!(
        write(&ada, &ben, "from one"),
        write(&ben_there, &ada, "from the other")
    );
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (200, 200));
    let said = ada.get(&messages(&ben)).await;
    assert_eq!(said.as_array().unwrap().len(), 2);
    for stream in [&mut here, &mut away] {
        assert_eq!(json!([stream.json().await, stream.json().await]), said);
    }
    assert_eq!(unread(&ada, &ben).await, 1);
    let read = json!({"message": 2});
    ada_there
        .does(Method::PUT, &format!("{}/read", path(&ben)), &read)
        .await;
    assert_eq!(unread(&ada, &ben).await, 0);
    assert_eq!(
        here.event("read").await["content"],
        json!({"to": ben.id.to_string(), "message": 2})
    );
    // Who leaves has left everywhere, also where they were known.
    write(&ben_there, &ada, "still here")
        .await
        .success()
        .unwrap();
    ada.does(
        Method::DELETE,
        &format!("/organizations/acme/users/{}", ben.id),
        &Json::Null,
    )
    .await;
    for (who, with) in [(&ben_there, &ada), (&ada_there, &ben), (&ben, &ada)] {
        assert_eq!(write(who, with, "too late").await.status, 403);
    }
}
