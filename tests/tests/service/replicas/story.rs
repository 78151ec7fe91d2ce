//! What happens: a few people in two flows, who do what they please.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Dice, Tenant};
use serde_json::json;

const FLOWS: [&str; 2] = ["main", "side"];

pub(super) struct Story<'t> {
    tenant: &'t Tenant,
    others: [Caller; 2],
}

impl<'t> Story<'t> {
    /// Two are in `main`; anybody of the organization can come into both flows.
    pub(super) async fn begin(tenant: &'t Tenant) -> Self {
        tenant.flow("side", &[&tenant.ada]);
        let others = [tenant.user("cleo"), tenant.user("dora")];
        let story = Self { tenant, others };
        for flow in FLOWS {
            tenant
                .ada
                .does(
                    Method::PUT,
                    &story.flow(flow),
                    &json!({"access_mode": "organization"}),
                )
                .await;
        }
        story
    }

    pub(super) fn people(&self) -> [&Caller; 4] {
        [
            &self.tenant.ada,
            &self.tenant.ben,
            &self.others[0],
            &self.others[1],
        ]
    }

    fn flow(&self, name: &str) -> String {
        format!("/flows/{}/{name}", self.tenant.name)
    }

    /// Somebody tries something, and may be refused. Tells what it was.
    pub(super) async fn step(&self, dice: &mut Dice) -> String {
        let person = self.people()[dice.below(4)];
        let (method, path, body) = self.deed(dice, person);
        // Few stay out for long.
        let person = if body.get("disabled").is_some() {
            &self.tenant.ada
        } else {
            person
        };
        let answer = person.send(method.clone(), &path, &body).await;
        assert!(
            answer.status.as_u16() < 500,
            "{method} {path} {body}: {}",
            answer.text()
        );
        format!(
            "{} by {}: {method} {path} {body} {}",
            person.id, person.email, answer.status
        )
    }

    fn deed(&self, dice: &mut Dice, person: &Caller) -> (Method, String, Json) {
        let flow = self.flow(dice.pick(&FLOWS));
        let other = self.people()[dice.below(4)].id;
        let private = format!("/private/{other}");
        let (message, late) = (1 + dice.below(12), 8 + dice.below(30));
        let message = if dice.one_in(2) { message } else { late };
        match dice.below(20) {
            0..=4 => (Method::POST, format!("{flow}/messages"), chat(dice)),
            5 => (
                Method::POST,
                format!("{flow}/messages/{message}/comments"),
                json!({"content": text(dice)}),
            ),
            6 | 7 => (
                Method::PUT,
                format!("{flow}/messages/{message}"),
                json!({"content": text(dice)}),
            ),
            8 => (
                Method::DELETE,
                format!("{flow}/messages/{message}"),
                Json::Null,
            ),
            9 => (
                Method::PUT,
                format!("{flow}/messages/{message}"),
                json!({"tags": []}),
            ),
            10 => (
                Method::PUT,
                format!("{flow}/read"),
                json!({"message": message}),
            ),
            11 | 12 => (Method::PUT, flow, json!({"open": true})),
            13 => (
                Method::DELETE,
                format!("{flow}/users/{}", person.id),
                Json::Null,
            ),
            14 => (
                Method::PUT,
                format!("{flow}/users/{other}"),
                json!({"disabled": dice.one_in(3)}),
            ),
            15 => (
                Method::PUT,
                format!("/users/{}", person.id),
                json!({"nick": nick(dice, person)}),
            ),
            16 | 17 => (Method::POST, format!("{private}/messages"), chat(dice)),
            18 if dice.one_in(2) => (
                Method::PUT,
                format!("{private}/read"),
                json!({"message": message}),
            ),
            18 => (
                Method::DELETE,
                format!("{private}/messages/{message}"),
                Json::Null,
            ),
            _ => (
                Method::PUT,
                format!("{private}/messages/{message}"),
                json!({"content": text(dice)}),
            ),
        }
    }
}

fn chat(dice: &mut Dice) -> Json {
    json!({"event": "message", "content": text(dice)})
}

fn text(dice: &mut Dice) -> String {
    let whom = [
        "ada",
        "ben",
        "@ada",
        "@ben",
        "@cleo",
        "@dora",
        "@everyone",
        "@all",
        "#todo",
        "https://example.org",
    ];
    let words = ["hello", "please look", "done"];
    let mut text = dice.pick(&words).to_owned();
    for _ in 0..dice.below(3) {
        text = format!("{text} {}", dice.pick(&whom));
    }
    text
}

/// One of two names that are the person's own.
fn nick(dice: &mut Dice, person: &Caller) -> String {
    let first = person.email.split('@').next().unwrap();
    if dice.one_in(2) {
        first.to_owned()
    } else {
        format!("{first}2")
    }
}
