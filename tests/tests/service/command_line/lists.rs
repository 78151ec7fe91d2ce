//! What operators look at: lists, and single things in full.

use eddyline_client::Json;
use eddyline_tests::{CALLBACK, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

on_shared_servers![
    organizations_are_listed_and_shown,
    users_are_listed_and_shown,
    flows_are_listed,
    applications_and_sources_are_listed,
    people_get_aligned_columns,
    what_is_not_there_cannot_be_listed,
];
on_both_databases![a_list_of_several_pages_is_complete];

fn named<'a>(list: &'a Json, field: &str, value: &str) -> &'a Json {
    let entries = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    entries
        .iter()
        .find(|entry| entry[field] == value)
        .unwrap_or_else(|| panic!("{value} is missing in {list}"))
}

async fn organizations_are_listed_and_shown(tenant: Tenant) {
    let server = tenant.server();
    let list = server.admin(&["org", "list"]);
    let listed = named(&list["organizations"], "parameterized_name", &tenant.name);
    assert_eq!(
        (&listed["user_count"], &listed["active"]),
        (&json!(2), &json!(true))
    );
    server.admin(&[
        "org",
        "domain",
        "add",
        "--org",
        &tenant.name,
        "--domain",
        &format!("{}.test", tenant.name),
    ]);
    let new = format!("{}-new", tenant.name);
    server.admin(&[
        "org",
        "update",
        "--org",
        &tenant.name,
        "--parameterized-name",
        &new,
        "--active",
        "false",
    ]);
    let provider = server.provider(&new);
    let shown = server.admin(&["org", "show", "--org", &new]);
    assert_eq!(shown["id"], listed["id"]);
    assert_eq!(shown["parameterized_name"], new.as_str());
    assert_eq!(shown["former_names"], json!([tenant.name]));
    assert_eq!(shown["administrators"], json!([tenant.ada.email]));
    assert_eq!(shown["domains"], json!([format!("{}.test", tenant.name)]));
    assert_eq!(shown["provider"], provider.uid.as_str());
    assert_eq!(
        (&shown["active"], &shown["user_limit"]),
        (&json!(false), &json!(1000))
    );
}

async fn users_are_listed_and_shown(tenant: Tenant) {
    let server = tenant.server();
    let list = server.admin(&["user", "list", "--org", &tenant.name]);
    let nicks: Vec<&Json> = list["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| &user["nick"])
        .collect();
    assert_eq!(nicks, ["ada", "ben"]);
    let ada = named(&list["users"], "email", &tenant.ada.email);
    assert_eq!(
        (&ada["id"], &ada["admin"], &ada["active"]),
        (&json!(tenant.ada.id), &json!(true), &json!(true))
    );
    assert_eq!(named(&list["users"], "nick", "ben")["admin"], false);
    let all = server.admin(&["user", "list"]);
    assert_eq!(
        named(&all["users"], "email", &tenant.ada.email)["admin"],
        Json::Null
    );

    let shown = server.admin(&["user", "show", "--email", &tenant.ada.email]);
    assert_eq!(
        (&shown["id"], &shown["nick"]),
        (&json!(tenant.ada.id), &json!("ada"))
    );
    assert_eq!(
        shown["organizations"],
        json!([{"organization": tenant.name, "admin": true}])
    );
    let counts = (&shown["flows"], &shown["api_tokens"], &shown["password"]);
    assert_eq!(counts, (&json!(1), &json!(1), &json!(true)));
    assert_eq!(shown["provided_by"], Json::Null);
    server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ada.email,
    ]);
    let shown = server.admin(&["user", "show", "--email", &tenant.ada.email]);
    assert_eq!(shown["provided_by"], tenant.name.as_str());
}

async fn flows_are_listed(tenant: Tenant) {
    let server = tenant.server();
    let quiet = tenant.flow("quiet", &[]);
    tenant.ada.say(&tenant.main, "hello").await;
    server.admin(&[
        "flow",
        "archive",
        "--flow",
        &format!("{}/quiet", tenant.name),
    ]);
    let list = server.admin(&["flow", "list", "--org", &tenant.name]);
    assert_eq!(list["flows"].as_array().unwrap().len(), 2);
    let main = named(&list["flows"], "flow", &tenant.main);
    assert_eq!(
        (&main["users"], &main["archived"]),
        (&json!(2), &json!(false))
    );
    assert!(main["last_message_at"].is_string(), "{main}");
    let listed = named(&list["flows"], "id", &quiet);
    assert_eq!(
        (&listed["users"], &listed["archived"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(
        (&listed["last_message_at"], &listed["access_mode"]),
        (&Json::Null, &json!("invitation"))
    );
}

async fn applications_and_sources_are_listed(tenant: Tenant) {
    let server = tenant.server();
    let robot = server.robot(&tenant.name, &[]);
    let source = server.admin(&[
        "source",
        "create",
        "--flow",
        &tenant.main,
        "--app",
        &robot.id,
        "--name",
        "CI",
    ]);
    let list = server.admin(&["app", "list", "--org", &tenant.name]);
    let application = named(&list["applications"], "client_id", &robot.client_id);
    assert_eq!(
        (&application["id"], &application["public"]),
        (&json!(robot.id), &json!(false))
    );
    assert_eq!(application["redirect_uris"], json!([CALLBACK]));
    assert!(
        !list
            .to_string()
            .contains(robot.client_secret.as_deref().unwrap()),
        "no secret is listed"
    );
    let all = server.admin(&["app", "list"]);
    assert_eq!(
        named(&all["applications"], "client_id", &robot.client_id)["organization"],
        tenant.name.as_str()
    );

    let list = server.admin(&["source", "list", "--flow", &tenant.main]);
    let listed = named(&list["sources"], "name", "CI");
    assert_eq!(
        (&listed["id"], &listed["application"]),
        (&source["id"], &json!("Robot"))
    );
    let token = source["flow_token"].as_str().unwrap();
    assert!(!list.to_string().contains(token), "no token is listed");
}

async fn people_get_aligned_columns(tenant: Tenant) {
    let run = |arguments: &[&str]| {
        let output = tenant.server().admin_command(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let list = run(&["user", "list", "--org", &tenant.name]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 3, "{list}");
    let column = lines[0].find("EMAIL").unwrap();
    assert!(lines[1][column..].starts_with(&tenant.ada.email), "{list}");
    assert!(lines[2][column..].starts_with(&tenant.ben.email), "{list}");
    assert!(lines[1].contains("active,admin"), "{list}");
    assert!(run(&["source", "list", "--flow", &tenant.main]).contains("no sources"));
    let shown = run(&["user", "show", "--email", &tenant.ben.email]);
    assert!(
        shown.contains(&format!("Organizations:   {}\n", tenant.name)),
        "{shown}"
    );
}

async fn what_is_not_there_cannot_be_listed(tenant: Tenant) {
    let nowhere = "nobody@nowhere.example";
    for line in [
        &["org", "show", "--org", "nowhere"][..],
        &["user", "list", "--org", "nowhere"],
        &["user", "show", "--email", nowhere],
        &["flow", "list", "--org", "nowhere"],
        &["app", "list", "--org", "nowhere"],
        &["source", "list", "--flow", "nowhere/main"],
        &["token", "list", "--email", nowhere],
        &["token", "list", "--flow", "nowhere/main"],
        &["scim", "show", "--org", "nowhere"],
    ] {
        let said = tenant.server().try_admin(line).unwrap_err();
        assert!(
            said.contains("nowhere") && said.contains("was not found"),
            "{line:?}: {said}"
        );
    }
}

async fn a_list_of_several_pages_is_complete(server: Server) {
    // More than two pages of what is read at a time.
    const COUNT: usize = 1001;
    server.organization("acme");
    let lines: String = (1..=COUNT)
        .map(|number| format!("flow create --org acme --name f{number}\n"))
        .collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    let input = std::fs::File::open(file.path()).unwrap();
    assert!(
        server
            .admin_command(&["batch", "--json"])
            .stdin(input)
            .output()
            .unwrap()
            .status
            .success()
    );
    let list = server.admin(&["flow", "list", "--org", "acme"]);
    let flows = list["flows"].as_array().unwrap();
    assert_eq!(flows.len(), COUNT);
    assert!(
        (1..=COUNT)
            .zip(flows)
            .all(|(number, flow)| flow["name"] == format!("f{number}"))
    );
}
