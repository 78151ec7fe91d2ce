//! An identity provider, as it provisions users of an organization.

use eddyline_client::{Client, Credentials, Json, Method, RawResponse};

use crate::server::Server;

/// The type of SCIM's JSON.
pub const SCIM_JSON: &str = "application/scim+json";

/// An identity provider that an operator has let in.
pub struct Provider {
    /// What its addresses name the organization by.
    pub uid: String,
    /// Its token.
    pub token: String,
    client: Client,
}

impl Server {
    /// Lets an identity provider into an organization; again, with another token.
    pub fn provider(&self, organization: &str) -> Provider {
        let answer = self.admin(&["scim", "enable", "--org", organization, "--rotate"]);
        let text = |name: &str| answer[name].as_str().expect("the answer has it").to_owned();
        self.provider_with(text("uid"), text("token"))
    }

    /// The identity provider that was given this token.
    pub fn provider_with(&self, uid: String, token: String) -> Provider {
        let client = self
            .client()
            .credentials(Credentials::Bearer(token.clone()))
            .build()
            .unwrap();
        Provider { uid, token, client }
    }
}

impl Provider {
    /// The same provider, asking another process.
    pub fn at(&self, server: &Server) -> Self {
        let credentials = Credentials::Bearer(self.token.clone());
        let client = server.client().credentials(credentials).build().unwrap();
        Self {
            uid: self.uid.clone(),
            token: self.token.clone(),
            client,
        }
    }

    /// A path under the provider's address: `/Users`, for instance.
    pub fn path(&self, rest: &str) -> String {
        format!("/scim/{}{rest}", self.uid)
    }

    /// Asks in plain JSON.
    pub async fn plain(&self, method: Method, rest: &str, body: Option<&Json>) -> RawResponse {
        let request = self
            .client
            .request(method, &self.path(rest))
            .header("Accept", "application/json");
        match body {
            Some(body) => request.json(body).send().await.unwrap(),
            None => request.send().await.unwrap(),
        }
    }

    /// Asks in SCIM's JSON, with these headers beside.
    pub async fn scim_with(
        &self,
        method: Method,
        rest: &str,
        body: Option<&Json>,
        headers: &[(&str, &str)],
    ) -> RawResponse {
        let mut request = self.client.request(method, &self.path(rest));
        if let Some(body) = body {
            request = request.raw(SCIM_JSON, body.to_string());
        }
        request = request.header("Accept", SCIM_JSON);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send().await.unwrap()
    }

    /// Asks in SCIM's JSON.
    pub async fn scim(&self, method: Method, rest: &str, body: Option<&Json>) -> RawResponse {
        self.scim_with(method, rest, body, &[]).await
    }

    /// Reads in SCIM's JSON something that is there.
    pub async fn get(&self, rest: &str) -> Json {
        let answer = self.scim(Method::GET, rest, None).await;
        assert_eq!(answer.status, 200, "{rest}: {}", answer.text());
        answer.json()
    }

    /// Makes a user with this address as `userName`, and gives it as SCIM shows it.
    pub async fn makes(&self, email: &str, name: (&str, &str)) -> Json {
        let user = serde_json::json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
            "userName": email,
            "name": {"givenName": name.0, "familyName": name.1},
            "emails": [{"value": email, "type": "work", "primary": true}],
        });
        let answer = self.scim(Method::POST, "/Users", Some(&user)).await;
        assert_eq!(answer.status, 201, "{email}: {}", answer.text());
        answer.json()
    }
}
