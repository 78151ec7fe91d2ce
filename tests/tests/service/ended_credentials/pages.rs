//! Every form of the pages. One table names them all ([`FORMS`]); a form that has no row fails.

use std::collections::BTreeSet;
use std::path::Path;

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, PASSWORD, Robot, Tenant, Visitor, on_shared_servers};
use serde_json::json;

use crate::avatars::png;
use crate::notifications::{AUTH, P256DH};

on_shared_servers![
    every_form_has_a_row,
    forms_of_a_session_that_ended_do_nothing,
    forms_that_were_begun_before_a_new_password_do_nothing,
    forms_of_somebody_who_was_made_inactive_do_nothing,
];

/// The form that is sent in parts, with a picture.
const UPLOAD: &str = "/account/picture";
const NEW_PASSWORD: &str = "seventeen green umbrellas";

/// A form: the route it is sent to, and its fields, with what stands in braces filled in.
struct Form {
    route: &'static str,
    path: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

const fn form(
    route: &'static str,
    path: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> Form {
    Form {
        route,
        path,
        fields,
    }
}

/// All forms of those who are signed in.
const FORMS: &[Form] = &[
    form(
        "/account",
        "/account",
        &[
            ("part", "profile"),
            ("name", "Changed"),
            ("nick", "changed"),
        ],
    ),
    form(
        "/account",
        "/account",
        &[("part", "email"), ("email", "thief@evil.example")],
    ),
    form(
        "/account",
        "/account",
        &[
            ("part", "password"),
            ("current_password", PASSWORD),
            ("password", "a thief's own umbrella"),
        ],
    ),
    form("/account", "/account", &[("part", "no-picture")]),
    form(UPLOAD, UPLOAD, &[]),
    form(
        "/account/notifications",
        "/account/notifications",
        &[("level", "all"), ("shows_text", "1")],
    ),
    form(
        "/app/-/push",
        "/app/-/push",
        &[
            ("do", "subscribe"),
            ("endpoint", "https://evil.example/push"),
            ("p256dh", P256DH),
            ("auth", AUTH),
        ],
    ),
    form(
        "/account/applications",
        "/account/applications",
        &[("application", "{application}")],
    ),
    form(
        "/account/tokens",
        "/account/tokens",
        &[("name", "for ever")],
    ),
    form(
        "/account/tokens/{token}",
        "/account/tokens/{token}",
        &[("do", "rename"), ("name", "changed")],
    ),
    form(
        "/account/tokens/{token}",
        "/account/tokens/{token}",
        &[("do", "end")],
    ),
    form(
        "/account/sessions",
        "/account/sessions",
        &[("do", "end-others")],
    ),
    form(
        "/account/organizations/{organization}",
        "/account/organizations/{organization}",
        &[("user", "{user}"), ("application", "{application}")],
    ),
    form(
        "/developer",
        "/developer",
        &[
            ("organization", "{number}"),
            ("name", "New"),
            ("redirect_uri", "https://x.example/cb"),
        ],
    ),
    form(
        "/developer/{application}",
        "/developer/{application}",
        &[
            ("name", "Changed"),
            ("redirect_uri", "https://evil.example/cb"),
        ],
    ),
    form(
        "/developer/{application}/secret",
        "/developer/{application}/secret",
        &[],
    ),
    form(
        "/developer/{application}/remove",
        "/developer/{application}/remove",
        &[],
    ),
    form(
        "/app/{organization}/{flow}/settings",
        "/app/{organization}/main/settings",
        &[("do", "save"), ("name", "Taken"), ("description", "Over")],
    ),
    form(
        "/app/{organization}/settings/applications",
        "/app/{organization}/settings/applications",
        &[("user", "{user}"), ("application", "{application}")],
    ),
    form(
        "/app/{organization}/settings",
        "/app/{organization}/settings",
        &[("name", "Taken Over")],
    ),
    form(
        "/app/{organization}/settings/flows/new",
        "/app/{organization}/settings/flows/new",
        &[("name", "Taken Over")],
    ),
    form(
        "/app/{organization}/settings/identity-provider",
        "/app/{organization}/settings/identity-provider",
        &[],
    ),
    form(
        "/app/{organization}/settings/identity-provider/token",
        "/app/{organization}/settings/identity-provider/token",
        &[],
    ),
    form(
        "/app/{organization}/settings/identity-provider/disconnect",
        "/app/{organization}/settings/identity-provider/disconnect",
        &[],
    ),
    form(
        "/app/{organization}/settings/audit/download",
        "/app/{organization}/settings/audit/download",
        &[("format", "csv")],
    ),
    form(
        "/app/{organization}/settings/people/{user}/administrator",
        "/app/{organization}/settings/people/{ben}/administrator",
        &[("role", "administrator")],
    ),
    form(
        "/app/{organization}/settings/deletion",
        "/app/{organization}/settings/deletion",
        &[("do", "delete"), ("name", "{organization}")],
    ),
    form(
        "/app/{organization}/settings/people/{user}",
        "/app/{organization}/settings/people/{ben}",
        &[],
    ),
    form(
        "/app/{organization}/{flow}/settings/leave",
        "/app/{organization}/main/settings/leave",
        &[],
    ),
    form(
        "/app/{organization}/{flow}/settings/archive",
        "/app/{organization}/main/settings/archive",
        &[],
    ),
    form(
        "/app/{organization}/{flow}/settings/members",
        "/app/{organization}/main/settings/members",
        &[("do", "block"), ("user", "{ben}"), ("sure", "1")],
    ),
    form(
        "/app/{organization}/{flow}/settings/invitations",
        "/app/{organization}/main/settings/invitations",
        &[("do", "invite"), ("list", "mallory@evil.example")],
    ),
    form(
        "/app/{organization}/{flow}/settings/joining",
        "/app/{organization}/main/settings/joining",
        &[("do", "choose"), ("access_mode", "organization")],
    ),
    form(
        "/app/{organization}/{flow}/settings/notifications",
        "/app/{organization}/main/settings/notifications",
        &[("level", "nothing")],
    ),
    form(
        "/app/{organization}/{flow}/settings/sources",
        "/app/{organization}/main/settings/sources",
        &[("source", "{source}"), ("sure", "1")],
    ),
    form(
        "/app/{organization}/{flow}/settings/sources/new",
        "/app/{organization}/main/settings/sources/new",
        &[("name", "Mallory")],
    ),
    form(
        "/invitations/{link}",
        "/invitations/{invitation}",
        &[("do", "join")],
    ),
    form(
        "/oauth/authorize",
        "/oauth/authorize",
        &[
            ("response_type", "code"),
            ("client_id", "{client}"),
            ("decision", "accept"),
        ],
    ),
];

/// Those that need no session: a password or the secret of a mailed link is shown in the form
/// itself, or the session ends by it.
const WITHOUT_SESSION: &[&str] = &[
    "/sign-in",
    "/sign-in/{link}",
    "/sign-out",
    "/password",
    "/password/{link}",
    "/email/{link}",
];

async fn every_form_has_a_row(_: Tenant) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/web/src/pages/mod.rs");
    let source = std::fs::read_to_string(source).unwrap();
    // The list of pages has no other texts than their paths.
    let (_, list) = source.split_once("fn pages()").unwrap();
    let (list, _) = list.split_once("\n}\n").unwrap();
    let pages: Vec<&str> = list.split('"').skip(1).collect();
    let takes_forms = |page: &&[&str]| page[1].contains("post(");
    let served: BTreeSet<&str> = pages
        .chunks_exact(2)
        .filter(takes_forms)
        .map(|page| page[0])
        .collect();
    let named: BTreeSet<&str> = FORMS
        .iter()
        .map(|form| form.route)
        .chain(WITHOUT_SESSION.iter().copied())
        .collect();
    assert_eq!(served, named);
    assert!(served.len() > 15, "{served:?}");
}

/// An administrator who has everything that forms are about.
struct Stage<'t> {
    tenant: &'t Tenant,
    victim: Caller,
    robot: Robot,
    source: String,
    invitation: String,
    number: String,
}

impl<'t> Stage<'t> {
    async fn set(tenant: &'t Tenant) -> Self {
        let victim = tenant.administrator("vic");
        let users = tenant.path("/users");
        tenant
            .ada
            .does(Method::POST, &users, &json!({"id": victim.id}))
            .await;
        let robot = tenant.server().robot(&tenant.name, &[]);
        robot.by_password(&victim, "flow offline_access").await;
        let line = [
            "source",
            "create",
            "--flow",
            &tenant.main,
            "--app",
            &robot.id,
            "--name",
            "Same",
        ];
        let source = tenant.server().admin(&line)["id"]
            .as_i64()
            .unwrap()
            .to_string();
        let side = format!("/flows/{}/side", tenant.name);
        tenant.flow("side", &[&tenant.ada]);
        let address = format!("guest@{}.example", tenant.name);
        let path = format!("{side}/invitations");
        tenant
            .ada
            .does(Method::POST, &path, &json!({"email": address}))
            .await;
        let letter = tenant.server().letter(&address, 1).await;
        let invitation = letter.link().rsplit('/').next().unwrap().to_owned();
        let number = tenant.ada.get(&tenant.path("")).await["organization"]["id"].to_string();
        Self {
            tenant,
            victim,
            robot,
            source,
            invitation,
            number,
        }
    }

    fn fill(&self, text: &str, token: &str) -> String {
        text.replace("{application}", &self.robot.id)
            .replace("{client}", &self.robot.client_id)
            .replace("{organization}", &self.tenant.name)
            .replace("{number}", &self.number)
            .replace("{ben}", &self.tenant.ben.id.to_string())
            .replace("{user}", &self.victim.id.to_string())
            .replace("{source}", &self.source)
            .replace("{invitation}", &self.invitation)
            .replace("{token}", token)
    }

    async fn signed_in(&self, password: &str) -> Visitor {
        self.tenant
            .server()
            .signed_in(&self.victim.email, password)
            .await
    }

    /// All that the forms could change, as the victim and an administrator see it.
    async fn state(&self, password: &str) -> Vec<String> {
        let mut state = Vec::new();
        let mut visitor = self.signed_in(password).await;
        for path in [
            "/account",
            "/account/applications",
            "/account/notifications",
            "/account/tokens",
            "/developer",
            "/developer/{application}",
            "/app",
            "/app/{organization}/settings",
            "/app/{organization}/settings/people",
            "/app/{organization}/settings/applications",
            "/app/{organization}/settings/identity-provider",
            "/app/{organization}/settings/audit?what=audit.export",
            "/app/{organization}/main/settings",
            "/app/{organization}/main/settings/members",
            "/app/{organization}/main/settings/invitations",
            "/app/{organization}/main/settings/joining",
            "/app/{organization}/main/settings/sources",
            "/app/{organization}/main/settings/notifications",
        ] {
            let page = visitor.get(&self.fill(path, "")).await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            let csrf = visitor.cookie(eddyline_tests::CSRF).unwrap().to_owned();
            // Where the stream of the page goes on is no state of the form's.
            let event = page.between("data-event=\"", "\"").to_owned();
            state.push(page.text.replace(&csrf, "").replace(&event, ""));
        }
        for path in ["/flows/all", "/organizations", "/users"] {
            state.push(self.tenant.ada.get(path).await.to_string());
        }
        state
    }

    /// Begins every form, has `end` end the session, and finishes the forms.
    async fn check(&self, ends_tokens: bool, end: impl AsyncFnOnce(), password: &str) {
        let mut thief = self.signed_in(PASSWORD).await;
        let tokens = thief.get("/account/tokens").await;
        let token = tokens.between("href=\"/account/tokens/", "\"").to_owned();
        let before = self.state(PASSWORD).await;
        let mut begun = Vec::new();
        for form in FORMS {
            let fields: Vec<(&str, String)> = form
                .fields
                .iter()
                .map(|(name, value)| (*name, self.fill(value, &token)))
                .collect();
            let fields: Vec<(&str, &str)> = fields
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            let path = self.fill(form.path, &token);
            let request = match form.route {
                UPLOAD => thief.upload_slowly(&path, "avatar", &png(64)).await,
                _ => thief.post_slowly(&path, &fields).await,
            };
            begun.push((form, request));
        }
        end().await;
        for (form, request) in begun {
            let page = request.finish().await;
            let (status, to) = (page.status, page.header("location").to_owned());
            let refused = status == 403 || (status == 303 && to.starts_with("/sign-in?next="));
            assert!(
                refused,
                "{} {:?}: {status} {to} {}",
                form.route, form.fields, page.text
            );
        }
        let after = self.state(password).await;
        for (before, after) in before.iter().zip(&after) {
            if !ends_tokens {
                assert_eq!(before, after);
            }
        }
        let me = self
            .tenant
            .ada
            .get(&format!("/users/{}", self.victim.id))
            .await;
        assert_eq!(
            (&me["email"], &me["nick"]),
            (&json!(self.victim.email), &json!("vic"))
        );
        assert!(
            after
                .iter()
                .all(|page| !page.contains("for ever") && !page.contains("evil.example"))
        );
    }
}

async fn forms_of_a_session_that_ended_do_nothing(tenant: Tenant) {
    let stage = Stage::set(&tenant).await;
    let mut owner = stage.signed_in(PASSWORD).await;
    let end = async || {
        let page = owner
            .post("/account/sessions", &[("do", "end-others")])
            .await;
        assert_eq!(page.sent_on(), "/account/sessions?done=others");
    };
    stage.check(false, end, PASSWORD).await;
}

async fn forms_that_were_begun_before_a_new_password_do_nothing(tenant: Tenant) {
    let stage = Stage::set(&tenant).await;
    let end = async || {
        let change = json!({"password": NEW_PASSWORD, "current_password": PASSWORD});
        stage.victim.does(Method::PUT, "/user", &change).await;
    };
    stage.check(false, end, NEW_PASSWORD).await;
}

async fn forms_of_somebody_who_was_made_inactive_do_nothing(tenant: Tenant) {
    let stage = Stage::set(&tenant).await;
    let set_active = |active: &str| -> Json {
        let line = [
            "user",
            "set-active",
            "--email",
            &stage.victim.email,
            "--active",
            active,
        ];
        stage.tenant.server().admin(&line)
    };
    let end = async || {
        set_active("false");
        set_active("true");
    };
    stage.check(true, end, PASSWORD).await;
}
