//! The table of options: each is declared here once, and the flags, the variables, the keys of the
//! configuration file, the help and [`Settings`] all come from it.

pub(super) mod layers;

use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use eddyline_auth::WebhookSecret;
use eddyline_model::names::{Domain, Email};
use ipnet::IpNet;

use self::layers::Layers;
use super::destinations::{SyslogAddress, WebhookUrl};
use super::lifetimes::{
    CodeLifetime, DeletionGrace, Lifetime, LinkLifetime, RecordLifetime, SecretKey, Switch,
};
use super::values::{
    BackupPlace, BackupRecipient, BaseUrl, Count, DatabaseUrl, HashMemory, HttpsUrl, LogDirectives,
    LogFormat, PathPrefix, Profile, SmtpPassword, SmtpSecurity, StoreSecret, TracePercent, Value,
};
use super::{ConfigError, OptionGroup};

/// What is known of an option before anybody gives it a value.
#[derive(Debug)]
pub(crate) struct OptionSpec {
    /// The key in the configuration file; the other names are made of it.
    pub(crate) key: &'static str,
    /// Where the help lists it.
    pub(crate) group: OptionGroup,
    /// What the help calls its value.
    pub(crate) value_name: &'static str,
    /// The value that holds when nobody gives one, or words for it.
    pub(crate) default: &'static str,
    /// What it means.
    pub(crate) help: &'static str,
    /// The value that its flag means when it stands alone, if it may.
    pub(crate) alone: Option<&'static str>,
    /// Whether it takes a list: a repeated flag, commas in a variable, an array in the file.
    pub(crate) list: bool,
    /// Whether the file may have a boolean for it.
    pub(crate) boolean: bool,
    /// What of its text may be shown.
    pub(crate) shown: fn(&str) -> String,
}

impl OptionSpec {
    /// The option with this key.
    pub(crate) fn by_key(key: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.key == key)
    }

    /// The name of the flag, without its dashes.
    pub(crate) fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The name of the environment variable.
    pub(crate) fn variable(&self) -> String {
        format!(
            "{}{}",
            super::VARIABLE_PREFIX,
            self.key.to_ascii_uppercase()
        )
    }
}

/// A default that is written like any other value.
fn value<T: Value>(text: &str) -> T {
    T::parse(text).expect("the defaults in the table are valid, and the tests read them all")
}

/// A default that is the absence of a value; the table describes what happens then.
fn absent<T: Default>(_description: &str) -> T {
    T::default()
}

macro_rules! options {
    ($( $group:ident {
        $( $(#[doc = $help:literal])+ $key:ident: $type:ty = $default:ident($text:literal), $value_name:literal; )+
    } )+) => {
        /// The configuration that results from flags, variables and file.
        #[derive(Clone, Debug)]
        pub(crate) struct Settings {
            $($( $(#[doc = $help])+ pub(crate) $key: $type, )+)+
        }

        /// Every option, in the order of the help.
        pub(crate) const OPTIONS: &[OptionSpec] = &[ $($( OptionSpec {
            key: stringify!($key),
            group: OptionGroup::$group,
            value_name: $value_name,
            default: $text,
            help: concat!($($help),+).trim_ascii(),
            alone: <$type as Value>::ALONE,
            list: <$type as Value>::LIST,
            boolean: <$type as Value>::BOOLEAN,
            shown: <$type as Value>::shown,
        }, )+)+ ];

        impl Settings {
            pub(super) fn merge(layers: &Layers) -> Result<Self, ConfigError> {
                Ok(Self { $($( $key: layers.resolve(stringify!($key), $default($text))?, )+)+ })
            }

            /// Every value that its option does not take.
            pub(super) fn wrong_values(layers: &Layers) -> Vec<ConfigError> {
                let mut wrong = Vec::new();
                $($( wrong.extend(layers.resolve::<$type>(stringify!($key), $default($text)).err()); )+)+
                wrong
            }

            /// The keys of the options that have another value in `other`.
            pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $($( if self.$key != other.$key { keys.push(stringify!($key)) } )+)+
                keys
            }
        }
    };
}

options! {
    Data {
        /// Directory of everything the server keeps, made when it is missing
        data_dir: PathBuf = value("./eddyline-data"), "DIR";
        /// Database: sqlite:PATH, or postgres://USER@HOST/NAME for a PostgreSQL server
        database: Option<DatabaseUrl> = absent("eddyline.db in the data directory"), "URL";
        /// Key under which secrets of applications are sealed, at least 32 random characters; the
        /// same for all servers of a database. Keep it with your backups
        secret_key: Option<SecretKey> = absent("made, and kept beside the database"), "KEY";
        /// File that has this key
        secret_key_file: Option<PathBuf> = absent("none"), "FILE";
    }
    Addresses {
        /// Address and port of the API and the pages; port 0 takes a free one
        listen: SocketAddr = value("127.0.0.1:8080"), "ADDRESS";
        /// Address and port of the stream; port 0 takes a free one
        stream_listen: SocketAddr = value("127.0.0.1:8081"), "ADDRESS";
        /// Address and port of the metrics for Prometheus, which need no credentials; port 0 takes a
        /// free one
        metrics_listen: Option<SocketAddr> = absent("none"), "ADDRESS";
        /// Path under which the stream is served on the API's address as well
        stream_prefix: PathPrefix = value("/stream"), "PATH";
        /// Address of the API as clients see it, for URLs in answers
        base_url: Option<BaseUrl> = absent("made from listen"), "URL";
        /// Address of the stream as clients see it
        stream_url: Option<BaseUrl> = absent("base_url with stream_prefix, or made from stream_listen"), "URL";
        /// Address of the pages as people see it
        web_url: Option<BaseUrl> = absent("same as base_url"), "URL";
    }
    Protocol {
        /// spec, or classic for clients of the original service that cannot be changed
        profile: Profile = value("spec"), "PROFILE";
    }
    Https {
        /// Certificate chain in PEM form; with --tls-key, both listeners speak HTTPS
        tls_cert: Option<PathBuf> = absent("plain HTTP"), "FILE";
        /// Private key of the certificate in PEM form
        tls_key: Option<PathBuf> = absent("plain HTTP"), "FILE";
        /// Name of the server, for which it orders its certificate by ACME in place of --tls-cert; may
        /// be given several times
        acme_domain: Vec<Domain> = absent("none"), "NAME";
        /// Directory of the authority that certificates are ordered from; an order agrees to the
        /// authority's terms of service
        acme_directory: HttpsUrl = value("https://acme-v02.api.letsencrypt.org/directory"), "URL";
        /// Address to which the authority may write
        acme_contact: Option<Email> = absent("none"), "ADDRESS";
        /// PEM file of the certificate authority of the directory, where the system does not trust it
        acme_ca: Option<PathBuf> = absent("the authorities of the system"), "FILE";
        /// Network of a reverse proxy, such as 10.0.0.0/8, whose Forwarded and X-Forwarded headers
        /// are believed; may be given several times
        trusted_proxy: Vec<IpNet> = absent("none"), "CIDR";
    }
    Mail {
        /// Host name of the mail server that takes the server's mail; without one, mail is written
        /// into the folder outbox in the data directory
        smtp_host: Option<String> = absent("none"), "HOST";
        /// Port of the mail server
        smtp_port: Option<NonZeroU16> = absent("587 for starttls, 465 for tls, 25 for none"), "PORT";
        /// Encryption of the connection to the mail server: starttls, tls or none
        smtp_security: SmtpSecurity = value("starttls"), "KIND";
        /// Name to sign in to the mail server with
        smtp_user: Option<String> = absent("no signing in"), "NAME";
        /// Password to sign in to the mail server with
        smtp_password: Option<SmtpPassword> = absent("no signing in"), "PASSWORD";
        /// Certificates in PEM form of authorities that the mail server's may be of, besides the
        /// well-known ones
        smtp_ca: Option<PathBuf> = absent("the well-known ones"), "FILE";
        /// Mailbox that mail is from; needed with --smtp-host
        mail_from: String = value("Eddyline <eddyline@localhost>"), "MAILBOX";
        /// Seconds until mail that could not be sent is tried again; then twice as long each time
        mail_retry_seconds: NonZeroU32 = value("60"), "SECONDS";
        /// Seconds in which nobody is mailed the same invitation again; 0 for no pause
        invitation_pause_seconds: u32 = value("300"), "SECONDS";
        /// Mail a minute to one address; 0 for any number
        mail_per_recipient_minute: u32 = value("5"), "N";
        /// Mail a day to one address; 0 for any number
        mail_per_recipient_day: u32 = value("20"), "N";
        /// Mail a minute that one user causes; 0 for any number
        mail_per_user_minute: u32 = value("1000"), "N";
        /// Mail a day that one user causes; 0 for any number
        mail_per_user_day: u32 = value("2000"), "N";
        /// Mail a minute that one organization causes; 0 for any number
        mail_per_organization_minute: u32 = value("2000"), "N";
        /// Mail a day that one organization causes; 0 for any number
        mail_per_organization_day: u32 = value("5000"), "N";
    }
    Files {
        /// Folder of the files that people send
        files: Option<PathBuf> = absent("files in the data directory"), "DIR";
        /// Bucket of an S3-compatible store that has them instead
        files_s3_bucket: Option<String> = absent("none"), "NAME";
        /// Address of the store, unless it is that of AWS
        files_s3_endpoint: Option<BaseUrl> = absent("AWS"), "URL";
        /// Region of the bucket
        files_s3_region: Option<String> = absent("none"), "REGION";
        /// Access key of the store
        files_s3_access_key: Option<String> = absent("none"), "ID";
        /// Secret of that key
        files_s3_secret_key: Option<StoreSecret> = absent("none"), "SECRET";
        /// Whether the store may be without TLS: on or off
        files_s3_allow_http: Switch = value("off"), "SWITCH";
        /// How long a link to a file is good without credentials
        download_link_ttl: LinkLifetime = value("60s"), "TIME";
        /// Most bytes of the files of one message
        max_upload_bytes: NonZeroU64 = value("104857600"), "BYTES";
        /// Bytes of all files in the flows of one organization; 0 for any number
        max_file_bytes_per_organization: u64 = value("107374182400"), "BYTES";
        /// Bytes of all files that one user sends in private conversations; 0 for any number
        max_private_file_bytes_per_user: u64 = value("10737418240"), "BYTES";
        /// Longest file that comes as Base64 in JSON
        max_json_upload_bytes: NonZeroUsize = value("16777216"), "BYTES";
        /// Most files that are handed out at once; a caller, an organization and an address have
        /// shares
        max_downloads: NonZeroUsize = value("512"), "COUNT";
    }

    Backups {
        /// Folder for backups, or s3://BUCKET/PREFIX; with it the server takes them by itself
        backup_to: Option<BackupPlace> = absent("none"), "PLACE";
        /// Public key of age (age1...) that backups are encrypted for; may be given several times
        backup_recipient: Vec<BackupRecipient> = absent("none"), "KEY";
        /// Time from one backup to the next
        backup_interval: Lifetime = value("1d"), "TIME";
        /// Time from one full backup to the next; those between them are incremental
        backup_full_interval: Lifetime = value("7d"), "TIME";
        /// How long backups are kept
        backup_keep: Lifetime = value("30d"), "TIME";
        /// Access key of the store with the bucket for backups
        backup_s3_access_key: Option<String> = absent("the store of files, with all that is said of it"), "ID";
        /// Secret of that key
        backup_s3_secret_key: Option<StoreSecret> = absent("none"), "SECRET";
        /// Address of that store, unless it is that of AWS
        backup_s3_endpoint: Option<BaseUrl> = absent("AWS"), "URL";
        /// Region of that bucket
        backup_s3_region: Option<String> = absent("none"), "REGION";
        /// Whether that store may be without TLS: on or off
        backup_s3_allow_http: Option<Switch> = absent("off"), "SWITCH";
    }

    Audit {
        /// How long a record of the audit log is kept, at least a day
        audit_keep: RecordLifetime = value("400d"), "TIME";
        /// Collector of syslog messages that the audit log is sent to: tls://HOST:PORT or
        /// tcp://HOST:PORT
        audit_syslog: Option<SyslogAddress> = absent("none"), "URL";
        /// PEM file of the authorities that the collector's certificate may be of
        audit_syslog_ca: Option<PathBuf> = absent("the authorities of the system"), "FILE";
        /// Address that the audit log is sent to as JSON, which begins with https://, or with http://
        /// for this machine
        audit_webhook: Option<WebhookUrl> = absent("none"), "URL";
        /// PEM file of the authorities that the webhook's certificate may be of
        audit_webhook_ca: Option<PathBuf> = absent("the authorities of the system"), "FILE";
        /// Secret that requests to the webhook are signed with: whsec_ and 24 to 64 random bytes in
        /// Base64
        audit_webhook_secret: Option<WebhookSecret> = absent("none"), "SECRET";
        /// File that has this secret
        audit_webhook_secret_file: Option<PathBuf> = absent("none"), "FILE";
    }

    Deletions {
        /// Days from the request to delete an organization until it is deleted, from 1d to 365d
        deletion_grace: DeletionGrace = value("30d"), "DAYS";
    }

    Applications {
        /// How long an access token lives, such as 90s, 10m, 2h or 30d
        access_token_ttl: Lifetime = value("2h"), "TIME";
        /// How long a refresh token lives that is not used
        refresh_token_ttl: Lifetime = value("90d"), "TIME";
        /// How long an authorization code lives; ten minutes at most
        authorization_code_ttl: CodeLifetime = value("10m"), "TIME";
        /// Whether applications may ask for tokens with users' passwords: on or off
        password_grant: Switch = value("on"), "SWITCH";
        /// Whether codes may be shown to users, for them to copy: on or off
        out_of_band_codes: Switch = value("on"), "SWITCH";
        /// Whether access tokens may stand in addresses, as access_token: on or off
        query_access_tokens: Switch = value("on"), "SWITCH";
        /// Whether pictures of integrations are fetched from other hosts, to be shown on the pages:
        /// on or off
        fetch_pictures: Switch = value("on"), "SWITCH";
        /// Whether actions of threads, push messages and requests for pictures may go to addresses
        /// that are not public: of this machine, and of private networks: on or off
        allow_private_targets: Switch = value("off"), "SWITCH";
        /// Seconds that an integration may take to do what an action asks of it
        action_timeout_seconds: NonZeroU32 = value("10"), "SECONDS";
    }
    Limits {
        /// Wrong codes, refresh tokens and secrets of applications allowed a minute from one
        /// address; 0 for any number
        oauth_attempts_per_address: u32 = value("100"), "N";
        /// Wrong passwords allowed a minute for an account from one address; 0 for any number
        password_attempts_per_account: u32 = value("10"), "N";
        /// Wrong passwords allowed a minute from one address; 0 for any number
        password_attempts_per_address: u32 = value("100"), "N";
        /// Memory that hashing one password takes, in KiB; less makes passwords easier to guess from a
        /// stolen database
        password_hash_kib: HashMemory = value("19456"), "KIB";
        /// Wrong tokens of an identity provider allowed a minute from one address; 0 for any number
        scim_attempts_per_address: u32 = value("10"), "N";
        /// Longest body of a request, in bytes
        max_body_bytes: NonZeroUsize = value("1048576"), "BYTES";
        /// Requests a minute allowed to one caller
        requests_per_minute: Option<NonZeroU32> = absent("any number"), "N";
        /// Pending invitations of members in one flow, and as many requested at its join link; 0
        /// for any number
        max_pending_invitations: u32 = value("1000"), "N";
        /// Flows in one organization, archived ones included; 0 for any number
        max_flows_per_organization: u32 = value("5000"), "N";
        /// Flows that one user makes in one organization; 0 for any number
        max_flows_per_user: u32 = value("1000"), "N";
        /// Connections open at the same time, streams included; 1,000,000 at most
        max_connections: Count<1_000_000> = value("20000"), "N";
        /// Database connections for reading, 256 at most
        readers: Count<256> = value("8"), "N";
        /// Seconds that a request may read in the database before its statement is interrupted
        read_seconds: NonZeroU32 = value("5"), "SECONDS";
        /// Seconds that running requests may take to end when the server is told to stop
        shutdown_seconds: Duration = value("8"), "SECONDS";
    }
    Logging {
        /// text or json
        log_format: LogFormat = value("text"), "FORMAT";
        /// What is logged: error, warn, info, debug or trace, also for single parts, as in
        /// warn,eddyline_http=debug
        log: LogDirectives = value("info"), "FILTER";
        /// OpenTelemetry collector that gets traces of requests over HTTP, such as
        /// http://127.0.0.1:4318
        otlp_endpoint: Option<BaseUrl> = absent("none"), "URL";
        /// PEM file of the authorities that the collector's certificate may be of
        otlp_ca: Option<PathBuf> = absent("the authorities of the system"), "FILE";
        /// How many of a hundred requests are traced, from 0 to 100
        trace_percent: TracePercent = value("100"), "N";
    }
}
