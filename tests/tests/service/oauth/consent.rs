//! The consent, page by page, as bytes: what is shown, what is sent, and where the browser goes.
//! That browsers and people get along with it is shown in [`super::browser`].

use eddyline_tests::{
    CALLBACK, CSRF, PASSWORD, Page, Robot, Tenant, Visitor, note_secret, on_shared_servers,
};
use url::Url;
use url::form_urlencoded::Serializer;

mod answers;
mod mistakes;
mod out_of_band;
mod outage;
mod places;
mod signing_in;
mod tampering;

on_shared_servers![
    one_is_told_who_asks_for_what_and_who_is_asked,
    every_scope_is_told_in_plain_words,
    nothing_that_an_application_says_is_html,
    everybody_is_asked_every_time,
    every_page_is_hardened_and_keeps_its_address_to_itself,
];

/// Where the application of most tests is.
const SITE: &str = "http://127.0.0.1:9";
/// RFC 7636, appendix B.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The address of the page on which an application asks for this, beside the usual.
fn asks(robot: &Robot, more: &[(&str, &str)]) -> String {
    address(
        &[
            &[
                ("client_id", robot.client_id.as_str()),
                ("response_type", "code"),
            ],
            more,
        ]
        .concat(),
    )
}

fn address(parameters: &[(&str, &str)]) -> String {
    format!(
        "/oauth/authorize?{}",
        Serializer::new(String::new())
            .extend_pairs(parameters)
            .finish()
    )
}

async fn ben(tenant: &Tenant) -> Visitor {
    tenant.server().signed_in(&tenant.ben.email, PASSWORD).await
}

/// The form of a consent page: what a browser would send, but the decision.
#[derive(Debug)]
pub(super) struct Consent {
    action: String,
    fields: Vec<(String, String)>,
}

impl Consent {
    /// Reads a page, which must be one.
    #[track_caller]
    pub(super) fn on(page: &Page) -> Self {
        page.says(200, "value=\"accept\"");
        page.says(200, "value=\"deny\"");
        let form = page
            .text
            .split("<form ")
            .find(|form| form.contains("name=\"decision\""))
            .unwrap();
        let form = form.split("</form>").next().unwrap();
        let inputs = form.split("<input type=\"hidden\" ").skip(1);
        let fields = inputs.map(|input| (attribute(input, "name"), attribute(input, "value")));
        Self {
            action: attribute(form, "action"),
            fields: fields.collect(),
        }
    }

    fn get(&self, name: &str) -> &str {
        self.fields
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// The form with another value in this field; without the field, where there is none.
    fn with(&self, name: &str, value: Option<&str>) -> Self {
        let others = self.fields.iter().filter(|(key, _)| key != name).cloned();
        let fields = others
            .chain(value.map(|value| (name.to_owned(), value.to_owned())))
            .collect();
        Self {
            action: self.action.clone(),
            fields,
        }
    }

    /// Presses one of the buttons.
    pub(super) async fn send(&self, visitor: &mut Visitor, decision: &str) -> Page {
        let body = Serializer::new(String::new())
            .extend_pairs(&self.fields)
            .finish();
        let form = ["Content-Type: application/x-www-form-urlencoded"];
        visitor
            .send(
                "POST",
                &self.action,
                &form,
                &format!("{body}&decision={decision}"),
            )
            .await
    }
}

/// An attribute of the first element of a piece of HTML.
fn attribute(html: &str, name: &str) -> String {
    let (_, rest) = html
        .split_once(&format!("{name}=\""))
        .expect("it has the attribute");
    let mut text = rest.split('"').next().unwrap().to_owned();
    for (code, sign) in [
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#38;", "&"),
    ] {
        text = text.replace(code, sign);
    }
    text
}

/// The page of the consent, for somebody who is signed in.
async fn consent(visitor: &mut Visitor, address: &str) -> Consent {
    Consent::on(&visitor.get(address).await)
}

/// The only value that an address brings back by this name.
#[track_caller]
fn brought(location: &str, name: &str) -> Option<String> {
    let url = Url::parse(location).unwrap();
    let mut found = url
        .query_pairs()
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned());
    let first = found.next();
    assert_eq!(found.next(), None, "{name} in {location}");
    if let Some(code) = first.as_deref().filter(|_| name == "code") {
        note_secret(code);
    }
    first
}

/// Checks that an application is told this error.
#[track_caller]
fn told(page: &Page, redirect_uri: &str, error: &str, state: Option<&str>) {
    let location = page.sent_on();
    assert!(location.starts_with(redirect_uri), "{location}");
    assert_eq!(
        brought(location, "error").as_deref(),
        Some(error),
        "{location}"
    );
    assert!(
        brought(location, "error_description").is_some(),
        "{location}"
    );
    assert_eq!(brought(location, "state").as_deref(), state, "{location}");
    assert_eq!(brought(location, "code"), None, "{location}");
}

/// What keeps a page to itself, with the sites to which its forms may lead beside ours.
#[track_caller]
fn is_hardened(page: &Page, forms: &str) {
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'{forms}; \
         frame-ancestors 'none'; base-uri 'none'"
    );
    for (name, value) in [
        ("content-security-policy", policy.as_str()),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("access-control-allow-origin", ""),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
}

/// Shows: 5.5
async fn one_is_told_who_asks_for_what_and_who_is_asked(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let robot = tenant.server().robot(&neighbour.name, &[]);
    let mut ben = ben(&tenant).await;
    let page = ben.get(&asks(&robot, &[])).await;
    for part in [
        "<h1><bdi>Robot</bdi> wants to access your account</h1>",
        &format!(
            "an application of <bdi><strong>{}</strong></bdi>.",
            neighbour.name
        ),
        "<li>Read your flows, and write in them as you</li>",
        "<li>Read your private conversations, and write in them as you</li>",
        &format!("<strong>ben</strong> ({})", tenant.ben.email),
        "you’ll be sent to <strong>127.0.0.1:9</strong>",
        ">Allow</button>",
        ">Deny</button>",
    ] {
        page.says(200, part);
    }
    assert_eq!(page.text.matches("<li>").count(), 2, "{}", page.text);
    assert!(
        !page.text.contains("<img") && !page.text.contains("<script"),
        "{}",
        page.text
    );
    assert_eq!(Consent::on(&page).get("csrf"), ben.cookie(CSRF).unwrap());
    let head = ben.send("HEAD", &asks(&robot, &[]), &[], "").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

async fn every_scope_is_told_in_plain_words(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let all = "flow private manage profile offline_access integration";
    let page = ben.get(&asks(&robot, &[("scope", all)])).await;
    page.says(200, "<li>Act for you also when you are not there</li>");
    assert_eq!(page.text.matches("<li>").count(), 6, "{}", page.text);
    let visible = page.text.split("<form").next().unwrap();
    assert!(!visible.contains("offline_access"), "{visible}");
    let page = ben.get(&asks(&robot, &[("scope", "profile")])).await;
    page.says(200, "<li>See and change your profile</li>");
    assert_eq!(page.text.matches("<li>").count(), 1, "{}", page.text);
}

async fn nothing_that_an_application_says_is_html(tenant: Tenant) {
    let name = "<b>Robot</b> \"&amp;\"";
    let who = [
        "app",
        "create",
        "--org",
        &tenant.name,
        "--name",
        name,
        "--redirect-uri",
        CALLBACK,
    ];
    let application = tenant.server().admin(&who);
    let id = ("client_id", application["client_id"].as_str().unwrap());
    let mut ben = ben(&tenant).await;
    let odd = "\"><script>alert(1)</script>";
    let page = ben
        .get(&address(&[
            id,
            ("response_type", "code"),
            ("state", odd),
            (odd, odd),
        ]))
        .await;
    page.says(200, "&#60;b&#62;Robot&#60;/b&#62;");
    assert!(
        !page.text.contains("<script") && !page.text.contains("<b>"),
        "{}",
        page.text
    );
    assert_eq!(Consent::on(&page).get(odd), odd);
}

async fn everybody_is_asked_every_time(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    for _ in 0..2 {
        let form = consent(&mut ben, &asks(&robot, &[("prompt", "none")])).await;
        assert!(brought(form.send(&mut ben, "accept").await.sent_on(), "code").is_some());
    }
}

async fn every_page_is_hardened_and_keeps_its_address_to_itself(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let (mut ben, mut stranger) = (ben(&tenant).await, tenant.server().visitor());
    let page = ben.get(&asks(&robot, &[("redirect_uri", CALLBACK)])).await;
    is_hardened(&page, &format!(" {SITE} https:"));
    let form = Consent::on(&page);
    for (decision, status) in [("accept", 303), ("deny", 303), ("", 400)] {
        let answer = form.send(&mut ben, decision).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        is_hardened(&answer, "");
    }
    is_hardened(&ben.get("/oauth/authorize").await, "");
    is_hardened(&ben.get(&asks(&robot, &[("scope", "none")])).await, "");
    is_hardened(&stranger.get(&asks(&robot, &[])).await, "");
    is_hardened(&stranger.get("/oauth/authorize/none").await, "");
    is_hardened(&ben.get("/oauth/authorize/none").await, "");
    let form = consent(
        &mut ben,
        &asks(&robot, &[("redirect_uri", "urn:ietf:wg:oauth:2.0:oob")]),
    )
    .await;
    let shown = form.send(&mut ben, "accept").await;
    is_hardened(&shown, "");
    is_hardened(&ben.get(shown.sent_on()).await, "");
    is_hardened(&form.send(&mut ben, "deny").await, "");
}
