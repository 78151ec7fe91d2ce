use clap::{CommandFactory as _, Parser as _};

use super::*;
use crate::config::OPTIONS;

fn parse(line: &str) -> Result<Command, clap::Error> {
    Cli::try_parse_from(line.split(' ')).map(|cli| cli.command)
}

fn admin(line: &str) -> Admin {
    match parse(line).unwrap_or_else(|error| panic!("{error}")) {
        Command::Admin(admin) => admin,
        _ => panic!("not an operator's command: {line}"),
    }
}

fn one(line: &str) -> OneCommand {
    match admin(line).command {
        AdminCommand::One(command) => command,
        _ => panic!("not one command of a batch: {line}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn serve_takes_every_option() {
    for option in OPTIONS {
        let line = format!("eddyline serve --{} something", option.flag());
        let Ok(Command::Serve(serve)) = parse(&line) else {
            panic!("{line}")
        };
        assert_eq!(serve.options.layer.text(option.key), Some("something"));
    }
}

#[test]
fn the_help_of_serve_shows_every_variable() {
    let help = parse("eddyline serve --help").err().unwrap().to_string();
    for option in OPTIONS {
        assert!(
            help.contains(&option.variable()),
            "{} is missing in\n{help}",
            option.variable()
        );
    }
    assert!(help.contains("EDDYLINE_CONFIG"));
}

#[test]
fn a_proxy_may_be_named_several_times() {
    let line = "eddyline serve --trusted-proxy 10.0.0.0/8 --trusted-proxy 192.168.0.0/16";
    let Ok(Command::Serve(serve)) = parse(line) else {
        panic!()
    };
    assert_eq!(
        serve.options.layer.text("trusted_proxy"),
        Some("10.0.0.0/8,192.168.0.0/16")
    );
}

#[test]
fn a_switch_may_stand_alone() {
    for (line, text) in [
        (
            "eddyline serve --allow-private-targets --listen 127.0.0.1:0",
            "on",
        ),
        ("eddyline serve --allow-private-targets off", "off"),
    ] {
        let Ok(Command::Serve(serve)) = parse(line) else {
            panic!("{line}")
        };
        assert_eq!(
            serve.options.layer.text("allow_private_targets"),
            Some(text)
        );
    }
    assert!(parse("eddyline serve --listen").is_err());
}

#[test]
fn a_demonstration_knows_whether_its_directory_was_named() {
    let Ok(Command::Demo(demo)) = parse("eddyline demo") else {
        panic!()
    };
    assert!(!demo.names_directory());
    let Ok(Command::Demo(demo)) = parse("eddyline demo --data-dir d") else {
        panic!()
    };
    assert!(demo.names_directory());
}

#[test]
fn the_operator_may_say_where_the_data_is_before_or_after_the_command() {
    for line in [
        "eddyline admin --data-dir d --database sqlite:x --config f --json flow token --flow acme/main",
        "eddyline admin flow token --flow acme/main --data-dir d --database sqlite:x --config f --json",
    ] {
        let admin = admin(line);
        assert_eq!(admin.options.layer.text("data_dir"), Some("d"));
        assert_eq!(admin.options.layer.text("database"), Some("sqlite:x"));
        assert_eq!(admin.config.path, Some("f".into()));
        assert!(admin.json);
    }
}

#[test]
fn every_command_of_the_operator_is_understood() {
    let command = |line: &str| one(&format!("eddyline admin {line} --data-dir d --json"));
    let OneCommand::Org(OrgCommand::Create(org)) =
        command("org create --name N --parameterized-name p --user-limit 5")
    else {
        panic!()
    };
    assert_eq!(
        (org.name, org.parameterized_name, org.user_limit),
        ("N".into(), Some("p".into()), 5)
    );

    let OneCommand::Org(OrgCommand::Create(child)) = command("org create --name N --parent p")
    else {
        panic!()
    };
    assert_eq!(child.parent, Some("p".into()));

    let line =
        "org update --org p --name N --parameterized-name q --user-limit 7 --trial-ends 2027-01-31";
    let OneCommand::Org(OrgCommand::Update(update)) = command(&format!("{line} --active false"))
    else {
        panic!()
    };
    let fields = update.fields;
    assert_eq!(
        (update.org, fields.name, fields.parameterized_name),
        ("p".into(), Some("N".into()), Some("q".into()))
    );
    assert_eq!((fields.user_limit, fields.active), (Some(7), Some(false)));
    assert_eq!(
        fields.trial_ends.map(|day| day.to_string()),
        Some("2027-01-31".into())
    );

    let OneCommand::User(UserCommand::Create(user)) = command(
        "user create --org p --email e@x --name N --nick k --admin --bot --password secrets",
    ) else {
        panic!()
    };
    assert!(user.admin && user.bot);
    let PasswordFrom::Argument(password) = user.password.source() else {
        panic!()
    };
    assert_eq!(password.expose(), "secrets");

    let OneCommand::User(UserCommand::Token { email }) = command("user token --email e@x") else {
        panic!()
    };
    assert_eq!(email, "e@x");

    let OneCommand::Flow(FlowCommand::Create(flow)) = command("flow create --org p --name F")
    else {
        panic!()
    };
    assert_eq!((flow.org, flow.name), ("p".into(), "F".into()));

    let OneCommand::Flow(FlowCommand::AddUser(FlowUser { flow, email })) =
        command("flow add-user --flow p/f --email e@x")
    else {
        panic!()
    };
    assert_eq!(
        (flow.organization, flow.flow, email),
        ("p".into(), "f".into(), "e@x".into())
    );
}

#[test]
fn a_change_of_an_organization_says_what_changes() {
    let line = "eddyline admin org update --org p";
    let billing = |text: &str| {
        let OneCommand::Org(OrgCommand::Update(update)) =
            one(&format!("{line} --billing-date {text}"))
        else {
            panic!()
        };
        update
            .fields
            .billing_date
            .unwrap()
            .0
            .map(|day| day.to_string())
    };
    assert_eq!(billing("2027-01-31"), Some("2027-01-31".into()));
    assert_eq!(billing("none"), None);
    for wrong in [
        "",
        " --billing-date 31.1.2027",
        " --trial-ends never",
        " --trial-ends 2027-01-31 --billing-date none",
        " --active perhaps",
        " --user-limit 0",
    ] {
        assert!(parse(&format!("{line}{wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn a_flow_is_named_by_two_names() {
    for wrong in ["acme", "/main", "acme/", "a/b/c", ""] {
        assert!(wrong.parse::<FlowPath>().is_err(), "{wrong}");
    }
}

#[test]
fn a_password_need_not_stand_on_the_command_line() {
    let line = "eddyline admin user set-password --email e@x --password-stdin";
    let OneCommand::User(UserCommand::SetPassword { password, .. }) = one(line) else {
        panic!()
    };
    assert!(matches!(password.source(), PasswordFrom::Input));
    let read = |input: &[u8]| {
        let password = passwords::read_line(input)
            .ok()
            .and_then(|line| passwords::long_enough(line).ok());
        password.map(|password| password.expose().to_owned())
    };
    assert_eq!(read(b"open sesame\r\nmore").as_deref(), Some("open sesame"));
    assert_eq!(read(b" as it is ").as_deref(), Some(" as it is "));
    assert_eq!(read(b""), None, "an empty password");
    assert_eq!(
        read("sieben\u{e4}\n".as_bytes()),
        None,
        "a password that is too short"
    );
    assert_eq!(read(&[b'x'; 5000]), None, "a password that is too long");
    assert_eq!(read(b"\xff\n"), None, "not text");
}

#[test]
fn a_new_password_is_given_in_one_way_or_asked_for() {
    let line = "eddyline admin user set-password --email e@x";
    let OneCommand::User(UserCommand::SetPassword { password, .. }) = one(line) else {
        panic!()
    };
    assert!(matches!(password.source(), PasswordFrom::Nowhere));
    assert!(parse(&format!("{line} --password")).is_err());
    assert!(parse(&format!("{line} --password pw --password-stdin")).is_err());
    assert!(parse(&format!("{line} --password pw")).is_ok());
}

#[test]
fn a_refused_password_is_not_repeated() {
    let line = "eddyline admin user set-password --email e@x --password";
    let command = one(&format!("{line} {}", "x".repeat(2000)));
    let OneCommand::User(UserCommand::SetPassword { password, .. }) = command else {
        panic!()
    };
    let PasswordFrom::Argument(password) = password.source() else {
        panic!()
    };
    let refused = passwords::long_enough(password).unwrap_err().to_string();
    assert_eq!(refused, "is too long (maximum is 1024 bytes)");
}

#[test]
fn a_user_without_a_password_is_fine() {
    let line = "eddyline admin user create --org p --email e@x --name N --nick k";
    let OneCommand::User(UserCommand::Create(user)) = one(line) else {
        panic!()
    };
    assert!(matches!(user.password.source(), PasswordFrom::Nowhere));
}

/// What each command writes to the audit log; nothing where it only reads, or has no database.
const RECORDED: &[(&str, &[&str])] = &[
    ("admin app create", &["application.create"]),
    ("admin app list", &[]),
    ("admin audit", &[]),
    // Each line is a command.
    ("admin batch", &[]),
    ("admin check-config", &[]),
    (
        "admin delete cancel organization",
        &["organization.deletion_cancel"],
    ),
    ("admin delete cancel user", &["user.deletion_cancel"]),
    ("admin delete list", &[]),
    (
        "admin delete organization",
        &["organization.deletion_request"],
    ),
    ("admin delete run", &["organization.delete", "user.erase"]),
    ("admin delete user", &["user.deletion_request"]),
    ("admin erase", &["user.erase"]),
    ("admin flow add-user", &["flow.member_add"]),
    ("admin flow archive", &["flow.change"]),
    ("admin flow create", &["flow.create"]),
    ("admin flow list", &[]),
    ("admin flow remove-user", &["flow.member_remove"]),
    ("admin flow token", &["token.create"]),
    ("admin group add-user", &["group.update"]),
    ("admin group create", &["group.create"]),
    ("admin group list", &[]),
    ("admin group remove", &["group.remove"]),
    ("admin group remove-user", &["group.update"]),
    ("admin group show", &[]),
    ("admin hold list", &[]),
    ("admin hold place", &["hold.place"]),
    ("admin hold release", &["hold.release"]),
    ("admin invite", &["invitation.create", "flow.member_add"]),
    ("admin mail test", &[]),
    ("admin org create", &["organization.create"]),
    ("admin org domain add", &["domain.add"]),
    ("admin org domain list", &[]),
    ("admin org domain remove", &["domain.remove"]),
    ("admin org list", &[]),
    ("admin org show", &[]),
    ("admin org update", &["organization.change"]),
    ("admin retention clear", &["retention.set"]),
    // What the rules delete is counted.
    ("admin retention run", &[]),
    ("admin retention set", &["retention.set"]),
    ("admin retention show", &[]),
    ("admin scim audit", &[]),
    ("admin scim disable", &["scim.disable"]),
    ("admin scim enable", &["scim.enable", "scim.rotate"]),
    ("admin scim link", &["user.link"]),
    ("admin scim show", &[]),
    ("admin scim unlink", &["user.unlink"]),
    ("admin secret-key reset", &["secret_key.reset"]),
    ("admin source create", &["source.create"]),
    ("admin source list", &[]),
    ("admin token list", &[]),
    ("admin token revoke", &["token.revoke"]),
    ("admin user create", &["member.add", "token.create"]),
    ("admin user list", &[]),
    ("admin user remove", &["member.remove", "user.remove"]),
    ("admin user set-active", &["user.update"]),
    ("admin user set-admin", &["user.update"]),
    ("admin user set-password", &["password.change"]),
    ("admin user show", &[]),
    ("admin user token", &["token.create"]),
    ("backup", &["backup.create"]),
    ("check", &["data.repair"]),
    ("completions", &[]),
    // A server with data of its own.
    ("demo", &[]),
    ("doctor", &[]),
    ("export", &["data.export"]),
    ("healthcheck", &[]),
    ("import", &["data.import"]),
    ("man", &[]),
    ("move", &["data.move"]),
    ("restore", &["data.restore"]),
    // What its callers do is recorded for them.
    ("serve", &[]),
    ("status", &[]),
    ("verify", &[]),
];

fn add_leaves(command: &clap::Command, path: &str, to: &mut Vec<String>) {
    let mut is_leaf = true;
    for inner in command.get_subcommands() {
        is_leaf = false;
        add_leaves(inner, format!("{path} {}", inner.get_name()).trim(), to);
    }
    if is_leaf {
        to.push(path.to_owned());
    }
}

#[test]
fn every_command_says_what_it_records() {
    use eddyline_app::AuditAction;
    let mut commands = Vec::new();
    add_leaves(&Cli::command(), "", &mut commands);
    commands.sort();
    let said: Vec<&str> = RECORDED.iter().map(|(command, _)| *command).collect();
    assert_eq!(commands, said);
    for action in RECORDED.iter().flat_map(|(_, actions)| *actions) {
        assert!(AuditAction::named(action).is_some(), "{action}");
    }
}
