//! Passwords that operators give.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use eddyline_tests::{Server, Tenant, on_shared_servers};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

on_shared_servers![
    a_password_that_the_pages_refuse_as_too_short_is_refused,
    a_password_that_is_easy_to_guess_is_warned_of,
    a_terminal_asks_without_showing_the_password,
    without_a_terminal_nothing_is_asked,
];

const NEW: &str = "velvet otter parade";

fn create(tenant: &Tenant, nick: &str, password: &str) -> std::process::Output {
    let email = format!("{nick}@{}.example", tenant.name);
    let line = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &email,
        "--name",
        "Cleo Parker",
        "--nick",
        nick,
    ];
    tenant
        .server()
        .admin_command(&line)
        .args(["--password", password])
        .output()
        .unwrap()
}

fn error_of(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

async fn a_password_that_the_pages_refuse_as_too_short_is_refused(tenant: Tenant) {
    for (password, why) in [
        ("1234567", "too short (minimum is 8 characters)"),
        ("ÄÖÜäöüß", "too short"),
        (&"x".repeat(1025), "too long"),
    ] {
        for output in [
            create(&tenant, "cleo", password),
            tenant
                .server()
                .admin_command(&[
                    "user",
                    "set-password",
                    "--email",
                    &tenant.ben.email,
                    "--password",
                    password,
                ])
                .output()
                .unwrap(),
        ] {
            let error = error_of(&output);
            assert!(
                !output.status.success() && error.contains(why) && !error.contains(password),
                "{error}"
            );
        }
    }
    tenant.ben.by_password().me().await.unwrap();
}

async fn a_password_that_is_easy_to_guess_is_warned_of(tenant: Tenant) {
    for (nick, password) in [("cleo", "cleoparker"), ("dora", "password1")] {
        let output = create(&tenant, nick, password);
        let said = error_of(&output);
        assert!(
            output.status.success() && said.starts_with("warning: the password is easy to guess"),
            "{said}"
        );
        assert!(!said.contains(password), "{said}");
    }
    let output = create(&tenant, "eva", NEW);
    assert!(
        output.status.success() && error_of(&output).is_empty(),
        "{output:?}"
    );
    // What is known of a user counts, also where the command does not say it.
    let email = format!("eva@{}.example", tenant.name);
    let line = [
        "user",
        "set-password",
        "--email",
        &email,
        "--password",
        "cleoparker",
    ];
    let output = tenant.server().admin_command(&line).output().unwrap();
    assert!(
        output.status.success() && error_of(&output).contains("easy to guess"),
        "{output:?}"
    );
}

/// A command at a terminal.
struct AtTerminal {
    process: Child,
    terminal: File,
}

impl AtTerminal {
    fn run(server: &Server, arguments: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let other_end = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let mut command = server.admin_command(arguments);
        let process = command
            .stdin(other_end)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            process,
            terminal: File::from(terminal),
        }
    }

    /// Waits for a question and types an answer.
    fn answer(&mut self, question: &str, answer: &str) {
        let mut asked = String::new();
        let said = self.process.stderr.as_mut().unwrap();
        while !asked.ends_with(question) {
            let mut byte = [0];
            said.read_exact(&mut byte)
                .unwrap_or_else(|error| panic!("{error} after {asked:?}"));
            asked.push(byte[0].into());
        }
        self.terminal
            .write_all(format!("{answer}\n").as_bytes())
            .unwrap();
    }

    /// Whether the command succeeded, what else it said, and what the terminal showed of what was
    /// typed.
    fn end(mut self) -> (bool, String, String) {
        let mut said = String::new();
        self.process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let success = self.process.wait().unwrap().success();
        let mut shown = [0; 1024];
        rustix::io::ioctl_fionbio(&self.terminal, true).unwrap();
        let count = self.terminal.read(&mut shown).unwrap_or(0);
        (
            success,
            said,
            String::from_utf8_lossy(&shown[..count]).into_owned(),
        )
    }
}

async fn a_terminal_asks_without_showing_the_password(tenant: Tenant) {
    let (server, email) = (tenant.server(), &tenant.ben.email);
    let line = ["user", "set-password", "--email", email];
    for line in [&line[..], &[&line[..], &["--password-stdin"]].concat()] {
        let mut command = AtTerminal::run(server, line);
        command.answer("New password: ", NEW);
        command.answer("The same again: ", NEW);
        let (success, said, shown) = command.end();
        assert!(success && !shown.contains(NEW), "{said}: {shown:?}");
        server
            .client()
            .basic(email, NEW)
            .build()
            .unwrap()
            .me()
            .await
            .unwrap();
    }
    let mut command = AtTerminal::run(server, &line);
    command.answer("New password: ", "another good one");
    command.answer("The same again: ", "another good ome");
    let (success, said, _) = command.end();
    assert!(!success && said.contains("different"), "{said}");
    let mut command = AtTerminal::run(server, &line);
    command.answer("New password: ", "short");
    let (success, said, _) = command.end();
    assert!(!success && said.contains("too short"), "{said}");
    server
        .client()
        .basic(email, NEW)
        .build()
        .unwrap()
        .me()
        .await
        .unwrap();
    // The same terminal shows what is typed where it does no harm.
    let mut command = AtTerminal::run(
        server,
        &[
            "user",
            "set-active",
            "--email",
            &tenant.ada.email,
            "--active",
            "false",
        ],
    );
    command.answer("Make the user inactive? [y/N] ", "n");
    let (success, said, shown) = command.end();
    assert!(
        !success && said.contains("nothing was changed") && shown.contains('n'),
        "{said}: {shown:?}"
    );
    tenant.ada.client.me().await.unwrap();
}

async fn without_a_terminal_nothing_is_asked(tenant: Tenant) {
    let line = ["user", "set-password", "--email", &tenant.ben.email];
    let output = tenant
        .server()
        .admin_command(&line)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        !output.status.success() && error_of(&output).contains("--password-stdin"),
        "{output:?}"
    );
    let said = tenant.server().try_admin(&line).unwrap_err();
    assert!(
        said.contains("a batch has its commands on the standard input"),
        "{said}"
    );
}
