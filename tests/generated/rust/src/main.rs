//! Talks to a server through the client that openapi-to-rust made from its document.
//!
//! Reads as JSON: the address of the server, an access token, the organization, the flow and the
//! nick of the user. Prints what it did.

include!(concat!(env!("OUT_DIR"), "/generated.rs"));

use std::error::Error;
use std::io;

use client::{
    ApiOpError, EditFlowMessageRequest, HttpClient, PostFlowMessageApiError,
    PostFlowMessageRequest, PostFlowMessageRequestEvent,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct About {
    server: String,
    token: String,
    organization: String,
    flow: String,
    nick: String,
}

const NOTHING: Option<&str> = None;

fn main() -> Result<(), Box<dyn Error>> {
    let about = serde_json::from_reader(io::stdin())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let message = runtime.block_on(run(about))?;
    println!("{}", json!({"message": message}));
    Ok(())
}

async fn run(
    About {
        server,
        token,
        organization,
        flow,
        nick,
    }: About,
) -> Result<i64, Box<dyn Error>> {
    let client = HttpClient::new().with_base_url(server).with_api_key(token);
    let flows = client.list_flows(None, NOTHING).await?;
    assert!(flows.iter().any(|each| each.parameterized_name == flow));

    let post = PostFlowMessageRequest {
        content: Some("Made in Rust".to_owned()),
        tags: Some(vec!["crab".to_owned()]),
        uuid: Some("rust-1".to_owned()),
        ..PostFlowMessageRequest::new(PostFlowMessageRequestEvent::Message)
    };
    let posted = client
        .post_flow_message(&organization, &flow, Some("true"), post)
        .await?;
    assert_eq!(
        (posted.content.as_str(), &posted.tags[..]),
        (Some("Made in Rust"), &["crab".to_owned()][..])
    );
    assert_eq!(posted.uuid.flatten().as_deref(), Some("rust-1"));

    let tagged = Some("crab");
    let listed = client
        .list_flow_messages(
            &organization,
            &flow,
            NOTHING,
            Some(10),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            NOTHING,
            tagged,
            None,
            None,
        )
        .await?;
    assert_eq!(
        listed.iter().map(|message| message.id).collect::<Vec<_>>(),
        [posted.id]
    );

    let edit = EditFlowMessageRequest {
        content: Some("Edited in Rust".to_owned()),
        ..Default::default()
    };
    client
        .edit_flow_message(&organization, &flow, posted.id, Some(edit))
        .await?;
    let edited = client
        .get_flow_message(&organization, &flow, posted.id)
        .await?;
    assert_eq!(edited.content, "Edited in Rust");
    assert!(edited.edited.flatten().is_some());

    let empty = PostFlowMessageRequest::new(PostFlowMessageRequestEvent::Message);
    let refused = client
        .post_flow_message(&organization, &flow, NOTHING, empty)
        .await;
    let Err(ApiOpError::Api(error)) = refused else {
        panic!("{refused:?}")
    };
    let Some(PostFlowMessageApiError::Status400(body)) = error.typed else {
        panic!("{error}")
    };
    assert!(
        body.errors
            .is_some_and(|errors| errors.additional_properties.contains_key("content"))
    );

    let users = client.list_users().await?;
    assert!(users.iter().any(|user| user.nick == nick));
    Ok(posted.id)
}
