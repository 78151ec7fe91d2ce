//! Choosing what one is notified of (docs/protocol.md, Notifications).

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    quiet_hours_are_chosen_with_all_of_their_parts,
    a_flow_has_a_level_of_its_own_or_that_of_the_account,
];

const ACCOUNT: &str = "/user/notifications";

/// What is answered to a change: the settings, or what is wrong.
async fn put(caller: &Caller, path: &str, change: Json) -> (u16, Json) {
    let answer = caller.send(Method::PUT, path, &change).await;
    (answer.status.as_u16(), answer.json())
}

async fn wrong(caller: &Caller, change: Json) -> Vec<String> {
    let (status, answer) = put(caller, ACCOUNT, change).await;
    assert_eq!(status, 400, "{answer}");
    let fields = answer["errors"].as_object().unwrap().keys();
    fields.cloned().collect()
}

async fn quiet_hours_are_chosen_with_all_of_their_parts(tenant: Tenant) {
    let ben = &tenant.ben;
    let mut settings = json!({
        "level": "mentions", "shows_text": false, "quiet": false, "from": null, "until": null, "zone": null,
    });
    assert_eq!(ben.get(ACCOUNT).await, settings);
    let loud = json!({"level": "all", "shows_text": true});
    settings["level"] = json!("all");
    settings["shows_text"] = json!(true);
    assert_eq!(put(ben, ACCOUNT, loud).await, (200, settings.clone()));
    assert_eq!(
        wrong(ben, json!({"quiet": true, "from": "22:00", "zone": "UTC"})).await,
        ["until"]
    );
    assert_eq!(wrong(ben, json!({"from": "22:00"})).await, ["quiet"]);
    let hours = |from: &str, zone: &str| json!({"quiet": true, "from": from, "until": "07:00", "zone": zone});
    assert_eq!(wrong(ben, hours("25:00", "UTC")).await, ["from"]);
    assert_eq!(wrong(ben, hours("22:00", "Nowhere/Land")).await, ["zone"]);
    assert_eq!(wrong(ben, json!({"level": "loud"})).await, ["level"]);
    assert_eq!(ben.get(ACCOUNT).await, settings);
    let (status, quiet) = put(ben, ACCOUNT, hours("22:00", "Europe/Helsinki")).await;
    for (name, value) in hours("22:00", "Europe/Helsinki").as_object().unwrap() {
        settings[name] = value.clone();
    }
    assert_eq!((status, &quiet), (200, &settings));
    // What was answered can be sent, and a part can change.
    assert_eq!(put(ben, ACCOUNT, quiet).await, (200, settings.clone()));
    settings["until"] = json!("06:30");
    let later = json!({"until": "06:30"});
    assert_eq!(put(ben, ACCOUNT, later).await, (200, settings.clone()));
    assert_eq!(ben.get(ACCOUNT).await, settings);
    let (_, loud) = put(ben, ACCOUNT, json!({"quiet": false})).await;
    assert_eq!(
        (&loud["quiet"], &loud["from"]),
        (&json!(false), &Json::Null)
    );
    // Each user has settings.
    assert_eq!(tenant.ada.get(ACCOUNT).await["level"], "mentions");
}

async fn a_flow_has_a_level_of_its_own_or_that_of_the_account(tenant: Tenant) {
    let (ben, path) = (&tenant.ben, tenant.path("/notifications"));
    let level = |level: &str| json!({"level": level});
    assert_eq!(ben.get(&path).await, level("account"));
    for chosen in ["all", "mentions", "nothing", "account"] {
        assert_eq!(put(ben, &path, level(chosen)).await, (200, level(chosen)));
        assert_eq!(ben.get(&path).await, level(chosen));
    }
    assert_eq!(put(ben, &path, level("loud")).await.0, 400);
    assert_eq!(put(ben, &path, json!({})).await.0, 400);
    assert_eq!(tenant.ada.get(&path).await, level("account"));
}
