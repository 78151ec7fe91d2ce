//! For how long messages are kept, as administrators set it on its page.

use eddyline_tests::{Acme, PASSWORD, Page, Server, Visitor, on_both_databases};
use serde_json::json;

use crate::retention::run_sql;

on_both_databases![
    a_rule_of_an_administrator_deletes_after_the_grace_time_and_can_be_cancelled,
    rules_of_operators_win,
    a_wrong_rule_is_told_at_its_field_and_to_administrators_alone,
];

const PAGE: &str = "/app/acme/settings/retention";
const CHANGE: &str = "/app/acme/settings/retention/change";
const MAIN: &str = "acme/main";
const DAY_MILLIS: i64 = 24 * 3_600_000;

async fn set(ada: &mut Visitor, of: &str, keep: &str, days: &str) -> Page {
    let fields = [("of", of), ("keep", keep), ("days", days)];
    ada.post(CHANGE, &fields).await
}

async fn a_rule_of_an_administrator_deletes_after_the_grace_time_and_can_be_cancelled(
    server: Server,
) {
    let Acme { ada, ben } = server.acme();
    let cara = server.administrator("acme", "cara");
    ada.say(MAIN, "an old word").await;
    run_sql(
        &server,
        &format!("update messages set sent = sent - {}", 2 * DAY_MILLIS),
    );
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    let page = visitor.get(PAGE).await;
    page.says(200, "applies after 30 days");
    page.is_named_throughout(PAGE);
    let asked = visitor.get(&format!("{CHANGE}?of=&keep=days&days=1")).await;
    asked.says(200, "messages older than 1 day are deleted");
    asked.says(200, "Backups and exports from before keep the messages.");
    asked.is_named_throughout("the question");
    let none = server.admin(&["retention", "show"]);
    assert_eq!(none["rules"], json!([]), "it was a question");

    let sent = set(&mut visitor, "", "days", "1").await;
    let page = visitor.get(sent.sent_on()).await;
    page.says(200, "The rule is saved.");
    page.says(200, "For 1 day.");
    for caller in [&ada, &cara] {
        let letter = server.letter(&caller.email, 1).await;
        assert!(letter.text.contains("ada set for how long"), "{letter:?}");
        assert!(letter.text.contains("older than 1 day"), "{letter:?}");
        assert!(letter.link().ends_with(PAGE), "{letter:?}");
    }
    assert_eq!(server.letters_to(&ben.email).len(), 0);
    let shown = server.admin(&["retention", "show"]);
    let rule = &shown["rules"][0];
    assert_eq!(
        (&rule["of"], &rule["days"]),
        (&json!("organization acme"), &json!(1))
    );
    assert_eq!(rule["set_by"], format!("user:{}", ada.id));
    assert!(rule["applies_at"].is_string(), "{shown}");
    let early = server.admin(&["retention", "run"]);
    assert_eq!(early, json!({"deleted": 0, "held": 0}));

    // Another administrator cancels it, and sets it again.
    let mut visitor = server.signed_in(&cara.email, PASSWORD).await;
    let sent = visitor.post(PAGE, &[("of", "")]).await;
    visitor
        .get(sent.sent_on())
        .await
        .says(200, "The rule was cancelled before it applied.");
    let letter = server.letter(&ada.email, 2).await;
    assert!(letter.text.contains("cara cancelled"), "{letter:?}");
    let none = server.admin(&["retention", "show"]);
    assert_eq!(none["rules"], json!([]));
    let again = visitor.post(PAGE, &[("of", "")]).await;
    assert_eq!(again.status, 409, "{}", again.text);
    set(&mut visitor, "", "days", "1").await.sent_on();
    run_sql(&server, "update administrator_rules set applies_at = 1");
    let due = server.admin(&["retention", "run"]);
    assert_eq!(due, json!({"deleted": 1, "held": 0}));
    let records = server.admin(&["audit", "--org", "acme"]);
    let records = records["records"].as_array().unwrap();
    for (action, by) in [("retention.set", &cara), ("retention.cancel", &cara)] {
        let record = records.iter().find(|record| record["action"] == action);
        let record = record.unwrap();
        assert_eq!(record["actor"], format!("user:{}", by.id));
        assert_eq!(record["detail"]["days"], 1);
        assert!(record["detail"]["applies_at"].is_string(), "{record}");
    }
    // What keeps more applies at once.
    set(&mut visitor, "", "forever", "").await.sent_on();
    let none = server.admin(&["retention", "show"]);
    assert_eq!(none["rules"], json!([]));
}

async fn rules_of_operators_win(server: Server) {
    let Acme { ada, .. } = server.acme();
    let flow = ada.get("/flows/acme/main").await;
    let flow = flow["id"].as_str().unwrap().to_owned();
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    set(&mut visitor, &flow, "days", "7").await.sent_on();
    set(&mut visitor, "", "days", "9").await.sent_on();
    server.admin(&["retention", "set", "--org", "acme", "--days", "90"]);
    let rule = json!([{"of": "organization acme", "days": 90, "set_by": "operator"}]);
    let shown = server.admin(&["retention", "show"]);
    assert_eq!(shown["rules"], rule, "those of administrators ended");
    let page = visitor.get(PAGE).await;
    page.says(200, "The operator of this server set this.");
    assert!(!page.text.contains("Set a rule"), "{}", page.text);
    for of in ["", &flow] {
        let refused = set(&mut visitor, of, "forever", "").await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        let refused = visitor.post(PAGE, &[("of", of)]).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
    }
    let shown = server.admin(&["retention", "show"]);
    assert_eq!(shown["rules"], rule);
    server.admin(&["retention", "clear", "--org", "acme"]);
    set(&mut visitor, &flow, "forever", "").await.sent_on();
    let shown = server.admin(&["retention", "show"]);
    assert_eq!(shown["rules"][0]["of"], "flow acme/main");
    assert_eq!(shown["rules"][0]["days"], json!(null));
    server.admin(&["retention", "clear", "--flow", MAIN]);
    let shown = server.admin(&["retention", "show"]);
    assert_eq!(shown["rules"], json!([]));
}

async fn a_wrong_rule_is_told_at_its_field_and_to_administrators_alone(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    for (keep, days, told) in [
        (
            "days",
            "0",
            "<a href=\"#days\">Days must be a number from 1 to 36500</a>",
        ),
        ("days", "36501", "<a href=\"#days\">Days must be"),
        ("days", "", "<a href=\"#days\">Days must be"),
        (
            "inherited",
            "",
            "<a href=\"#keep\">Are kept is not possible here</a>",
        ),
        ("never", "1", "<a href=\"#keep\">"),
    ] {
        let page = set(&mut visitor, "", keep, days).await;
        page.says(400, told);
        page.is_named_throughout(keep);
        let asked = format!("{CHANGE}?keep={keep}&days={days}");
        visitor.get(&asked).await.says(400, told);
    }
    let page = set(&mut visitor, "no-such-flow", "forever", "").await;
    page.says(404, "Page not found");
    server.organization("other");
    let olga = server.administrator("other", "olga");
    for (caller, status) in [(&ben, 403), (&olga, 404)] {
        let mut visitor = server.signed_in(&caller.email, PASSWORD).await;
        for page in [
            visitor.get(PAGE).await,
            visitor.get(CHANGE).await,
            set(&mut visitor, "", "days", "1").await,
            visitor.post(PAGE, &[("of", "")]).await,
        ] {
            assert_eq!(page.status, status, "{}", page.text);
        }
    }
    let shown = server.admin(&["retention", "show"]);
    assert_eq!(shown["rules"], json!([]));
}
