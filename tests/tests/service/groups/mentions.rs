//! Mentioning groups.

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Caller, Listener, Tenant, on_shared_servers};
use serde_json::{Value, json};

use super::{group, path, said, tags};

on_shared_servers![
    a_mention_of_a_group_is_unread_for_its_members_in_the_flow,
    a_group_is_given_as_a_tag_in_either_form,
    a_flow_token_mentions_a_group,
    messages_that_mention_a_group_are_listed_and_found,
    a_mention_of_a_group_counts_until_it_is_read,
    an_edit_of_the_text_adds_and_drops_a_group,
    an_edit_of_the_tags_adds_and_drops_a_group,
    a_group_in_place_of_everyone_is_still_unread_for_its_members,
    a_changed_group_is_mentioned_as_it_is_at_once,
    groups_of_other_organizations_are_not_mentioned,
    all_tags_of_a_message_can_be_sent_back,
    the_longest_name_of_a_person_or_a_group_is_meant,
];

async fn unread(caller: &Caller, tenant: &Tenant) -> Value {
    caller.get(&tenant.path("")).await["unread_mentions"].clone()
}

async fn given(tenant: &Tenant, tags: Value) -> Value {
    let body = json!({"event": "message", "content": "hello", "tags": tags});
    tenant.ben.post(&tenant.main, &body).await["tags"].clone()
}

/// Shows: 2.21
async fn a_mention_of_a_group_is_unread_for_its_members_in_the_flow(tenant: Tenant) {
    let (cleo, outside, blocked) = (
        tenant.member("cleo"),
        tenant.user("olga"),
        tenant.member("bert"),
    );
    let block = tenant.path(&format!("/users/{}", blocked.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    group(
        &tenant,
        "Team",
        &[&tenant.ada, &tenant.ben, &outside, &blocked],
    )
    .await;
    for text in [
        "@team, look",
        "@TEAM: look",
        "(@Team)",
        "@team and again @team",
    ] {
        let mut listener = Listener::to(&cleo.client, &[&tenant.main]).await;
        assert_eq!(
            said(&tenant.ben, &tenant, text).await,
            tags("team", &[&tenant.ada]),
            "{text}"
        );
        assert_eq!(
            listener.event("message").await["tags"],
            tags("team", &[&tenant.ada])
        );
    }
    assert_eq!(
        said(&cleo, &tenant, "@team").await,
        tags("team", &[&tenant.ada, &tenant.ben])
    );
    assert_eq!(
        said(&tenant.ben, &tenant, "the team, teams, @teams, x@team").await,
        json!([])
    );
    assert_eq!(
        said(&tenant.ben, &tenant, "    @team").await,
        json!([]),
        "code has no mentions"
    );
}

/// Shows: 2.22
async fn a_group_is_given_as_a_tag_in_either_form(tenant: Tenant) {
    group(&tenant, "Team", &[&tenant.ada, &tenant.ben]).await;
    for tag in ["@team", "@TEAM", ":user:team", ":User:Team"] {
        assert_eq!(
            given(&tenant, json!([tag])).await,
            tags("team", &[&tenant.ada]),
            "{tag}"
        );
    }
    assert_eq!(
        given(&tenant, json!("@team,@nobody,:user:nobody")).await,
        tags("team", &[&tenant.ada])
    );
}

async fn a_flow_token_mentions_a_group(tenant: Tenant) {
    group(&tenant, "team", &[&tenant.ada, &tenant.ben]).await;
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let body = json!({"event": "message", "content": "@team: the build failed", "external_user_name": "ci"});
    client
        .request(Method::POST, "/messages")
        .json(&body)
        .send()
        .await
        .unwrap()
        .success()
        .unwrap();
    let listed = tenant.ben.get(&tenant.path("/messages")).await;
    assert_eq!(listed[0]["tags"], tags("team", &[&tenant.ada, &tenant.ben]));
}

async fn messages_that_mention_a_group_are_listed_and_found(tenant: Tenant) {
    let team = group(&tenant, "Team", &[&tenant.ada]).await;
    for text in ["@team one", "two", "#other @TEAM three", "@ada four"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    let ids = async |query: &str| {
        let found = tenant
            .ben
            .get(&tenant.path(&format!("/messages?{query}")))
            .await;
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    for query in [
        "tags=:user:team",
        "tags=:user:TEAM",
        "tags=@team",
        "tags=@Team",
    ] {
        assert_eq!(ids(query).await, [1, 3], "{query}");
    }
    assert_eq!(ids("tags=:user:team,other").await, [3]);
    assert_eq!(
        ids("tags=:user:team,:user:nobody&tag_mode=or").await,
        [1, 3]
    );
    assert_eq!(ids("search=three&tags=@team").await, [3]);
    assert_eq!(
        ids(&format!("tags=:unread:{}", tenant.ada.id)).await,
        [1, 3, 4]
    );
    assert_eq!(ids("tags=@nobody").await, [0; 0]);
    let address = path(&tenant, &format!("/{}", team["id"]));
    tenant.ada.does(Method::DELETE, &address, &json!({})).await;
    assert_eq!(ids("tags=:user:team").await, [1, 3], "what was said stays");
    assert_eq!(
        ids("tags=@team").await,
        [0; 0],
        "there is no such group any more"
    );
}

async fn a_mention_of_a_group_counts_until_it_is_read(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    group(&tenant, "team", &[&tenant.ada, &tenant.ben]).await;
    for text in ["@team one", "@ada and @team two", "@all and @team three"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    assert_eq!(unread(&tenant.ada, &tenant).await, 3, "each message once");
    assert_eq!(
        unread(&tenant.ben, &tenant).await,
        0,
        "who says it has read it"
    );
    assert_eq!(unread(&cleo, &tenant).await, 1);
    tenant
        .ada
        .does(Method::PUT, &tenant.path("/read"), &json!({"message": 2}))
        .await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
    let message = tenant.path("/messages/3");
    tenant.ben.does(Method::DELETE, &message, &json!({})).await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 0);
}

async fn an_edit_of_the_text_adds_and_drops_a_group(tenant: Tenant) {
    group(&tenant, "team", &[&tenant.ada, &tenant.ben]).await;
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let edit = async |text: &str| {
        tenant
            .ben
            .does(
                Method::PUT,
                &tenant.message_path(&message),
                &json!({"content": text}),
            )
            .await;
        tenant.ada.get(&tenant.message_path(&message)).await["tags"].clone()
    };
    assert_eq!(edit("hello @team").await, tags("team", &[&tenant.ada]));
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
    // New members of the group get no mark.
    let (cleo, address) = (tenant.member("cleo"), path(&tenant, ""));
    let id = tenant.ada.get(&address).await[0]["id"].clone();
    tenant
        .ada
        .does(
            Method::POST,
            &format!("{address}/{id}/users"),
            &json!({"id": cleo.id}),
        )
        .await;
    assert_eq!(
        edit("hello again, @team").await,
        tags("team", &[&tenant.ada])
    );
    assert_eq!(
        (
            unread(&cleo, &tenant).await,
            unread(&tenant.ada, &tenant).await
        ),
        (json!(0), json!(1))
    );
    assert_eq!(edit("hello again").await, json!([]));
    assert_eq!(unread(&tenant.ada, &tenant).await, 0);
}

async fn an_edit_of_the_tags_adds_and_drops_a_group(tenant: Tenant) {
    group(&tenant, "team", &[&tenant.ada, &tenant.ben]).await;
    let message = tenant.ben.say(&tenant.main, "hello").await;
    let mut listener = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let edit = async |wanted: Json| {
        tenant
            .ben
            .does(
                Method::PUT,
                &tenant.message_path(&message),
                &json!({"tags": wanted}),
            )
            .await;
    };
    let mark = format!(":unread:{}", tenant.ada.id);
    edit(json!(["@Team", "more"])).await;
    let told = listener.event("tag-change").await;
    let add = json!([":user:team", "more", mark]);
    assert_eq!(
        told["content"],
        json!({"message": message["id"], "add": add, "remove": []})
    );
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.message_path(&message),
            &json!({"tags": [":user:team"]}),
        )
        .await;
    assert_eq!(
        unread(&tenant.ada, &tenant).await,
        0,
        "who takes off their own mark has read it"
    );
    edit(json!(["more"])).await;
    assert_eq!(
        listener.event("tag-change").await["content"]["remove"],
        json!(["more", mark])
    );
    assert_eq!(
        listener.event("tag-change").await["content"],
        json!({"message": message["id"], "add": ["more"], "remove": [":user:team"]})
    );
}

async fn a_group_in_place_of_everyone_is_still_unread_for_its_members(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    group(&tenant, "team", &[&tenant.ada]).await;
    let message = tenant.ben.say(&tenant.main, "@all hello").await;
    assert_eq!(
        (
            unread(&tenant.ada, &tenant).await,
            unread(&cleo, &tenant).await
        ),
        (json!(1), json!(1))
    );
    let edit = json!({"content": "@team hello"});
    tenant
        .ben
        .does(Method::PUT, &tenant.message_path(&message), &edit)
        .await;
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await["tags"],
        tags("team", &[&tenant.ada]),
    );
    assert_eq!(
        (
            unread(&tenant.ada, &tenant).await,
            unread(&cleo, &tenant).await
        ),
        (json!(1), json!(0))
    );
}

async fn a_changed_group_is_mentioned_as_it_is_at_once(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, json!([]));
    let team = group(&tenant, "team", &[&tenant.ada]).await;
    assert_eq!(
        said(&tenant.ben, &tenant, "@team").await,
        tags("team", &[&tenant.ada])
    );
    let address = path(&tenant, &format!("/{}", team["id"]));
    for _ in 0..3 {
        tenant
            .ada
            .does(
                Method::POST,
                &format!("{address}/users"),
                &json!({"id": cleo.id}),
            )
            .await;
        assert_eq!(
            said(&tenant.ben, &tenant, "@team").await,
            tags("team", &[&tenant.ada, &cleo])
        );
        let out = format!("{address}/users/{}", cleo.id);
        tenant.ada.does(Method::DELETE, &out, &json!({})).await;
        assert_eq!(
            said(&tenant.ben, &tenant, "@team").await,
            tags("team", &[&tenant.ada])
        );
    }
    tenant
        .ada
        .does(Method::PUT, &address, &json!({"name": "crew"}))
        .await;
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, json!([]));
    assert_eq!(
        said(&tenant.ben, &tenant, "@crew").await,
        tags("crew", &[&tenant.ada])
    );
    tenant.ada.does(Method::DELETE, &address, &json!({})).await;
    assert_eq!(said(&tenant.ben, &tenant, "@crew").await, json!([]));
}

async fn groups_of_other_organizations_are_not_mentioned(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    group(&neighbour, "team", &[&neighbour.ada]).await;
    assert_eq!(said(&tenant.ben, &tenant, "@team").await, json!([]));
    assert_eq!(
        said(&neighbour.ben, &neighbour, "@team").await,
        tags("team", &[&neighbour.ada])
    );
}

async fn all_tags_of_a_message_can_be_sent_back(tenant: Tenant) {
    let mut names: Vec<String> = (0..60).map(|number| format!("g{number}")).collect();
    for name in &names {
        group(&tenant, name, &[&tenant.ada]).await;
    }
    names.iter_mut().for_each(|name| name.insert(0, '@'));
    let plain: Vec<String> = (0..50).map(|number| format!("t{number}")).collect();
    let body = json!({"event": "message", "content": names.join(" "), "tags": plain});
    let message = tenant.ben.post(&tenant.main, &body).await;
    // The text mentions more groups than a message does: 50 tags, 50 groups and an unread mark.
    assert_eq!(message["tags"].as_array().unwrap().len(), 101);
    let edit = json!({"tags": message["tags"]});
    tenant
        .ben
        .does(Method::PUT, &tenant.message_path(&message), &edit)
        .await;
    assert_eq!(
        tenant.ben.get(&tenant.message_path(&message)).await["tags"],
        message["tags"]
    );
}

async fn the_longest_name_of_a_person_or_a_group_is_meant(tenant: Tenant) {
    group(&tenant, "ben-team", &[&tenant.ada]).await;
    group(&tenant, "チーム", &[&tenant.ada]).await;
    assert_eq!(
        said(&tenant.ben, &tenant, "@ben-team's").await,
        tags("ben-team", &[&tenant.ada])
    );
    assert_eq!(
        said(&tenant.ben, &tenant, "@チームさん").await,
        tags("チーム", &[&tenant.ada])
    );
    let own = json!([format!(":user:{}", tenant.ben.id)]);
    assert_eq!(said(&tenant.ben, &tenant, "@ben").await, own);
}
