//! The scene that most tests begin with, and what its people say.

use eddyline_client::{Json, Method, RawResponse};
use serde_json::json;
use tokio::task::JoinSet;

use crate::caller::Caller;
use crate::server::Server;

/// The organization `acme` with its flow `acme/main`, and the two who are in it.
pub struct Acme {
    /// Administrator of the organization.
    pub ada: Caller,
    /// An ordinary member.
    pub ben: Caller,
}

impl Server {
    /// Sets the scene.
    pub fn acme(&self) -> Acme {
        self.organization("acme");
        let acme = Acme {
            ada: self.administrator("acme", "ada"),
            ben: self.user("acme", "ben"),
        };
        self.flow("acme", "main", &[&acme.ada, &acme.ben]);
        acme
    }

    /// Creates a flow with these people in it, and gives its id. The name is also the one in URLs.
    pub fn flow(&self, organization: &str, name: &str, people: &[&Caller]) -> String {
        let flow = self.admin(&["flow", "create", "--org", organization, "--name", name]);
        for person in people {
            let path = format!("{organization}/{name}");
            self.admin(&[
                "flow",
                "add-user",
                "--flow",
                &path,
                "--email",
                &person.email,
            ]);
        }
        flow["id"].as_str().expect("a flow has an id").to_owned()
    }
}

impl Caller {
    /// Posts a chat message to `organization/flow` and gives it as the server answers it.
    pub async fn say(&self, flow: &str, text: &str) -> Json {
        self.post(flow, &json!({"event": "message", "content": text}))
            .await
    }

    /// Posts to `organization/flow` and gives the whole message.
    pub async fn post(&self, flow: &str, message: &Json) -> Json {
        let request = self
            .client
            .request(Method::POST, &format!("/flows/{flow}/messages"));
        request
            .header("x-service-wait-for-message", "1")
            .json(message)
            .call()
            .await
            .unwrap()
    }

    /// Posts this many chat messages, over several connections at a time; their order is open.
    pub async fn flood(&self, flow: &str, count: usize, text: impl Fn(usize) -> String) {
        const CONNECTIONS: usize = 16;
        let path = format!("/flows/{flow}/messages");
        let mut posting = JoinSet::new();
        for number in 0..count {
            if posting.len() == CONNECTIONS {
                posting.join_next().await.expect("there are some").unwrap();
            }
            let message = json!({"event": "message", "content": text(number)});
            let request = self.client.request(Method::POST, &path).json(&message);
            posting.spawn(async move { request.done().await.unwrap() });
        }
        posting.join_all().await;
    }

    /// Gets what is at the path; a refusal fails the test.
    pub async fn get(&self, path: &str) -> Json {
        self.client.request(Method::GET, path).call().await.unwrap()
    }

    /// Sends a request with a JSON body, or with none when it is null, whatever comes of it.
    pub async fn send(&self, method: Method, path: &str, body: &Json) -> RawResponse {
        let request = self.client.request(method, path);
        let request = if body.is_null() {
            request
        } else {
            request.json(body)
        };
        request.send().await.unwrap()
    }

    /// Sends a request that must be granted.
    pub async fn does(&self, method: Method, path: &str, body: &Json) {
        self.send(method, path, body).await.success().unwrap();
    }
}
