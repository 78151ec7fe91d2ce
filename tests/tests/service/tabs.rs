//! The order of tabs (docs/protocol.md, Tabs).

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    tabs_stand_in_the_order_the_user_gave,
    each_user_has_an_order,
    an_order_names_what_the_user_has,
];

/// The places of the tabs of the flows, by their names.
async fn places(caller: &Caller) -> Json {
    let flows = caller.get("/flows").await;
    let place = |flow: &Json| {
        let name = flow["parameterized_name"].as_str().unwrap().to_owned();
        (name, flow["tab_position"].clone())
    };
    flows.as_array().unwrap().iter().map(place).collect()
}

async fn put(caller: &Caller, order: Json) -> u16 {
    caller
        .send(Method::PUT, "/tabs", &order)
        .await
        .status
        .as_u16()
}

async fn tabs_stand_in_the_order_the_user_gave(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ben]);
    let third = tenant.flow("third", &[&tenant.ben]);
    let ben = &tenant.ben;
    let none = json!({"main": null, "side": null, "third": null});
    assert_eq!(places(ben).await, none);
    let (main, side) = (&tenant.main, format!("{}/side", tenant.name));
    let flows = json!({"flows": [third, main]});
    assert_eq!(put(ben, flows).await, 200);
    let ordered = json!({"main": 2, "side": null, "third": 1});
    assert_eq!(places(ben).await, ordered);
    // The next order takes the place of the one before.
    assert_eq!(put(ben, json!({"flows": side})).await, 200);
    let ordered = json!({"main": null, "side": 1, "third": null});
    assert_eq!(places(ben).await, ordered);
    assert_eq!(put(ben, json!({"flows": []})).await, 200);
    assert_eq!(places(ben).await, none);
}

async fn each_user_has_an_order(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    for user in [ada, ben] {
        assert_eq!(put(ada, json!({"conversations": [user.id]})).await, 404);
        ada.get(&format!("/private/{}", user.id)).await;
    }
    let order = json!({"conversations": [ben.id, ada.id], "flows": [tenant.main]});
    assert_eq!(put(ada, order).await, 200);
    let place = async |caller: &Caller, with: &Caller| {
        caller.get(&format!("/private/{}", with.id)).await["tab_position"].clone()
    };
    assert_eq!(
        (place(ada, ben).await, place(ada, ada).await),
        (json!(1), json!(2))
    );
    assert_eq!(place(ben, ada).await, Json::Null);
    assert_eq!(places(ben).await["main"], Json::Null);
    // What an order does not name stays as it is.
    assert_eq!(put(ada, json!({"conversations": [ada.id]})).await, 200);
    assert_eq!(
        (place(ada, ben).await, place(ada, ada).await),
        (Json::Null, json!(1))
    );
    assert_eq!(places(ada).await["main"], 1);
}

async fn an_order_names_what_the_user_has(tenant: Tenant) {
    let ben = &tenant.ben;
    tenant.flow("closed", &[&tenant.ada]);
    let closed = format!("{}/closed", tenant.name);
    assert_eq!(put(ben, json!({"flows": [closed]})).await, 403);
    assert_eq!(put(ben, json!({"flows": ["none/none"]})).await, 404);
    assert_eq!(put(ben, json!({})).await, 400);
    assert_eq!(put(ben, json!({"conversations": ["ada"]})).await, 400);
    // Named twice, a flow stands where it is named first.
    let side = tenant.flow("side", &[ben]);
    let twice = json!({"flows": [side, tenant.main, side]});
    assert_eq!(put(ben, twice).await, 200);
    assert_eq!(places(ben).await["side"], 1);
    let names: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    assert_eq!(put(ben, json!({"flows": names[..1000]})).await, 404);
    let refused = ben
        .send(Method::PUT, "/tabs", &json!({"flows": names}))
        .await;
    assert_eq!(refused.status.as_u16(), 400);
    assert!(refused.json()["errors"]["flows"].is_array());
    let ids = |count| json!({"conversations": vec![ben.id; count]});
    ben.get(&format!("/private/{}", ben.id)).await;
    assert_eq!(put(ben, ids(1000)).await, 200);
    assert_eq!(put(ben, ids(1001)).await, 400);
}
