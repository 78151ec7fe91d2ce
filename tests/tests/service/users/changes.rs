//! What one changes about oneself (specification, section 4, Users).

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Caller, Listener, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_user_changes_their_own_account,
    nobody_changes_anybody_else,
    a_change_is_told_to_the_flows,
    a_nick_is_unique_in_each_of_the_organizations,
    a_nick_that_looks_like_anothers_is_taken,
    nothing_in_a_name_hides_or_turns_the_direction_of_writing,
    renaming_keeps_old_mentions,
    an_address_belongs_to_one_account,
    a_new_address_needs_the_present_password,
    the_old_address_ends_at_once,
    the_old_address_is_told_of_the_new_one,
    what_cannot_be_read_changes_nothing,
];

async fn change(caller: &Caller, change: Json) -> u16 {
    caller
        .send(Method::PUT, "/user", &change)
        .await
        .status
        .as_u16()
}

/// Another address, with the password that it needs.
fn moving(email: &str) -> Json {
    json!({"email": email, "current_password": PASSWORD})
}

/// Shows: 2.16, 4.33
async fn a_user_changes_their_own_account(tenant: Tenant) {
    let before = tenant.ben.get("/user").await;
    let email = format!("benjamin@{}.example", tenant.name);
    let change = json!({
        "nick": " Benjamin ",
        "email": email,
        "name": "Benjamin B. Bunny",
        "website": "https://bunny.example/~ben",
        "current_password": PASSWORD,
        "id": 1,
        "avatar": "https://elsewhere.example/",
    });
    let own = format!("/users/{}", tenant.ben.id);
    let answer = tenant.ben.send(Method::PUT, &own, &change).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    let mut after = before.clone();
    after["nick"] = json!("Benjamin");
    for field in ["email", "name", "website"] {
        after[field] = change[field].clone();
    }
    assert_eq!(tenant.ben.get("/user").await, after);
    assert_eq!(tenant.ada.get(&own).await, after);
    let listed = tenant.ada.get(&tenant.path("")).await["users"].clone();
    let listed = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["id"] == tenant.ben.id)
        .cloned()
        .unwrap();
    for field in ["nick", "email", "name"] {
        assert_eq!(listed[field], after[field]);
    }
    // The short way does the same, and what is not named stays.
    tenant
        .ben
        .does(Method::PATCH, "/user", &json!({"website": ""}))
        .await;
    tenant.ben.does(Method::PUT, "/user", &json!({})).await;
    after["website"] = json!("");
    assert_eq!(tenant.ben.get("/user").await, after);
}

/// Shows: 4.33
async fn nobody_changes_anybody_else(tenant: Tenant) {
    let ben = format!("/users/{}", tenant.ben.id);
    let before = tenant.ben.get("/user").await;
    let change = json!({"nick": "changed"});
    for (caller, expected) in [(&tenant.ada, 403), (&tenant.neighbour().ada, 404)] {
        assert_eq!(
            caller
                .send(Method::PUT, &ben, &change)
                .await
                .status
                .as_u16(),
            expected
        );
    }
    for nobody in ["/users/999999999", "/users/x", "/users/9223372036854775808"] {
        assert_eq!(
            tenant
                .ben
                .send(Method::PUT, nobody, &change)
                .await
                .status
                .as_u16(),
            404,
            "{nobody}"
        );
    }
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    for path in [&ben, "/user"] {
        assert_eq!(
            token
                .request(Method::PUT, path)
                .json(&change)
                .send()
                .await
                .unwrap()
                .status,
            403
        );
    }
    assert_eq!(tenant.ben.get("/user").await, before);
}

async fn a_change_is_told_to_the_flows(tenant: Tenant) {
    let mut stream = Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": "bunny"}))
        .await;
    let told = stream.event("user-edit").await;
    assert_eq!(
        told["content"],
        json!({"user": {"id": tenant.ben.id, "nick": "bunny"}})
    );
    // What changes nothing is not told.
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": "bunny"}))
        .await;
    let said = tenant.ben.say(&tenant.main, "done").await;
    assert_eq!(stream.json().await, said);
}

async fn a_nick_is_unique_in_each_of_the_organizations(tenant: Tenant) {
    let (cleo, neighbour) = (tenant.member("cleo"), tenant.neighbour());
    let line = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &cleo.email,
    ];
    tenant
        .server()
        .admin(&[&line[..], &["--name", "cleo", "--nick", "cleo"]].concat());
    neighbour.user("zoe");
    for taken in ["ben", "BEN", "zoe"] {
        let answer = cleo
            .send(
                Method::PUT,
                "/user",
                &json!({"nick": taken, "name": "Other"}),
            )
            .await;
        assert_eq!(answer.status, 409, "{taken}");
        assert!(
            answer.json()["message"].as_str().unwrap().contains("nick"),
            "{}",
            answer.text()
        );
    }
    let me = cleo.get("/user").await;
    assert_eq!(
        (&me["nick"], &me["name"]),
        (&json!("cleo"), &json!("cleo")),
        "nothing of it was done"
    );
    assert_eq!(
        change(&cleo, json!({"nick": "CLEO"})).await,
        200,
        "one's own in another form"
    );
    assert_eq!(
        change(&tenant.ben, json!({"nick": "zoe"})).await,
        200,
        "others have nicks of their own"
    );
}

async fn a_nick_that_looks_like_anothers_is_taken(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    assert_eq!(change(&cleo, json!({"nick": "می\u{200c}خواهم"})).await, 200);
    for (nick, status) in [
        ("a\u{200d}da", 400),
        ("ad\u{200c}a", 400),
        ("ada\u{34f}", 400),
        ("ada\u{fe0f}", 400),
        ("ada\u{115f}", 400),
        ("ada\u{3164}", 400),
        ("\u{3164}", 400),
        ("میخواهم", 409),
        ("می\u{200c}خواهد", 200),
    ] {
        assert_eq!(
            change(&tenant.ben, json!({"nick": nick})).await,
            status,
            "{nick:?}"
        );
    }
    let said = tenant
        .ada
        .say(&tenant.main, "@میخواهم @می\u{200c}خواهد hello")
        .await;
    assert_eq!(said["tags"][0], format!(":user:{}", cleo.id), "{said}");
    assert_eq!(
        said["tags"][2],
        format!(":user:{}", tenant.ben.id),
        "{said}"
    );
}

async fn nothing_in_a_name_hides_or_turns_the_direction_of_writing(tenant: Tenant) {
    let names = [
        "Ada\u{202e}ecalevoL",
        "\u{2066}Ada",
        "Ada\u{200b}Lovelace",
        "Ada\nLovelace",
        "Ada\u{2028}Lovelace",
        "\u{3164}",
        "\u{115f}\u{1160}",
    ];
    for name in names {
        let answer = tenant
            .ben
            .send(Method::PUT, "/user", &json!({"name": name}))
            .await;
        // What stands around a name does not belong to it.
        let status = if name.starts_with('\u{2066}') {
            200
        } else {
            400
        };
        assert_eq!(answer.status.as_u16(), status, "{name:?}");
        if status == 400 {
            assert!(
                answer.json()["errors"]["name"][0].is_string(),
                "{}",
                answer.text()
            );
        }
        let message = json!({"event": "message", "content": "x", "external_user_name": name});
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/messages"), &message)
            .await;
        assert_eq!(answer.status, 400, "{name:?}");
        assert!(
            answer.json()["errors"]["external_user_name"][0].is_string(),
            "{}",
            answer.text()
        );
    }
    for name in ["Zoë", "👩🏽\u{200d}🚀 Ada", "می\u{200c}خواهم"] {
        assert_eq!(
            change(&tenant.ben, json!({"name": name})).await,
            200,
            "{name}"
        );
    }
}

async fn renaming_keeps_old_mentions(tenant: Tenant) {
    let old = tenant.ada.say(&tenant.main, "@ben look").await;
    let tag = json!(format!(":user:{}", tenant.ben.id));
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": "bunny"}))
        .await;
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&old)).await["tags"],
        old["tags"]
    );
    assert_eq!(tenant.ben.get(&tenant.path("")).await["unread_mentions"], 1);
    let new = tenant.ada.say(&tenant.main, "@bunny and here").await;
    assert_eq!(new["tags"][0], tag);
    assert_eq!(
        tenant.ada.say(&tenant.main, "@ben is nobody").await["tags"],
        json!([])
    );
    for name in ["bunny", &format!(":user:{}", tenant.ben.id)] {
        let path = tenant
            .path("/messages?tags=@bunny")
            .replace("@bunny", &format!("@{name}"));
        let path = path.replace("@:", ":");
        assert_eq!(tenant.ada.get(&path).await, json!([old, new]), "{name}");
    }
}

async fn an_address_belongs_to_one_account(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    for taken in [
        &tenant.ada.email,
        &neighbour.ben.email,
        &tenant.ada.email.to_uppercase(),
    ] {
        let answer = tenant.ben.send(Method::PUT, "/user", &moving(taken)).await;
        assert_eq!(answer.status, 409, "{taken}");
        assert!(
            answer.json()["message"].as_str().unwrap().contains("email"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(tenant.ben.get("/user").await["email"], tenant.ben.email);
    let domain = tenant.ben.email.split_once('@').unwrap().1;
    assert_eq!(
        change(&tenant.ben, json!({"email": format!("Ben@{domain}")})).await,
        200,
        "one's own"
    );
}

async fn a_new_address_needs_the_present_password(tenant: Tenant) {
    let new = format!("new@{}.example", tenant.name);
    let own = format!("/users/{}", tenant.ben.id);
    for path in ["/user", &own] {
        for body in [
            json!({"email": new}),
            json!({"email": new, "current_password": "wrong"}),
        ] {
            let answer = tenant.ben.send(Method::PUT, path, &body).await;
            assert_eq!(answer.status, 400, "{}", answer.text());
            assert!(
                answer.json()["errors"]["current_password"].is_array(),
                "{}",
                answer.text()
            );
        }
    }
    assert_eq!(tenant.ben.get("/user").await["email"], tenant.ben.email);
    // Credentials that are the password show it, as those of old programs do.
    let client = tenant.ben.by_password();
    let answer = client
        .request(Method::PUT, &own)
        .json(&json!({"email": new}))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    assert_eq!(tenant.ben.get("/user").await["email"], new);
    // One without a password cannot show any.
    let robot = format!("robot@{}.example", tenant.name);
    let line = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &robot,
        "--name",
        "R",
        "--nick",
        "robot",
    ];
    let token = tenant.server().admin(&line)["api_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let client = tenant.server().client().api_token(&token).build().unwrap();
    for body in [
        json!({"email": "x@robot.example"}),
        json!({"email": "x@robot.example", "current_password": ""}),
    ] {
        let answer = client
            .request(Method::PUT, "/user")
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(
            answer.json()["errors"]["current_password"].is_array(),
            "{}",
            answer.text()
        );
    }
}

async fn the_old_address_ends_at_once(tenant: Tenant) {
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    // Twice: the second time it is only remembered to be right.
    for _ in 0..2 {
        tenant.ben.by_password().me().await.unwrap();
    }
    let email = format!("new@{}.example", tenant.name);
    tenant.ben.does(Method::PUT, "/user", &moving(&email)).await;
    let refused = tenant
        .ben
        .by_password()
        .me()
        .await
        .err()
        .and_then(|error| error.status());
    assert_eq!(refused.map(|status| status.as_u16()), Some(401));
    let new = tenant.client(Credentials::Basic {
        email,
        password: PASSWORD.to_owned(),
    });
    assert_eq!(new.me().await.unwrap().id, tenant.ben.id);
    let said = tenant.ada.say(&tenant.main, "streams go on").await;
    assert_eq!(stream.event("message").await, said);
    // Nobody else gets it while it can be taken back.
    let taken = tenant
        .ada
        .send(Method::PUT, "/user", &moving(&tenant.ben.email))
        .await;
    assert_eq!(taken.status, 409);
}

async fn the_old_address_is_told_of_the_new_one(tenant: Tenant) {
    let (old, domain) = tenant.ben.email.split_once('@').unwrap();
    // The same address in another form is nothing to tell of.
    for new in [
        format!("{}@{domain}", old.to_uppercase()),
        format!("bunny@{domain}"),
    ] {
        tenant.ben.does(Method::PUT, "/user", &moving(&new)).await;
    }
    let letter = tenant
        .server()
        .letter(&format!("{}@{domain}", old.to_uppercase()), 1)
        .await;
    assert!(
        letter.text.contains(&format!("bunny@{domain}")),
        "{}",
        letter.text
    );
    assert!(
        letter.link().starts_with(tenant.server().base_url()),
        "{}",
        letter.text
    );
    assert!(
        tenant
            .server()
            .letters_to(&format!("bunny@{domain}"))
            .is_empty()
    );
}

async fn what_cannot_be_read_changes_nothing(tenant: Tenant) {
    let before = tenant.ben.get("/user").await;
    let cases = [
        ("nick", json!("")),
        ("nick", json!("two words")),
        ("nick", json!("everyone")),
        ("nick", json!("n".repeat(41))),
        ("nick", json!(["ben"])),
        ("email", json!("no address")),
        ("email", json!("")),
        ("email", json!("a@b, c@d")),
        ("name", json!("")),
        ("name", json!(" ")),
        ("name", json!("x".repeat(101))),
        ("website", json!("javascript:alert(1)")),
        ("website", json!("bunny.example")),
        ("website", json!(format!("https://{}", "x".repeat(500)))),
    ];
    for (field, value) in cases {
        let answer = tenant
            .ben
            .send(
                Method::PUT,
                "/user",
                &json!({"website": "https://a.example", field: value}),
            )
            .await;
        assert_eq!(answer.status, 400, "{field}: {value}");
        assert!(
            answer.json()["errors"][field].is_array(),
            "{field}: {}",
            answer.text()
        );
    }
    let answer = tenant
        .ben
        .send(Method::PUT, "/user", &json!({"nick": "a b", "email": "x"}))
        .await;
    assert_eq!(
        answer.json()["errors"].as_object().unwrap().len(),
        2,
        "all at once"
    );
    assert_eq!(tenant.ben.get("/user").await, before);
}
