use std::fs;

use eddyline_model::names::Domain;
use tempfile::TempDir;

use super::lifetimes::Switch;
use super::*;

/// A machine with a data directory, on which an operator gives options.
struct Machine {
    data: TempDir,
    flags: Vec<(&'static str, String)>,
    variables: Vec<(String, String)>,
}

impl Machine {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let flags = vec![("data_dir", data.path().to_str().unwrap().to_owned())];
        Self {
            data,
            flags,
            variables: Vec::new(),
        }
    }

    fn flag(mut self, key: &'static str, text: &str) -> Self {
        self.flags.push((key, text.into()));
        self
    }

    fn variable(mut self, name: &str, text: &str) -> Self {
        self.variables.push((name.into(), text.into()));
        self
    }

    /// Writes the configuration file of the data directory.
    fn file(self, text: &str) -> Self {
        fs::write(self.data.path().join(DEFAULT_FILE), text).unwrap();
        self
    }

    fn flags(&self) -> Layer {
        let mut layer = Layer::default();
        for (key, text) in &self.flags {
            let option = OptionSpec::by_key(key).unwrap();
            layer.insert(option, text.clone(), Origin::Flag(option.flag()));
        }
        layer
    }

    fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.variables
            .iter()
            .map(|(name, text)| (name.into(), text.into()))
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(self.flags(), None, self.variables())
    }

    fn settings(&self) -> Settings {
        self.load().unwrap().settings
    }

    /// What the operator reads, with the data directory as `DATA`.
    fn refusal(&self) -> String {
        self.load()
            .unwrap_err()
            .to_string()
            .replace(self.data.path().to_str().unwrap(), "DATA")
    }
}

#[test]
fn without_options_the_defaults_hold() {
    let settings = load(Layer::default(), None, []).unwrap().settings;
    assert_eq!(settings.data_dir, Path::new("./eddyline-data"));
    assert_eq!(
        settings.database_url().expose(),
        "sqlite:./eddyline-data/eddyline.db"
    );
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.stream_listen.to_string(), "127.0.0.1:8081");
    assert_eq!(settings.stream_prefix.as_str(), "/stream");
    assert_eq!(settings.profile, Profile::Spec);
    assert_eq!(
        (
            settings.password_attempts_per_account,
            settings.password_attempts_per_address
        ),
        (10, 100)
    );
    assert_eq!(settings.tls(), None);
    assert_eq!(settings.base_url, None);
}

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
    let machine = Machine::new().file("listen = '127.0.0.1:1000'");
    assert_eq!(machine.settings().listen.port(), 1000);
    let machine = machine.variable("EDDYLINE_LISTEN", "127.0.0.1:2000");
    assert_eq!(machine.settings().listen.port(), 2000);
    let machine = machine.flag("listen", "127.0.0.1:3000");
    assert_eq!(machine.settings().listen.port(), 3000);
}

#[test]
fn an_empty_variable_is_as_good_as_none() {
    let machine = Machine::new()
        .file("profile = 'classic'")
        .variable("EDDYLINE_PROFILE", "");
    assert_eq!(machine.settings().profile, Profile::Classic);
}

#[test]
fn a_wrong_value_is_refused_with_the_name_of_its_option_wherever_it_stands() {
    let wrong = "\"soon\" is not a number of seconds from 0 to 3600";
    let flag = Machine::new().flag("shutdown_seconds", "soon");
    assert_eq!(flag.refusal(), format!("--shutdown-seconds: {wrong}"));
    let variable = Machine::new().variable("EDDYLINE_SHUTDOWN_SECONDS", "soon");
    assert_eq!(
        variable.refusal(),
        format!("EDDYLINE_SHUTDOWN_SECONDS: {wrong}")
    );
    let file = Machine::new().file("shutdown_seconds = 'soon'");
    assert_eq!(
        file.refusal(),
        format!("DATA/eddyline.toml: shutdown_seconds: {wrong}")
    );
}

#[test]
fn a_wrong_value_in_the_file_is_refused_although_a_flag_overrides_it() {
    let machine = Machine::new()
        .file("profile = 'modern'")
        .flag("profile", "spec");
    assert_eq!(
        machine.refusal(),
        "DATA/eddyline.toml: profile: \"modern\" is not a profile; there are spec and classic"
    );
}

#[test]
fn a_key_of_the_wrong_type_is_refused() {
    let machine = Machine::new().file("profile = ['spec', 'classic']");
    let refusal = machine.refusal();
    assert!(
        refusal.starts_with("DATA/eddyline.toml: profile: the value must be a text"),
        "{refusal}"
    );
    let machine = Machine::new().file("readers = true");
    assert!(
        machine.refusal().ends_with("not of type boolean"),
        "{}",
        machine.refusal()
    );
}

#[test]
fn a_switch_takes_a_boolean_of_the_file_and_nothing_else_does() {
    let settings = Machine::new()
        .file("allow_private_targets = true\npassword_grant = false")
        .settings();
    assert_eq!(
        (settings.allow_private_targets, settings.password_grant),
        (Switch(true), Switch(false))
    );
    let machine = Machine::new().file("smtp_user = true");
    assert!(
        machine
            .refusal()
            .ends_with("a text or a whole number, not of type boolean"),
        "{}",
        machine.refusal()
    );
    let machine = Machine::new().file("password_grant = 1.5");
    assert!(
        machine
            .refusal()
            .ends_with("true or false, not of type float"),
        "{}",
        machine.refusal()
    );
}

#[test]
fn connections_and_readers_have_a_least_and_a_most() {
    for (name, most) in [("readers", 256), ("max_connections", 1_000_000)] {
        let flag = name.replace('_', "-");
        let beyond = (most + 1).to_string();
        for wrong in ["0", "-1", "many", "4294967296", beyond.as_str()] {
            let refusal = Machine::new().flag(name, wrong).refusal();
            assert_eq!(
                refusal,
                format!("--{flag}: {wrong:?} is not a number from 1 to {most}")
            );
        }
        let machine = Machine::new().file(&format!("{name} = {beyond}"));
        assert!(
            machine
                .refusal()
                .ends_with(&format!("is not a number from 1 to {most}"))
        );
    }
    let machine = Machine::new()
        .flag("readers", "256")
        .flag("max_connections", "1000000");
    let settings = machine.settings();
    assert_eq!(
        (settings.readers.get(), settings.max_connections.get()),
        (256, 1_000_000)
    );
}

#[test]
fn memory_of_password_hashes_has_a_least_and_a_most() {
    for wrong in ["7", "1048577", "0", "-8", "19 MiB", ""] {
        let refusal = Machine::new().flag("password_hash_kib", wrong).refusal();
        assert_eq!(
            refusal,
            format!("--password-hash-kib: {wrong:?} is not a number from 8 to 1048576")
        );
    }
    for (kib, is_weak) in [
        ("8", true),
        ("7167", true),
        ("7168", false),
        ("1048576", false),
    ] {
        let settings = Machine::new().flag("password_hash_kib", kib).settings();
        assert_eq!(settings.password_hash_kib.kib().to_string(), kib);
        assert_eq!(settings.password_hash_kib.is_weak(), is_weak, "{kib}");
    }
    assert!(!Machine::new().settings().password_hash_kib.is_weak());
}

#[test]
fn an_unknown_key_is_refused_and_a_likely_one_suggested() {
    assert_eq!(
        Machine::new().file("colour = 'red'").refusal(),
        "DATA/eddyline.toml: unknown key colour"
    );
    assert_eq!(
        Machine::new()
            .file("stream-listen = '127.0.0.1:1'")
            .refusal(),
        "DATA/eddyline.toml: unknown key stream-listen; did you mean stream_listen?"
    );
    assert_eq!(
        Machine::new()
            .file("trusted_proxies = '10.0.0.0/8'")
            .refusal(),
        "DATA/eddyline.toml: unknown key trusted_proxies; did you mean trusted_proxy?"
    );
    assert_eq!(
        Machine::new().file("[limits]").refusal(),
        "DATA/eddyline.toml: unknown key limits"
    );
}

#[test]
fn a_file_that_is_not_toml_is_refused() {
    let error = Machine::new().file("listen =").load().unwrap_err();
    assert!(matches!(error, ConfigError::Syntax { .. }), "{error}");
}

#[test]
fn an_unknown_variable_is_only_mentioned() {
    let machine = Machine::new()
        .variable("EDDYLINE_LISTNE", "127.0.0.1:1")
        .variable("EDDYLINE_COLOUR", "red")
        .variable("EDDYLINE_listen", "127.0.0.1:1")
        .variable("EDDYLINE_LOG", "warn")
        .variable("LISTEN", "x");
    let loaded = machine.load().unwrap();
    assert_eq!(
        loaded.remarks,
        [
            "EDDYLINE_COLOUR is not a known variable, and is ignored",
            "EDDYLINE_LISTNE is not a known variable, and is ignored; did you mean EDDYLINE_LISTEN?",
            "EDDYLINE_listen is not a known variable, and is ignored; did you mean EDDYLINE_LISTEN?"
        ]
    );
    assert_eq!(loaded.settings.listen.port(), 8080);
}

#[test]
#[cfg(unix)]
fn a_variable_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let variable = ("EDDYLINE_LISTEN".into(), OsString::from_vec(vec![0xff]));
    let error = load(Layer::default(), None, [variable]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "EDDYLINE_LISTEN: the value is not UTF-8 text"
    );
}

#[test]
fn a_file_that_is_named_must_exist() {
    let machine = Machine::new();
    let missing = machine.data.path().join("missing.toml");
    let error = load(machine.flags(), Some(&missing), []).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    let machine = machine.variable("EDDYLINE_CONFIG", missing.to_str().unwrap());
    assert_eq!(
        machine.refusal(),
        "DATA/missing.toml: cannot read the configuration file"
    );
}

#[test]
fn a_file_that_is_named_is_read_instead_of_the_one_in_the_data_directory() {
    let machine = Machine::new().file("profile = 'classic'");
    let named = machine.data.path().join("named.toml");
    fs::write(&named, "data_dir = '/elsewhere'\nreaders = 3").unwrap();
    let settings = load(Layer::default(), Some(&named), []).unwrap().settings;
    assert_eq!(settings.data_dir, Path::new("/elsewhere"));
    assert_eq!(
        (settings.readers.get(), settings.profile),
        (3, Profile::Spec)
    );
}

#[test]
fn the_file_in_the_data_directory_cannot_move_it() {
    let refusal = Machine::new().file("data_dir = '/elsewhere'").refusal();
    assert!(
        refusal.starts_with("DATA/eddyline.toml: data_dir: the file was found"),
        "{refusal}"
    );
}

#[test]
fn a_certificate_needs_its_key_and_a_key_its_certificate() {
    let machine = Machine::new().variable("EDDYLINE_TLS_CERT", "chain.pem");
    assert_eq!(
        machine.refusal(),
        "EDDYLINE_TLS_CERT: tls_key must be given as well"
    );
    let both = machine.flag("tls_key", "key.pem").settings();
    assert_eq!(
        both.tls(),
        Some(TlsFiles {
            cert: Path::new("chain.pem"),
            key: Path::new("key.pem")
        })
    );
    assert!(both.speaks_tls());
    let key = Machine::new().flag("tls_key", "key.pem");
    assert_eq!(key.refusal(), "--tls-key: tls_cert must be given as well");
}

#[test]
fn certificates_are_ordered_for_names_that_an_authority_can_check() {
    let names = Machine::new()
        .flag("acme_domain", "Chat.example.org, bücher.example")
        .flag("acme_contact", "admin@example.org")
        .settings();
    let ascii: Vec<_> = names.acme_domain.iter().map(Domain::as_str).collect();
    assert_eq!(ascii, ["chat.example.org", "xn--bcher-kva.example"]);
    assert!(names.speaks_tls() && names.tls().is_none());
    for bad in [
        "*.example.org",
        "192.0.2.1",
        "https://a.example",
        "a.example,",
        "",
    ] {
        let refusal = Machine::new().flag("acme_domain", bad).refusal();
        assert!(
            refusal.contains("is not the name of a host"),
            "{bad}: {refusal}"
        );
    }
    let http = Machine::new()
        .flag("acme_domain", "a.example")
        .flag("acme_directory", "http://ca.example/dir");
    assert_eq!(
        http.refusal(),
        "--acme-directory: \"http://ca.example/dir\" is not an address that begins with https://"
    );
    let both = Machine::new()
        .flag("acme_domain", "a.example")
        .flag("tls_cert", "cert.pem")
        .flag("tls_key", "key.pem");
    assert_eq!(
        both.refusal(),
        "--acme-domain: tls_cert names a certificate already; give only one of them"
    );
    let lonely = Machine::new().flag("acme_contact", "admin@example.org");
    assert_eq!(
        lonely.refusal(),
        "--acme-contact: acme_domain must be given as well"
    );
}

#[test]
fn the_two_listeners_need_two_addresses_unless_the_system_chooses_the_ports() {
    let same = Machine::new().flag("listen", "127.0.0.1:8081");
    assert_eq!(
        same.refusal(),
        "--listen: listen and stream_listen are the same address, 127.0.0.1:8081"
    );
    Machine::new()
        .flag("listen", "127.0.0.1:0")
        .flag("stream_listen", "127.0.0.1:0")
        .settings();
}

#[test]
fn proxies_are_a_list_in_every_place() {
    let expected = [
        "10.0.0.0/8".parse().unwrap(),
        "2001:db8::1/128".parse().unwrap(),
    ];
    let file = Machine::new().file("trusted_proxy = ['10.0.0.0/8', '2001:db8::1']");
    assert_eq!(file.settings().trusted_proxy, expected);
    let variable = Machine::new().variable("EDDYLINE_TRUSTED_PROXY", "10.0.0.0/8, 2001:db8::1");
    assert_eq!(variable.settings().trusted_proxy, expected);
    assert_eq!(
        Machine::new()
            .flag("trusted_proxy", "10.0.0.0/8,proxy.example.org")
            .refusal(),
        "--trusted-proxy: \"proxy.example.org\" is not a network such as 10.0.0.0/8"
    );
    assert_eq!(
        Machine::new()
            .file("trusted_proxy = []")
            .settings()
            .trusted_proxy,
        []
    );
}

#[test]
fn addresses_for_clients_are_complete_and_lose_their_last_slash() {
    let url = |text: &str| {
        Machine::new()
            .flag("base_url", text)
            .load()
            .map(|loaded| loaded.settings.base_url)
    };
    assert_eq!(
        url("https://chat.example.org/api/")
            .unwrap()
            .unwrap()
            .as_str(),
        "https://chat.example.org/api"
    );
    for wrong in [
        "chat.example.org",
        "ftp://a",
        "https://",
        "https://me:pw@a",
        "https://a/?b",
        "https://a/#b",
    ] {
        assert!(url(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_stream_prefix_is_a_plain_path_that_nothing_else_uses() {
    let prefix = |text: &str| {
        Machine::new()
            .flag("stream_prefix", text)
            .load()
            .map(|loaded| loaded.settings.stream_prefix)
    };
    assert_eq!(prefix("/live/").unwrap().as_str(), "/live");
    assert_eq!(prefix("/chat/live").unwrap().as_str(), "/chat/live");
    for wrong in [
        "",
        "/",
        "stream",
        "//a",
        "/a//b",
        "/..",
        "/{x}",
        "/a b",
        "/v1/stream",
    ] {
        assert!(prefix(wrong).is_err(), "{wrong}");
    }
    for page in [
        "account",
        "api",
        "app",
        "assets",
        "developer",
        "email",
        "invitations",
        "password",
        "sign-in",
    ] {
        assert!(
            prefix(&format!("/{page}")).is_err() && prefix(&format!("/{page}/x")).is_err(),
            "{page}"
        );
    }
    for endpoint in [
        "flows",
        "messages",
        "files",
        "oauth",
        "openapi.json",
        "healthz",
        "scim",
        "user",
        "users",
    ] {
        assert!(prefix(&format!("/{endpoint}")).is_err(), "{endpoint}");
    }
}

#[test]
fn a_password_that_is_not_encoded_is_refused_without_repeating_any_of_it() {
    for address in [
        "postgres://me:hush@hush@db/chat",
        "postgres://me:hush/hush@db/chat",
        "postgres://me:hush?hush@db/chat",
        "postgres://me:hush?a=b@db/chat",
        "postgres://me:hush/hush?a=b@db/chat",
        "postgres://me:hush%@db/chat",
        "postgres://db?user=me&password=hush@hush",
        "postgres://me:hush hush@db/chat",
        "postgres://me:hush@hush/hush@db/chat",
        "postgres://me:hush@hush?hush@db/chat",
        "postgres://me:12/hush?hush@db/chat",
        "postgres://me:hush%00hush@db/chat",
    ] {
        let refusal = Machine::new().flag("database", address).refusal();
        assert!(
            refusal.contains("percent-encoded: @ as %40") && !refusal.contains("hush"),
            "{refusal}"
        );
    }
    for address in [
        "postgres:///chat?host=/run/pg&user=me@corp",
        "postgres://me:p%40ss@db/chat?sslmode=require",
        "postgres://me@[::1]:5432,db:5433/chat",
        "postgres://[::1]/chat",
        "postgres://db:5432",
        "postgres://me@%2Fvar%2Frun%2Fpostgresql/chat?options=-c%20x%3Dy&sslmode=prefer",
    ] {
        assert_eq!(
            Machine::new()
                .flag("database", address)
                .settings()
                .database_url()
                .expose(),
            address
        );
    }
}

#[test]
fn a_password_in_a_database_address_is_never_shown() {
    let settings = Machine::new()
        .flag("database", "postgres://me:hush-hush@db/chat")
        .settings();
    assert!(!format!("{settings:?}").contains("hush-hush"));
    assert_eq!(
        settings.database_url().expose(),
        "postgres://me:hush-hush@db/chat"
    );
    let refusal = Machine::new()
        .flag("database", "mysql://me:hush-hush@db/chat")
        .refusal();
    assert!(
        refusal.starts_with("--database: ") && !refusal.contains("hush-hush"),
        "{refusal}"
    );
}

#[test]
fn a_log_filter_must_make_sense() {
    assert_eq!(
        Machine::new()
            .flag("log", "warn,eddyline=debug")
            .settings()
            .log
            .as_str(),
        "warn,eddyline=debug"
    );
    let refusal = Machine::new().flag("log", "eddyline=loud").refusal();
    assert!(
        refusal.starts_with("--log: \"eddyline=loud\" is not a log filter"),
        "{refusal}"
    );
    for word in ["warning", "inof", "", "warn,eddyline", "5"] {
        let refusal = Machine::new().flag("log", word).refusal();
        assert!(
            refusal.contains("is no level: there are error, warn, info,"),
            "{word}: {refusal}"
        );
    }
    assert_eq!(
        Machine::new().flag("log", "WARN").settings().log.as_str(),
        "WARN"
    );
}

#[test]
fn a_demonstration_stays_away_from_the_data_of_the_real_server() {
    let machine = Machine::new()
        .file("profile = 'classic'")
        .variable("EDDYLINE_DATABASE", "postgres://db/real")
        .variable("EDDYLINE_DATA_DIR", "/real")
        .variable("EDDYLINE_CONFIG", "/real.toml")
        .variable("EDDYLINE_LISTEN", "127.0.0.1:9000");
    let settings = load_for_demo(machine.flags(), machine.variables())
        .unwrap()
        .settings;
    assert_eq!(
        (settings.database.as_ref(), settings.profile),
        (None, Profile::Spec)
    );
    assert_eq!(settings.data_dir, machine.data.path());
    assert_eq!(settings.listen.port(), 9000);
}

#[test]
fn a_mail_server_is_named_with_what_belongs_to_it() {
    let machine = Machine::new()
        .flag("smtp_host", "mail.example.org")
        .flag("mail_from", "Eddyline <eddyline@example.org>")
        .flag("smtp_user", "eddyline")
        .variable("EDDYLINE_SMTP_PASSWORD", "open sesame")
        .file("smtp_security = 'tls'\nsmtp_port = 4650");
    let settings = machine.settings();
    assert_eq!(settings.smtp_host.as_deref(), Some("mail.example.org"));
    assert_eq!(settings.smtp_security, SmtpSecurity::Tls);
    assert_eq!(settings.smtp_port.map(u16::from), Some(4650));
    assert_eq!(
        settings
            .smtp_password
            .as_ref()
            .map(super::values::SmtpPassword::expose),
        Some("open sesame")
    );
    assert!(!format!("{settings:?}").contains("sesame"));
}

#[test]
fn half_a_mail_server_is_refused() {
    let host = || Machine::new().flag("smtp_host", "mail.example.org");
    let from = || host().flag("mail_from", "eddyline@example.org");
    for (machine, refusal) in [
        (host(), "--smtp-host: mail_from must be given as well"),
        (
            from().flag("smtp_user", "eddyline"),
            "--smtp-user: smtp_password must be given as well",
        ),
        (
            from().flag("smtp_password", "sesame"),
            "--smtp-password: smtp_user must be given as well",
        ),
        (
            Machine::new().flag("smtp_port", "25"),
            "--smtp-port: smtp_host must be given as well",
        ),
        (
            from().flag("smtp_security", "ssl"),
            "--smtp-security: \"ssl\" is no kind of encryption; there are starttls, tls and none",
        ),
        (
            from().flag("smtp_port", "0"),
            "--smtp-port: \"0\" is not a number from 1 to 65535",
        ),
    ] {
        assert_eq!(machine.refusal(), refusal);
    }
}

#[test]
fn a_demonstration_writes_to_nobody() {
    let machine = Machine::new()
        .variable("EDDYLINE_SMTP_HOST", "mail.example.org")
        .variable("EDDYLINE_AUDIT_SYSLOG", "tls://logs.example.org:6514");
    let settings = load_for_demo(machine.flags(), machine.variables())
        .unwrap()
        .settings;
    assert_eq!((settings.smtp_host, settings.audit_syslog), (None, None));
}

/// The first four cells of the rows of `docs/configuration.md` that describe options.
fn documented() -> Vec<String> {
    let document = include_str!("../../../../docs/configuration.md");
    let rows = document.lines().filter(|line| line.starts_with("| `--"));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert!(
            cells.len() == 7 && !cells[5].is_empty(),
            "a row without a meaning: {row}"
        );
        cells[1..5].join(" ")
    })
    .collect()
}

#[test]
fn the_documentation_has_a_row_for_each_option_and_no_other() {
    let expected: Vec<_> = OPTIONS
        .iter()
        .map(|option| {
            let OptionSpec { key, default, .. } = option;
            format!(
                "`--{}` `{}` `{key}` `{default}`",
                option.flag(),
                option.variable()
            )
        })
        .collect();
    assert_eq!(documented(), expected);
}

#[test]
fn the_example_in_the_documentation_is_valid() {
    let document = include_str!("../../../../docs/configuration.md");
    let example = document
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, example).unwrap();
    load(Layer::default(), Some(file.path()), []).unwrap();
}

#[test]
fn settings_that_the_log_names_for_a_refusal_are_options() {
    let named = eddyline_app::Limit::ALL
        .iter()
        .filter_map(|limit| limit.setting());
    for setting in named {
        assert!(OptionSpec::by_key(setting).is_some(), "{setting}");
    }
}
