//! Everybody hears everything once, in one order.

use eddyline_client::{Json, StreamRequest};
use eddyline_tests::{Acme, Listener, Server, on_both_databases};

on_both_databases![
    messages_of_many_senders_come_once_each_and_in_the_order_of_their_ids,
    flows_on_one_stream_keep_the_same_order_for_all_listeners,
];

const SENDERS: usize = 4;
const EACH: usize = 25;

/// Shows: 1.6, 2.19
async fn messages_of_many_senders_come_once_each_and_in_the_order_of_their_ids(server: Server) {
    let Acme { ada, ben } = server.acme();
    let flow = ["acme/main"];
    let json = StreamRequest::new().flow(flow[0]).json();
    let mut listeners = vec![
        Listener::to(&ada.client, &flow).await,
        Listener::to(&ben.client, &flow).await,
        Listener::open(&ada.client, &json).await,
    ];
    let posting: Vec<_> = (0..SENDERS)
        .map(|sender| {
            // A client of its own, and so a connection of its own.
            let client = server
                .client()
                .api_token(&ben.token)
                .build()
                .unwrap()
                .flow("acme", "main");
            tokio::spawn(async move {
                for number in 0..EACH {
                    let message = eddyline_client::NewMessage::chat(&format!("{sender}-{number}"));
                    client.post(&message).await.unwrap();
                }
            })
        })
        .collect();
    for sender in posting {
        sender.await.unwrap();
    }

    let mut told = Vec::new();
    for listener in &mut listeners {
        told.push(take(listener, SENDERS * EACH).await);
    }
    let ids: Vec<i64> = told[0]
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect();
    assert!(ids.is_sorted_by(|one, next| *next == one + 1), "{ids:?}");
    for sender in 0..SENDERS {
        let of_sender = |message: &&Json| {
            message["content"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{sender}-"))
        };
        let texts: Vec<&Json> = told[0]
            .iter()
            .filter(of_sender)
            .map(|message| &message["content"])
            .collect();
        let expected: Vec<_> = (0..EACH)
            .map(|number| format!("{sender}-{number}"))
            .collect();
        assert_eq!(texts, expected.iter().collect::<Vec<_>>());
    }
    assert_eq!(told[1], told[0]);
    assert_eq!(told[2], told[0]);
    assert_eq!(
        ada.get("/flows/acme/main/messages?limit=100").await,
        Json::from(told.swap_remove(0))
    );
}

async fn flows_on_one_stream_keep_the_same_order_for_all_listeners(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "lab", &[&ada, &ben]);
    let flows = ["acme/main", "acme/lab"];
    let mut one = Listener::to(&ada.client, &flows).await;
    let mut other = Listener::to(&ben.client, &flows).await;
    let senders = [(&ada, flows[0]), (&ben, flows[1]), (&ben, flows[0])];
    let [a, b, c] = senders.map(|(sender, flow)| async move {
        for number in 0..EACH {
            sender.say(flow, &number.to_string()).await;
        }
    });
    tokio::join!(a, b, c);
    assert_eq!(
        take(&mut one, 3 * EACH).await,
        take(&mut other, 3 * EACH).await
    );
}

async fn take(listener: &mut Listener, count: usize) -> Vec<Json> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.push(listener.json().await);
    }
    taken
}
