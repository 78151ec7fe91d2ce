//! The settings of a flow: what each page shows to each kind of visitor, and what its forms change.

use eddyline_client::Method;
use eddyline_tests::{Caller, PASSWORD, Page, Tenant, Visitor, on_shared_servers};
use serde_json::{Value as Json, json};
use url::form_urlencoded::Serializer;

on_shared_servers![
    each_page_is_for_those_who_may_see_its_subject,
    name_and_description_are_changed_by_those_who_configure_the_flow,
    what_cannot_be_a_name_or_a_description_is_told_at_the_field,
    a_flow_is_joined_and_left_on_its_pages,
    a_flow_is_archived_and_reopened_on_its_pages,
    a_flow_that_its_maker_archives_is_gone_for_the_maker,
    a_member_of_the_organization_is_added_to_the_flow,
    who_cannot_be_added_is_told_at_the_field,
    members_are_blocked_and_come_back,
    addresses_are_invited_and_invitations_withdrawn,
    addresses_that_cannot_be_invited_stay_in_the_form,
    more_invitations_than_a_page_shows_are_on_the_next,
    who_may_join_is_chosen_in_words,
    a_source_is_removed_on_its_page,
    a_script_posts_with_a_token_that_a_page_makes,
    applications_that_can_be_set_up_are_listed_beside_the_sources,
    an_inactive_organization_has_no_forms,
    a_form_with_an_unknown_purpose_is_refused,
];

/// The pages of the settings by the ends of their paths, as the list beside them has them.
const PAGES: [(&str, &str); 6] = [
    ("", "General"),
    ("/members", "Members"),
    ("/invitations", "Invitations"),
    ("/joining", "Who may join"),
    ("/sources", "Sources"),
    ("/notifications", "Notifications"),
];

fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings{rest}", tenant.main)
}

async fn signed_in(tenant: &Tenant, caller: &Caller) -> Visitor {
    tenant.server().signed_in(&caller.email, PASSWORD).await
}

/// The browsers of those who are not in the flow, each with the status of what is refused.
struct Outsiders([(&'static str, Visitor, u16); 3]);

impl Outsiders {
    /// Another member of the organization, a member of another one, and a visitor who is signed
    /// out.
    async fn of(tenant: &Tenant) -> Self {
        let member = signed_in(tenant, &tenant.user("outsider")).await;
        let stranger = signed_in(tenant, &tenant.neighbour().ben).await;
        let visitor = tenant.server().visitor();
        Self([
            ("member", member, 403),
            ("stranger", stranger, 404),
            ("signed out", visitor, 303),
        ])
    }

    /// Checks that none of them can send a form.
    async fn are_refused(&mut self, path: &str, fields: &[(&str, &str)]) {
        for (who, visitor, status) in &mut self.0 {
            let page = visitor.post(path, fields).await;
            assert_eq!(page.status, *status, "{who} at {path}: {}", page.text);
            if *status == 303 {
                assert!(page.sent_on().starts_with("/sign-in?next="), "{path}");
            }
        }
    }
}

async fn flow(tenant: &Tenant) -> Json {
    tenant.ada.get(&tenant.path("")).await
}

async fn change(tenant: &Tenant, changes: Json) {
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &changes)
        .await;
}

/// The addresses of the invitations that are pending.
async fn invited(tenant: &Tenant) -> Vec<String> {
    let pending = tenant.ada.get(&tenant.path("/invitations")).await;
    let pending = pending.as_array().unwrap().iter();
    pending
        .map(|one| one["email"].as_str().unwrap().to_owned())
        .collect()
}

/// The number of the only form of a page that is about this.
fn hidden(page: &Page, name: &str) -> String {
    page.between(&format!("name=\"{name}\" value=\""), "\"")
        .to_owned()
}

#[track_caller]
fn lacks(page: &Page, text: &str) {
    assert!(!page.text.contains(text), "{text} in {}", page.text);
}

async fn each_page_is_for_those_who_may_see_its_subject(tenant: Tenant) {
    let administrator = tenant.administrator("root");
    let outsider = tenant.user("eve");
    let neighbour = tenant.neighbour();
    for (mode, expected) in [
        (
            "invitation",
            [
                ("ada", &tenant.ada, [200; 6]),
                ("ben", &tenant.ben, [200; 6]),
                (
                    "administrator",
                    &administrator,
                    [200, 200, 403, 200, 403, 403],
                ),
                ("outsider", &outsider, [403; 6]),
                ("stranger", &neighbour.ben, [404; 6]),
            ],
        ),
        (
            "organization",
            [
                ("ada", &tenant.ada, [200; 6]),
                ("ben", &tenant.ben, [200; 6]),
                (
                    "administrator",
                    &administrator,
                    [200, 200, 403, 200, 403, 403],
                ),
                ("outsider", &outsider, [200, 200, 403, 200, 403, 403]),
                ("stranger", &neighbour.ben, [404; 6]),
            ],
        ),
    ] {
        change(&tenant, json!({"access_mode": mode})).await;
        for (who, caller, statuses) in expected {
            let mut visitor = signed_in(&tenant, caller).await;
            for ((rest, label), status) in PAGES.into_iter().zip(statuses) {
                let page = visitor.get(&path(&tenant, rest)).await;
                assert_eq!(
                    page.status, status,
                    "{who} at {rest}, {mode}: {}",
                    page.text
                );
                if status != 200 {
                    continue;
                }
                page.is_named_throughout(rest);
                let current = format!("aria-current=\"page\">{label}</a>");
                assert_eq!(
                    page.text.matches(&current).count(),
                    1,
                    "{rest}: {}",
                    page.text
                );
                for ((rest, label), status) in PAGES.into_iter().zip(statuses) {
                    let link = format!("href=\"{}\"", path(&tenant, rest));
                    let listed = page.text.contains(&link);
                    assert_eq!(listed, status == 200, "{label} for {who}, {mode}");
                }
            }
        }
    }
    let mut visitor = tenant.server().visitor();
    for (rest, _) in PAGES {
        let path = path(&tenant, rest);
        let next = format!("/sign-in?next={}", path.replace('/', "%2F"));
        assert_eq!(visitor.get(&path).await.sent_on(), next);
    }
}

async fn name_and_description_are_changed_by_those_who_configure_the_flow(tenant: Tenant) {
    let here = path(&tenant, "");
    let fields = [
        ("do", "save"),
        ("name", "Parlour"),
        ("description", "For <b>talks</b>\r\nand tea"),
    ];
    let before = flow(&tenant).await;
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    lacks(&ben.get(&here).await, "name=\"description\"");
    let refused = ben.post(&here, &fields).await;
    refused.says(403, "You can’t open this page");
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &fields).await;
    assert_eq!(flow(&tenant).await["name"], before["name"]);

    let mut ada = signed_in(&tenant, &tenant.ada).await;
    ada.get(&here).await.says(200, "name=\"description\"");
    let sent = ada.post(&here, &fields).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=saved"));
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "<h1>Parlour</h1>");
    page.says(200, "Name and description have been saved.");
    page.says(200, "For &#60;b&#62;talks&#60;/b&#62;\nand tea</textarea>");
    ben.get(&here).await.says(200, "For &#60;b&#62;talks");
    let after = flow(&tenant).await;
    assert_eq!(after["name"], "Parlour");
    assert_eq!(after["description"], "For <b>talks</b>\nand tea");
    assert_eq!(after["access_mode"], before["access_mode"]);
    let cleared = [("do", "save"), ("name", "Parlour"), ("description", "")];
    ada.post(&here, &cleared).await.sent_on();
    assert_eq!(flow(&tenant).await["description"], Json::Null);
}

async fn what_cannot_be_a_name_or_a_description_is_told_at_the_field(tenant: Tenant) {
    let here = path(&tenant, "");
    let before = flow(&tenant).await;
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let (name, most) = ("n".repeat(100), format!("{}\r\n", "d".repeat(999)));
    let (long_name, more) = ("n".repeat(101), "d".repeat(1001));
    for (name, description, told) in [
        ("", "", "<a href=\"#name\">Name can&#39;t be blank</a>"),
        (" ", "", "<a href=\"#name\">Name can&#39;t be blank</a>"),
        (&long_name, "", "<a href=\"#name\">Name is too long"),
        (
            "Main",
            &more,
            "<a href=\"#description\">Description is too long",
        ),
    ] {
        let fields = [("do", "save"), ("name", name), ("description", description)];
        let page = ada.post(&here, &fields).await;
        page.says(400, told);
        page.says(400, "<title>Problem: ");
        page.is_named_throughout(&here);
        super::is_hardened(&page, &here);
        assert!(page.text.contains(&format!("value=\"{name}\"")), "{name}");
    }
    assert_eq!(flow(&tenant).await, before);
    let fields = [("do", "save"), ("name", &*name), ("description", &*most)];
    ada.post(&here, &fields).await.sent_on();
    assert_eq!(flow(&tenant).await["name"], *name);
}

async fn a_flow_is_joined_and_left_on_its_pages(tenant: Tenant) {
    let here = path(&tenant, "");
    let leave = path(&tenant, "/leave");
    let eve = tenant.user("eve");
    let mut visitor = signed_in(&tenant, &eve).await;
    visitor
        .post(&here, &[("do", "join")])
        .await
        .says(403, "You can’t open this page");
    change(&tenant, json!({"access_mode": "organization"})).await;
    let page = visitor.get(&here).await;
    page.says(200, "You are not in it.");
    page.says(200, ">Join this flow</button>");
    lacks(&page, "Leave this flow");
    visitor.get(&leave).await.says(404, "Page not found");
    visitor.post(&leave, &[]).await.says(404, "Page not found");
    let sent = visitor.post(&here, &[("do", "join")]).await;
    assert_eq!(sent.sent_on(), format!("/app/{}", tenant.main));
    let open = eve.get(&tenant.path("")).await;
    assert_eq!(
        (&open["joined"], &open["open"]),
        (&json!(true), &json!(true))
    );

    let page = visitor.get(&here).await;
    lacks(&page, "Join this flow");
    page.says(200, &format!("href=\"{leave}\""));
    let asked = visitor.get(&leave).await;
    asked.says(200, "<h1>Leave main</h1>");
    asked.says(200, "You can join it again at any time.");
    asked.is_named_throughout(&leave);
    assert_eq!(eve.get(&tenant.path("")).await["joined"], true);
    let sent = visitor.post(&leave, &[]).await;
    assert_eq!(sent.sent_on(), "/app?done=left");
    let page = visitor.get("/app?done=left").await;
    page.says(200, "You have left the flow.");
    assert_eq!(eve.get(&tenant.path("")).await["joined"], false);
    let mut stranger = signed_in(&tenant, &tenant.neighbour().ben).await;
    for fields in [&[("do", "join")][..], &[]] {
        stranger
            .post(&here, fields)
            .await
            .says(if fields.is_empty() { 400 } else { 404 }, "<h1>");
    }
}

async fn a_flow_is_archived_and_reopened_on_its_pages(tenant: Tenant) {
    let (here, archive) = (path(&tenant, ""), path(&tenant, "/archive"));
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    lacks(&ben.get(&here).await, &archive);
    for page in [ben.get(&archive).await, ben.post(&archive, &[]).await] {
        page.says(403, "You can’t open this page");
    }
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&archive, &[]).await;
    assert_eq!(flow(&tenant).await["disabled"], false);

    let mut ada = signed_in(&tenant, &tenant.ada).await;
    ada.get(&here)
        .await
        .says(200, &format!("href=\"{archive}\""));
    let asked = ada.get(&archive).await;
    asked.says(200, "<h1>Archive main</h1>");
    asked.is_named_throughout(&archive);
    assert_eq!(
        flow(&tenant).await["disabled"],
        false,
        "reading changes nothing"
    );
    let sent = ada.post(&archive, &[]).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=archived"));
    assert_eq!(flow(&tenant).await["disabled"], true);
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "The flow is archived.");
    page.says(200, ">Reopen this flow</button>");
    page.is_named_throughout(&here);
    ada.get(&archive).await.says(404, "Page not found");
    let reopen = [("do", "reopen")];
    ben.get(&here).await.says(404, "Page not found");
    ben.post(&here, &reopen).await.says(404, "Page not found");
    assert_eq!(flow(&tenant).await["disabled"], true);

    let sent = ada.post(&here, &reopen).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=reopened"));
    ada.get(sent.sent_on())
        .await
        .says(200, "The flow is open again.");
    assert_eq!(flow(&tenant).await["disabled"], false);
    ben.get(&here).await.says(200, "<h1>main</h1>");
}

async fn a_flow_that_its_maker_archives_is_gone_for_the_maker(tenant: Tenant) {
    let flows = format!("/flows/{}", tenant.name);
    tenant
        .ben
        .does(Method::POST, &flows, &json!({"name": "den"}))
        .await;
    let archive = format!("/app/{}/den/settings/archive", tenant.name);
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    ben.get(&archive).await.says(200, "<h1>Archive den</h1>");
    let sent = ben.post(&archive, &[]).await;
    assert_eq!(sent.sent_on(), "/app?done=archived");
    let page = ben.get("/app?done=archived").await;
    page.says(200, "Administrators can reopen it.");
    let den = tenant.ada.get(&format!("{flows}/den")).await;
    assert_eq!(den["disabled"], true);
}

/// The nicks of those who are in the flow, with whether they are blocked.
async fn people(tenant: &Tenant) -> Vec<(String, bool)> {
    let flow = flow(tenant).await;
    let mut people: Vec<(String, bool)> = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| {
            let nick = user["nick"].as_str().unwrap().to_owned();
            (nick, user["disabled"] == true)
        })
        .collect();
    people.sort();
    people
}

async fn a_member_of_the_organization_is_added_to_the_flow(tenant: Tenant) {
    let here = path(&tenant, "/members");
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    ben.get(&here).await.says(200, "is in this flow.");
    let eve = tenant.user("eve");
    let id = eve.id.to_string();
    let fields = [("do", "add"), ("id", id.as_str())];
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &fields).await;
    assert_eq!(people(&tenant).await.len(), 2);

    let page = ben.get(&here).await;
    page.says(200, &format!("<option value=\"{id}\">"));
    page.says(200, "<h2>2 members</h2>");
    for part in ["@ada", "@ben", "Administrator", ">You<", "/72\" alt=\"\""] {
        page.says(200, part);
    }
    page.is_named_throughout(&here);
    let sent = ben.post(&here, &fields).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=added"));
    let page = ben.get(sent.sent_on()).await;
    page.says(200, "The person is in the flow now.");
    page.says(200, "@eve");
    lacks(&page, &format!("<option value=\"{id}\">"));
    assert_eq!(eve.get(&tenant.path("")).await["joined"], true);
    ben.post(&here, &fields).await.sent_on();
    assert_eq!(people(&tenant).await.len(), 3, "adding again does nothing");
}

async fn who_cannot_be_added_is_told_at_the_field(tenant: Tenant) {
    let here = path(&tenant, "/members");
    let eve = tenant.user("eve");
    let stranger = tenant.neighbour().ben.id.to_string();
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    for (id, told) in [
        ("", "Person can&#39;t be blank"),
        ("none", "Person "),
        ("0", "Person "),
        ("99999999999999999999", "Person "),
        (&*stranger, "Person is not a user of the organization"),
    ] {
        let page = ben.post(&here, &[("do", "add"), ("id", id)]).await;
        page.says(400, &format!("<a href=\"#add-id\">{told}"));
        page.is_named_throughout(&here);
    }
    assert_eq!(people(&tenant).await.len(), 2);
    let known = format!("<option value=\"{}\">", eve.id);
    ben.get(&here).await.says(200, &known);
}

async fn members_are_blocked_and_come_back(tenant: Tenant) {
    let here = path(&tenant, "/members");
    let bert = tenant.member("bert");
    let (bert_id, ada_id) = (bert.id.to_string(), tenant.ada.id.to_string());
    let block = [("do", "block"), ("user", bert_id.as_str()), ("sure", "1")];
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &block).await;

    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let page = ben.get(&here).await;
    assert_eq!(
        hidden(&page, "user"),
        bert_id,
        "no other can be blocked by a member"
    );
    assert_eq!(page.text.matches("name=\"user\"").count(), 1);
    let ada = [("do", "block"), ("user", ada_id.as_str()), ("sure", "1")];
    ben.post(&here, &ada)
        .await
        .says(403, "You can’t open this page");
    for wrong in ["", "x", "-"] {
        ben.post(&here, &[("do", "block"), ("user", wrong)])
            .await
            .says(400, "We couldn’t read this form");
    }
    let unknown = [("do", "block"), ("user", "999999999")];
    ben.post(&here, &unknown).await.says(404, "Page not found");
    // The page asks first.
    let asked = ben.post(&here, &block[..2]).await;
    asked.says(200, "Block bert from main?");
    asked.is_named_throughout(&here);
    assert!(people(&tenant).await.contains(&("bert".to_owned(), false)));

    let sent = ben.post(&here, &block).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=blocked"));
    assert!(people(&tenant).await.contains(&("bert".to_owned(), true)));
    let page = ben.get(sent.sent_on()).await;
    page.says(200, "The person is blocked from the flow.");
    page.says(200, "<h2>Blocked</h2>");
    page.is_named_throughout(&here);
    let mut blocked = signed_in(&tenant, &bert).await;
    let unblock = [("do", "unblock"), ("user", bert_id.as_str())];
    for page in [
        blocked.get(&here).await,
        blocked.post(&here, &unblock).await,
    ] {
        page.says(403, "You can’t open this page");
    }

    let mut ada = signed_in(&tenant, &tenant.ada).await;
    ada.get(&here).await.says(200, "Unblock: ");
    let sent = ada.post(&here, &unblock).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=unblocked"));
    assert!(people(&tenant).await.contains(&("bert".to_owned(), false)));
    let page = ada.get(sent.sent_on()).await;
    lacks(&page, "<h2>Blocked</h2>");
    assert_eq!(
        page.text.matches("name=\"user\"").count(),
        2,
        "an administrator blocks all others"
    );
}

async fn addresses_are_invited_and_invitations_withdrawn(tenant: Tenant) {
    let here = path(&tenant, "/invitations");
    let eve = tenant.user("eve");
    let [gus, ida] = ["gus", "ida"].map(|name| format!("{name}@{}.guests.example", tenant.name));
    let list = format!("Gus <{gus}>,\r\n{ida}\r\n");
    let fields = [
        ("do", "invite"),
        ("list", list.as_str()),
        ("message", " Come <in> "),
    ];
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &fields).await;
    assert_eq!(invited(&tenant).await, Vec::<String>::new());

    let mut ben = signed_in(&tenant, &tenant.ben).await;
    ben.get(&here).await.says(200, "No invitation is pending.");
    let sent = ben.post(&here, &fields).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=sent"));
    assert_eq!(invited(&tenant).await, [gus.clone(), ida.clone()]);
    let letter = tenant.server().letter(&gus, 1).await;
    assert!(letter.text.contains("Come <in>"), "{}", letter.text);
    let page = ben.get(sent.sent_on()).await;
    page.says(200, "The invitations are on their way.");
    page.says(200, &ida);
    page.is_named_throughout(&here);

    let added = [("do", "invite"), ("list", eve.email.as_str())];
    let sent = ben.post(&here, &added).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=added"));
    assert_eq!(eve.get(&tenant.path("")).await["joined"], true);

    let first = hidden(&page, "invitation");
    let withdraw = [("do", "withdraw"), ("invitation", first.as_str())];
    outsiders.are_refused(&here, &withdraw).await;
    assert_eq!(invited(&tenant).await.len(), 2);
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let sent = ada.post(&here, &withdraw).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=withdrawn"));
    assert_eq!(invited(&tenant).await, [ida]);
    ada.get(sent.sent_on()).await.says(200, "Withdraw: ida@");
    ada.post(&here, &withdraw).await.says(404, "Page not found");
    for wrong in ["", "x"] {
        ada.post(&here, &[("do", "withdraw"), ("invitation", wrong)])
            .await
            .says(400, "We couldn’t read this form");
    }
}

async fn addresses_that_cannot_be_invited_stay_in_the_form(tenant: Tenant) {
    let here = path(&tenant, "/invitations");
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let post = |list: &str, message: &str| {
        [
            ("do", "invite".to_owned()),
            ("list", list.to_owned()),
            ("message", message.to_owned()),
        ]
    };
    let long = "m".repeat(1001);
    for (list, message, told) in [
        ("", "", "<a href=\"#list\">E-mail addresses "),
        (
            " \r\n,",
            "",
            "<a href=\"#list\">E-mail addresses can&#39;t be blank",
        ),
        (
            "x@y.example",
            &long,
            "<a href=\"#message\">Message is too long",
        ),
    ] {
        let fields = post(list, message);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let page = ben.post(&here, &fields).await;
        page.says(400, told);
        page.is_named_throughout(&here);
    }
    assert_eq!(invited(&tenant).await, Vec::<String>::new());

    let good = format!("gus@{}.guests.example", tenant.name);
    let list = format!("{good}; <b>none; {}", tenant.ada.email);
    let fields = post(&list, "Hello");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let page = ben.post(&here, &fields).await;
    page.says(400, "The other addresses are invited");
    page.says(
        400,
        &format!(
            "include “{}”, which is in the flow already",
            tenant.ada.email
        ),
    );
    page.says(
        400,
        &format!("\n&#60;b&#62;none\n{}</textarea>", tenant.ada.email),
    );
    page.says(400, "\nHello</textarea>");
    page.is_named_throughout(&here);
    assert_eq!(invited(&tenant).await, [good]);

    let many: Vec<String> = (0..25).map(|number| format!("none-{number}")).collect();
    let fields = [("do", "invite"), ("list", &*many.join("\n"))];
    let page = ben.post(&here, &fields).await;
    page.says(400, "include “none-19”");
    page.says(400, "include 5 more that were refused");
    lacks(&page, "include “none-20”");
}

async fn more_invitations_than_a_page_shows_are_on_the_next(tenant: Tenant) {
    let here = path(&tenant, "/invitations");
    let list: Vec<String> = (0..101)
        .map(|number| format!("g{number}@{}.guests.example", tenant.name))
        .collect();
    let import = tenant.path("/invitations/import");
    tenant
        .ada
        .does(Method::POST, &import, &json!({"list": list.join(",")}))
        .await;
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let page = ben.get(&here).await;
    page.says(200, &list[99]);
    lacks(&page, &list[100]);
    let next = page
        .between("<p><a href=\"", "\">More invitations")
        .to_owned();
    let page = ben.get(&next).await;
    page.says(200, &list[100]);
    lacks(&page, &list[99]);
    lacks(&page, "More invitations");
    ben.get(&format!("{here}?after=none"))
        .await
        .says(200, &list[0]);
}

async fn who_may_join_is_chosen_in_words(tenant: Tenant) {
    let here = path(&tenant, "/joining");
    let choose = |mode| [("do", "choose"), ("access_mode", mode)];
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let page = ben.get(&here).await;
    page.says(200, "Only people who are invited.");
    lacks(&page, "<select");
    lacks(&page, "Join link");
    ben.post(&here, &choose("link"))
        .await
        .says(403, "You can’t open this page");
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &choose("link")).await;
    outsiders.are_refused(&here, &[("do", "replace")]).await;
    assert_eq!(flow(&tenant).await["access_mode"], "invitation");

    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let page = ada.get(&here).await;
    page.says(200, "<option value=\"invitation\" selected>");
    let everyone = format!("Everyone in {}", tenant.name);
    page.says(200, &everyone);
    for mode in ["link", "organization", "invitation"] {
        let sent = ada.post(&here, &choose(mode)).await;
        assert_eq!(sent.sent_on(), format!("{here}?done=changed"));
        let page = ada.get(sent.sent_on()).await;
        page.says(200, &format!("<option value=\"{mode}\" selected>"));
        page.is_named_throughout(&here);
        let flow = flow(&tenant).await;
        assert_eq!(flow["access_mode"], mode);
        match flow["join_url"].as_str() {
            Some(link) => page.says(200, link),
            None => lacks(&page, "Join link"),
        }
    }
    for wrong in ["", "everyone"] {
        let page = ada.post(&here, &choose(wrong)).await;
        page.says(400, "<a href=\"#access_mode\">Who may join ");
        page.is_named_throughout(&here);
    }
    assert_eq!(flow(&tenant).await["access_mode"], "invitation");
}

async fn a_source_is_removed_on_its_page(tenant: Tenant) {
    let here = path(&tenant, "/sources");
    let robot = tenant.server().robot(&tenant.name, &[]);
    let line = [
        "source",
        "create",
        "--flow",
        &tenant.main,
        "--app",
        &robot.id,
        "--name",
        "<Builds>",
    ];
    let source = tenant.server().admin(&line)["id"].to_string();
    let fields = [("source", source.as_str()), ("sure", "1")];
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&here, &fields).await;
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let page = ben.get(&here).await;
    page.says(200, "&#60;Builds&#62;");
    page.is_named_throughout(&here);
    assert_eq!(hidden(&page, "source"), source);
    ben.post(&here, &[("source", "x")])
        .await
        .says(400, "We couldn’t read this form");
    // The page asks first.
    let asked = ben.post(&here, &fields[..1]).await;
    asked.says(200, "Remove &#60;Builds&#62; from main?");
    asked.is_named_throughout(&here);
    let sent = ben.post(&here, &fields).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=removed"));
    let page = ben.get(sent.sent_on()).await;
    page.says(200, "Source removed.");
    page.says(200, "Nothing is connected yet.");
    let sources = tenant.ada.get(&tenant.path("/sources")).await;
    assert_eq!(sources, json!([]));
    ben.post(&here, &fields).await.says(404, "Page not found");
}

async fn a_script_posts_with_a_token_that_a_page_makes(tenant: Tenant) {
    let (sources, new) = (path(&tenant, "/sources"), path(&tenant, "/sources/new"));
    let fields = [("name", "<Weather>")];
    let mut outsiders = Outsiders::of(&tenant).await;
    outsiders.are_refused(&new, &fields).await;
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    ben.get(&new).await.is_named_throughout(&new);
    for name in [String::new(), "x".repeat(101)] {
        let page = ben.post(&new, &[("name", &name)]).await;
        page.says(400, "<a href=\"#name\">Name ");
    }
    let page = ben.post(&new, &fields).await;
    page.says(200, "Token of &#60;Weather&#62;");
    let token = page
        .between("<code class=\"secret\">", "</code>")
        .to_owned();
    // The command on the page of the sources, with the token.
    let page = ben.get(&sources).await;
    let command = page.between("<code>curl ", "</code>");
    assert!(command.starts_with(&format!("{}/messages ", tenant.server().base_url())));
    let decoded = command.replace("&#39;", "'").replace("$TOKEN", &token);
    let parameters: Vec<(String, String)> = decoded
        .split(" -d ")
        .skip(1)
        .map(|each| each.trim_end_matches(['\\', '\n', ' ']).replace('\'', ""))
        .map(|each| {
            let (name, value) = each.split_once('=').expect("a name and a value");
            (name.to_owned(), value.to_owned())
        })
        .collect();
    assert_eq!(parameters.len(), 7);
    let body = Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish();
    let post = async || {
        let headers = [
            "Content-Type: application/x-www-form-urlencoded",
            "X-Service-Wait-For-Message: true",
        ];
        let mut script = tenant.server().visitor();
        script.send("POST", "/messages", &headers, &body).await
    };
    assert_eq!(post().await.status, 200);
    let threads = tenant.path("/threads?application=inbox");
    let thread = tenant.ben.get(&threads).await[0].clone();
    assert_eq!(thread["title"], "Gauge 14");
    assert_eq!(thread["status"], json!({"value": "High", "color": "red"}));
    assert_eq!(thread["source"]["application"], "<Weather>");
    // It ends with its source.
    let source = thread["source"]["id"].to_string();
    let fields = [("source", source.as_str()), ("sure", "1")];
    ben.post(&sources, &fields).await;
    assert_eq!(post().await.status, 410);
}

async fn applications_that_can_be_set_up_are_listed_beside_the_sources(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let page = ben.get(&path(&tenant, "/sources")).await;
    assert!(!page.text.contains("Connect another"), "{}", page.text);
    let organization = hidden(&ben.get("/developer").await, "organization");
    let fields = [
        ("organization", organization.as_str()),
        ("name", "Ledger"),
        ("setup_uri", "https://ledger.example/setup"),
        ("redirect_uri", "https://ledger.example/callback"),
    ];
    let sent = ben.post("/developer", &fields).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let page = ben.get(&path(&tenant, "/sources")).await;
    page.says(200, "Connect another");
    page.says(200, "href=\"https://ledger.example/setup?");
    page.says(200, "<b>Ledger</b>");
}

async fn an_inactive_organization_has_no_forms(tenant: Tenant) {
    tenant.user("eve");
    change(&tenant, json!({"access_mode": "organization"})).await;
    let line = ["org", "update", "--org", &tenant.name, "--active", "false"];
    tenant.server().admin(&line);
    let ben = tenant.ben.id.to_string();
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    for (rest, _) in PAGES {
        let page = ada.get(&path(&tenant, rest)).await;
        assert_eq!(page.status, 200, "{rest}: {}", page.text);
        let forms = page.text.matches("<form method=\"post\"").count();
        // The one that signs out; and what one is notified of is one's own.
        let usable = if rest == "/notifications" { 2 } else { 1 };
        assert_eq!(forms, usable, "{rest}: {}", page.text);
    }
    let new = path(&tenant, "/sources/new");
    let refused = [
        ada.get(&new).await,
        ada.post(&new, &[("name", "Other")]).await,
    ];
    for page in refused {
        page.says(403, "You can’t do that");
    }
    for (rest, fields) in [
        ("", [("do", "save"), ("name", "Other")]),
        ("/members", [("do", "block"), ("user", ben.as_str())]),
        ("/invitations", [("do", "invite"), ("list", "x@y.example")]),
        ("/joining", [("do", "choose"), ("access_mode", "link")]),
    ] {
        let page = ada.post(&path(&tenant, rest), &fields).await;
        page.says(403, "You can’t open this page");
    }
}

async fn a_form_with_an_unknown_purpose_is_refused(tenant: Tenant) {
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let mut visitor = tenant.server().visitor();
    for rest in ["", "/members", "/invitations", "/joining", "/sources"] {
        let here = path(&tenant, rest);
        for fields in [&[][..], &[("do", "nothing")]] {
            ada.post(&here, fields)
                .await
                .says(400, "We couldn’t read this form");
            let sent = visitor.post(&here, fields).await;
            assert!(sent.sent_on().starts_with("/sign-in?next="), "{here}");
        }
    }
}
