//! The bounds for which requests are refused, and what the log says then.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Declares the limits: what the log gives as the reason of a refusal, and the key of the option
/// that sets the limit.
macro_rules! limits {
    ($( $(#[doc = $doc:literal])+ $name:ident: $reason:literal $(, $setting:literal)?; )+) => {
        /// A bound for which a request is refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Limit {
            $( $(#[doc = $doc])+ $name, )+
        }

        impl Limit {
            /// Every limit.
            pub const ALL: &'static [Self] = &[$( Self::$name, )+];

            /// What there was too much of.
            #[must_use]
            pub const fn reason(self) -> &'static str {
                match self { $( Self::$name => $reason, )+ }
            }

            /// Key of the option that sets the limit. `None` where none does.
            #[must_use]
            pub const fn setting(self) -> Option<&'static str> {
                match self { $( Self::$name => limits!(@ $($setting)?), )+ }
            }
        }
    };
    (@) => { None };
    (@ $setting:literal) => { Some($setting) };
}

limits! {
    /// Requests of one caller.
    Requests: "too many requests of one caller in a minute", "requests_per_minute";
    /// Wrong passwords for one account from one address.
    AccountPasswords: "too many wrong passwords for one account from one address", "password_attempts_per_account";
    /// Wrong passwords from one address.
    AddressPasswords: "too many wrong passwords from one address", "password_attempts_per_address";
    /// Wrong secrets, codes and refresh tokens of applications from one address.
    ApplicationSecrets: "too many wrong secrets of applications from one address", "oauth_attempts_per_address";
    /// Wrong tokens of an identity provider from one address.
    ProviderTokens: "too many wrong tokens of an identity provider from one address", "scim_attempts_per_address";
    /// Mails with links that one address requests for one account.
    AccountLetters: "too many mails with links requested for one account from one address", "password_attempts_per_account";
    /// Mails with links that one address requests.
    AddressLetters: "too many mails with links requested from one address", "password_attempts_per_address";
    /// New addresses that one user tries.
    NewAddresses: "too many new addresses tried by one user in a day";
    /// Streams of one caller or organization.
    Streams: "too many streams are open", "max_connections";
    /// Connections without valid credentials of one network.
    Connections: "too many connections without valid credentials from one address", "max_connections";
    /// Downloads of one caller, organization or network.
    Downloads: "too many downloads are under way", "max_downloads";
    /// Reads that wait for the database.
    Reads: "too many reads of one caller wait", "readers";
    /// The time of a read.
    ReadTime: "a read of the database took too long", "read_seconds";
    /// Writes that wait for their commit.
    Writes: "too many writes wait";
    /// Searches.
    Searches: "searches of the caller or its organization take too long";
    /// New passwords that are checked.
    NewPasswords: "checks of new passwords take too long";
    /// Pictures that are unpacked.
    Pictures: "too many pictures are being unpacked";
    /// Pictures of other hosts that are fetched.
    OutsidePictures: "too many pictures of other hosts are being fetched";
    /// Files with records of audit logs.
    AuditFiles: "too many files with records of audit logs are being made";
    /// Actions of threads.
    Actions: "too many actions of threads are under way";
    /// Imports of addresses.
    Imports: "too many imports are under way";
    /// Long bodies without files.
    LongBodies: "too many long bodies are in memory";
    /// Pictures, and files that come as JSON.
    FileBodies: "too many files are in memory";
    /// Forms with files.
    Forms: "too many forms with files are under way";
    /// Answers that are not sent yet.
    Answers: "too many bytes of answers are under way";
    /// A body without files.
    Body: "the body is too long", "max_body_bytes";
    /// A body of which no option says how long it may be.
    FixedBody: "the body is too long for such a request";
    /// A file that comes as JSON.
    JsonUpload: "the file in JSON is too long", "max_json_upload_bytes";
    /// The files of one message.
    Upload: "the files are too long", "max_upload_bytes";
    /// All files of an organization.
    OrganizationFiles: "the files of the organization take too much room", "max_file_bytes_per_organization";
    /// All files that a user has sent in private conversations.
    PrivateFiles: "the private files of the user take too much room", "max_private_file_bytes_per_user";
    /// Mail to one address in a minute.
    RecipientMinute: "too much mail to one address in a minute", "mail_per_recipient_minute";
    /// Mail to one address in a day.
    RecipientDay: "too much mail to one address in a day", "mail_per_recipient_day";
    /// Mail that one user causes in a minute.
    SenderMinute: "too much mail of one user in a minute", "mail_per_user_minute";
    /// Mail that one user causes in a day.
    SenderDay: "too much mail of one user in a day", "mail_per_user_day";
    /// Mail that one organization causes in a minute.
    OrganizationMinute: "too much mail of one organization in a minute", "mail_per_organization_minute";
    /// Mail that one organization causes in a day.
    OrganizationDay: "too much mail of one organization in a day", "mail_per_organization_day";
    /// Pending invitations into a flow.
    PendingInvitations: "too many pending invitations into one flow", "max_pending_invitations";
    /// Flows of an organization.
    OrganizationFlows: "too many flows in one organization", "max_flows_per_organization";
    /// Flows that one user has made.
    UserFlows: "too many flows made by one user", "max_flows_per_user";
}

/// The minute, counted from the start of the process, in which a refusal for each limit was logged
/// at `info` last.
static LOGGED: [AtomicU64; Limit::ALL.len()] = [const { AtomicU64::new(0) }; Limit::ALL.len()];
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Limit {
    /// Writes into the log that a request was refused: the first one in a minute at `info`, the
    /// others at `debug`, so that requests which are refused do not fill the log.
    pub fn log_refusal(self) {
        let (reason, setting) = (self.reason(), self.setting());
        if is_first(&LOGGED[self as usize], STARTED.elapsed().as_secs() / 60) {
            tracing::info!(
                reason,
                setting,
                "refused; others for this reason are logged at debug for a minute"
            );
        } else {
            tracing::debug!(reason, setting, "refused");
        }
    }
}

/// Whether nothing was logged in this minute yet. The last one is noted, counted from 1.
fn is_first(logged: &AtomicU64, minute: u64) -> bool {
    logged.swap(minute + 1, Relaxed) != minute + 1
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self.setting() {
            Some(setting) => write!(f, " ({setting})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refusal_of_each_minute_stands_out() {
        let logged = AtomicU64::new(0);
        let first = [0, 0, 1, 1, 1, 3].map(|minute| is_first(&logged, minute));
        assert_eq!(first, [true, false, true, false, false, true]);
    }

    #[test]
    fn a_limit_is_shown_with_its_setting() {
        assert_eq!(
            Limit::Downloads.to_string(),
            "too many downloads are under way (max_downloads)"
        );
        assert_eq!(Limit::Writes.to_string(), "too many writes wait");
    }
}
