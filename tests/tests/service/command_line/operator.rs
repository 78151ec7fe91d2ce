//! The operator's commands, and what scripts may rely on.

use std::process::Output;

use eddyline_client::Json;
use eddyline_tests::{Server, on_both_databases};
use serde_json::json;

on_both_databases![
    every_command_answers_scripts_with_one_object,
    people_get_sentences,
    a_known_address_joins_that_person_to_the_organization,
    people_keep_the_number_that_others_know_them_by,
    what_cannot_be_done_is_said_and_ends_in_failure,
    a_password_is_read_from_the_standard_input,
    many_commands_are_read_from_the_standard_input,
    what_is_done_twice_is_done_once,
    domains_are_given_listed_and_taken_away,
];

fn fields(object: &Json) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

async fn every_command_answers_scripts_with_one_object(server: Server) {
    let line = [
        "org",
        "create",
        "--name",
        "Acme Ltd",
        "--parameterized-name",
        "acme",
        "--user-limit",
        "3",
    ];
    let org = server.admin(&line);
    assert_eq!(
        fields(&org),
        ["id", "name", "parameterized_name", "user_limit"]
    );
    assert_eq!(
        (&org["name"], &org["parameterized_name"], &org["user_limit"]),
        (&json!("Acme Ltd"), &json!("acme"), &json!(3))
    );
    let line = [
        "user",
        "create",
        "--org",
        "acme",
        "--email",
        "Ada@acme.example",
        "--name",
        "Ada L",
        "--nick",
        "ada",
    ];
    let user = server.admin(&line);
    assert_eq!(fields(&user), ["api_token", "email", "id", "name", "nick"]);
    let flow = server.admin(&["flow", "create", "--org", "acme", "--name", "Big Plans"]);
    assert_eq!(
        fields(&flow),
        ["id", "name", "organization", "parameterized_name"]
    );
    assert_eq!(flow["parameterized_name"], "big-plans");
    let added = server.admin(&[
        "flow",
        "add-user",
        "--flow",
        "acme/big-plans",
        "--email",
        "ada@acme.example",
    ]);
    assert_eq!(
        (&added["flow"], &added["user"]),
        (&json!("acme/big-plans"), &user["id"])
    );
    let token = server.admin(&["flow", "token", "--flow", "acme/big-plans"]);
    assert_eq!(fields(&token), ["flow_token"]);
    let token = server.admin(&["user", "token", "--email", "ada@acme.example"]);
    assert_eq!(fields(&token), ["api_token"]);
    let set = server.admin(&[
        "user",
        "set-password",
        "--email",
        "ada@acme.example",
        "--password",
        "of some length",
    ]);
    assert_eq!(
        (&set["id"], &set["email"]),
        (&user["id"], &json!("ada@acme.example"))
    );

    // All of it holds for the server that was running all the while.
    for token in [&user["api_token"], &token["api_token"]] {
        let client = server
            .client()
            .api_token(token.as_str().unwrap())
            .build()
            .unwrap();
        assert_eq!(
            client
                .find_flow(flow["id"].as_str().unwrap())
                .await
                .unwrap()
                .name,
            "Big Plans"
        );
    }
    let by_password = server
        .client()
        .basic("ada@acme.example", "of some length")
        .build()
        .unwrap();
    assert_eq!(by_password.me().await.unwrap().email, "Ada@acme.example");
}

async fn people_get_sentences(server: Server) {
    server.organization("acme");
    let said = |arguments: &[&str]| {
        let output = server.admin_command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", error_of(&output));
        printed(&output)
    };
    let user = said(&[
        "user",
        "create",
        "--org",
        "acme",
        "--email",
        "a@b.example",
        "--name",
        "Ada",
        "--nick",
        "ada",
    ]);
    assert!(
        user.contains("Ada <a@b.example>") && user.contains("not shown again"),
        "{user}"
    );
    assert!(said(&["flow", "create", "--org", "acme", "--name", "Main"]).contains("acme/main"));
}

async fn a_known_address_joins_that_person_to_the_organization(server: Server) {
    server.organization("acme");
    server.organization("other");
    let create = |org: &str| {
        server.admin(&[
            "user",
            "create",
            "--org",
            org,
            "--email",
            "ada@x.example",
            "--name",
            "A",
            "--nick",
            "ada",
        ])
    };
    let (first, second) = (create("acme"), create("other"));
    assert_eq!(first["id"], second["id"]);
    assert_ne!(first["api_token"], second["api_token"]);
}

async fn people_keep_the_number_that_others_know_them_by(server: Server) {
    server.organization("acme");
    let arguments = |nick: &str, more: &[&str]| -> Vec<String> {
        let email = format!("{nick}@acme.example");
        let all = [
            &[
                "user", "create", "--org", "acme", "--email", &email, "--name", nick, "--nick",
                nick,
            ],
            more,
        ];
        all.concat().into_iter().map(str::to_owned).collect()
    };
    let create = |nick: &str, more: &[&str]| {
        let arguments = arguments(nick, more);
        server.admin(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refusal = |nick: &str, more: &[&str]| {
        let arguments = arguments(nick, more);
        let output = server
            .admin_command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
            .output();
        error_of(&output.unwrap())
    };
    assert_eq!(create("ada", &["--user-id", "4711"])["id"], 4711);
    assert_eq!(create("ben", &[])["id"], 4712);
    assert_eq!(create("cyd", &["--user-id", "7"])["id"], 7);
    assert_eq!(create("dan", &[])["id"], 4713);
    assert!(refusal("eva", &["--user-id", "4712"]).contains("another user has the number 4712"));
    for number in ["0", "-1", "1000000000001", "x"] {
        assert!(
            refusal("eva", &[&format!("--user-id={number}")]).contains("--user-id"),
            "{number}"
        );
    }
    server.organization("other");
    let known = [
        "user",
        "create",
        "--org",
        "other",
        "--email",
        "ada@acme.example",
        "--name",
        "A",
        "--nick",
        "a",
    ];
    for (more, why) in [
        (["--user-id", "9"], "has the number 4711"),
        (["--password", "of some length"], "keeps its password"),
    ] {
        let output = server
            .admin_command(&[&known[..], &more].concat())
            .output()
            .unwrap();
        assert!(
            !output.status.success() && error_of(&output).contains(why),
            "{}",
            error_of(&output)
        );
    }
    assert_eq!(
        server.admin(&[&known[..], &["--user-id", "4711"]].concat())["id"],
        4711
    );
}

async fn what_cannot_be_done_is_said_and_ends_in_failure(server: Server) {
    server.admin(&["org", "create", "--name", "small", "--user-limit", "2"]);
    server.organization("acme");
    let user = |org: &'static str, email: &'static str, nick: &'static str| {
        vec![
            "user", "create", "--org", org, "--email", email, "--name", "Somebody", "--nick", nick,
        ]
    };
    server.admin(&user("small", "ada@small.example", "ada"));
    server.admin(&user("small", "ben@small.example", "ben"));
    server.admin(&user("acme", "cyd@acme.example", "cyd"));
    server.flow("acme", "main", &[]);
    let domain = |command: &'static str, org: &'static str, name: &'static str| {
        vec!["org", "domain", command, "--org", org, "--domain", name]
    };
    server.admin(&domain("add", "acme", "acme.example"));
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (user("nowhere", "a@x.example", "a"), "nowhere"),
        (user("small", "dan@small.example", "dan"), "limit"),
        (user("acme", "eva@acme.example", "CYD"), "nick"),
        (user("acme", "cyd@acme.example", "cydney"), "already"),
        (user("acme", "no address", "eva"), "--email"),
        (user("acme", "eva@acme.example", "two words"), "--nick"),
        (
            vec![
                "org",
                "create",
                "--name",
                "Acme",
                "--parameterized-name",
                "acme",
            ],
            "taken",
        ),
        (
            vec![
                "org",
                "create",
                "--name",
                "Acme",
                "--parameterized-name",
                "Not For URLs",
            ],
            "not-for-urls",
        ),
        (
            vec!["org", "create", "--name", "Acme", "--user-limit", "0"],
            "--user-limit",
        ),
        (vec!["org", "create", "--name", " "], "name"),
        (
            vec!["flow", "create", "--org", "nowhere", "--name", "Main"],
            "nowhere",
        ),
        (
            vec!["flow", "create", "--org", "acme", "--name", ""],
            "--name",
        ),
        (
            vec![
                "flow",
                "add-user",
                "--flow",
                "acme/none",
                "--email",
                "cyd@acme.example",
            ],
            "not found",
        ),
        (
            vec![
                "flow",
                "add-user",
                "--flow",
                "acme/main",
                "--email",
                "no@acme.example",
            ],
            "not found",
        ),
        (
            vec![
                "flow",
                "add-user",
                "--flow",
                "acme/main",
                "--email",
                "ada@small.example",
            ],
            "not a member",
        ),
        (
            vec![
                "flow",
                "add-user",
                "--flow",
                "main",
                "--email",
                "cyd@acme.example",
            ],
            "ORG/FLOW",
        ),
        (vec!["flow", "token", "--flow", "acme/none"], "acme/none"),
        (
            vec!["user", "token", "--email", "no@acme.example"],
            "no@acme.example",
        ),
        (
            vec![
                "user",
                "set-password",
                "--email",
                "no@acme.example",
                "--password",
                "of some length",
            ],
            "no@acme.example",
        ),
        (
            vec![
                "user",
                "set-password",
                "--email",
                "cyd@acme.example",
                "--password",
                "",
            ],
            "password",
        ),
        (
            vec!["user", "set-password", "--email", "cyd@acme.example"],
            "--password",
        ),
        (domain("add", "nowhere", "x.example"), "nowhere"),
        (
            domain("add", "small", "acme.example"),
            "belongs to the organization acme",
        ),
        (domain("add", "small", "no domain"), "--domain"),
        (domain("add", "small", "ann@small.example"), "--domain"),
        (
            domain("remove", "small", "acme.example"),
            "organization small with the domain acme.example",
        ),
        (domain("remove", "acme", "other.example"), "not found"),
        (vec!["org", "domain", "list", "--org", "nowhere"], "nowhere"),
        (vec!["org", "domain", "add", "--org", "acme"], "--domain"),
        (vec!["user", "rename"], "rename"),
    ];
    for (arguments, word) in cases {
        let output = server
            .admin_command(&arguments)
            .arg("--json")
            .output()
            .unwrap();
        let error = error_of(&output);
        assert!(!output.status.success(), "{arguments:?} was done");
        assert!(
            output.stdout.is_empty(),
            "{arguments:?}: an answer beside the error"
        );
        assert!(
            error.starts_with("error: ") && error.contains(word),
            "{arguments:?}: {error}"
        );
        assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

async fn a_password_is_read_from_the_standard_input(server: Server) {
    server.organization("acme");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a secret of the file\nand another line\n").unwrap();
    let arguments = [
        "user",
        "create",
        "--org",
        "acme",
        "--email",
        "ada@acme.example",
        "--name",
        "A",
        "--nick",
        "ada",
    ];
    let mut command = server.admin_command(&arguments);
    let input = std::fs::File::open(file.path()).unwrap();
    assert!(
        command
            .arg("--password-stdin")
            .stdin(input)
            .output()
            .unwrap()
            .status
            .success()
    );
    server
        .client()
        .basic("ada@acme.example", "a secret of the file")
        .build()
        .unwrap()
        .me()
        .await
        .unwrap();
}

async fn many_commands_are_read_from_the_standard_input(server: Server) {
    let lines = "
        # The first flow
        org create --name Acme
        user create --org acme --email ada@acme.example --name 'Ada L' --nick ada --password 'a long secret'
        flow create --org nowhere --name Main
        flow create --org acme --name Main
        flow add-user --flow acme/main --email
        flow add-user --flow acme/main --email ada@acme.example
    ";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    let run = |more: &[&str]| {
        let input = std::fs::File::open(file.path()).unwrap();
        server
            .admin_command(&["batch"])
            .args(more)
            .stdin(input)
            .output()
            .unwrap()
    };
    let output = run(&["--json"]);
    assert!(
        !output.status.success() && error_of(&output).contains("2 commands failed"),
        "{output:?}"
    );
    let answers: Vec<Json> = printed(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (
            &answers[0]["name"],
            &answers[1]["nick"],
            &answers[3]["name"],
            &answers[5]["email"]
        ),
        (
            &json!("Acme"),
            &json!("ada"),
            &json!("Main"),
            &json!("ada@acme.example")
        )
    );
    assert_eq!(
        answers[2],
        json!({"error": "organization nowhere was not found", "line": 5})
    );
    assert_eq!(answers[4]["line"], 7);
    let ada = server
        .client()
        .basic("ada@acme.example", "a long secret")
        .build()
        .unwrap();
    assert_eq!(ada.me().await.unwrap().name, "Ada L");
    let again = run(&[]);
    assert!(
        printed(&again).contains("ada@acme.example is in the flow"),
        "{again:?}"
    );
    assert!(
        error_of(&again).contains("error: line 5: organization nowhere was not found"),
        "{again:?}"
    );
}

async fn what_is_done_twice_is_done_once(server: Server) {
    let acme = server.acme();
    server.admin(&[
        "flow",
        "add-user",
        "--flow",
        "acme/main",
        "--email",
        &acme.ben.email,
    ]);
    assert_eq!(
        acme.ada
            .get("/flows/acme/main/users")
            .await
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let again = server.admin(&["flow", "create", "--org", "acme", "--name", "main"]);
    assert_eq!(
        again["parameterized_name"], "main-2",
        "another flow of the same name has another address"
    );
    assert_eq!(
        acme.ada.get("/flows/acme/main/messages").await,
        json!([]),
        "no command posts anything"
    );
}

async fn domains_are_given_listed_and_taken_away(server: Server) {
    server.organization("acme");
    let domain = |command: &str, name: &str| {
        server.admin(&["org", "domain", command, "--org", "acme", "--domain", name])
    };
    let list = || server.admin(&["org", "domain", "list", "--org", "acme"]);
    assert_eq!(list(), json!({"organization": "acme", "domains": []}));
    // A domain is the same in every spelling.
    let added = domain("add", "B\u{fc}cher.Example");
    assert_eq!(
        added,
        json!({"organization": "acme", "domain": "xn--bcher-kva.example", "proved": 0})
    );
    assert_eq!(
        domain("add", "XN--BCHER-KVA.example"),
        added,
        "it is there already"
    );
    domain("add", "acme.example");
    assert_eq!(
        list()["domains"],
        json!(["acme.example", "xn--bcher-kva.example"])
    );
    let removed = domain("remove", "b\u{fc}cher.example");
    assert_eq!(
        removed,
        json!({"organization": "acme", "domain": "xn--bcher-kva.example", "unproved": 0})
    );
    assert_eq!(list()["domains"], json!(["acme.example"]));
    // No matter to whom it belonged, another organization may have it then.
    server.organization("other");
    server.admin(&[
        "org",
        "domain",
        "add",
        "--org",
        "other",
        "--domain",
        "xn--bcher-kva.example",
    ]);
    let output = server
        .admin_command(&["org", "domain", "list", "--org", "acme"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        "acme.example"
    );
}
