//! The audit log: records of who did what to whom.
//!
//! A record names its actor by a short text, such as `user:7` ([`actor`]), and the user it is about
//! by number. It holds no name of a user, so that a user who is erased is named by no record.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::messages::Sort;
use crate::{ApplicationId, OrganizationId, Timestamp, UserId};

/// The texts by which records name who acted.
pub mod actor {
    use crate::{ApplicationId, SourceId, UserId};

    /// An operator of the server, at the command line.
    pub const OPERATOR: &str = "operator";
    /// The server itself.
    pub const SERVER: &str = "server";
    /// A client that has not shown who it is.
    pub const UNKNOWN: &str = "unknown";

    /// A user.
    #[must_use]
    pub fn user(id: UserId) -> String {
        format!("user:{id}")
    }

    /// An identity provider, by what its addresses name it.
    #[must_use]
    pub fn provider(uid: &str) -> String {
        format!("scim:{uid}")
    }

    /// A source, which acts with its own token.
    #[must_use]
    pub fn source(id: SourceId) -> String {
        format!("source:{id}")
    }

    /// An application, on its own behalf.
    #[must_use]
    pub fn application(id: ApplicationId) -> String {
        format!("application:{id}")
    }

    /// Returns the id that the addresses of an identity provider give it, if a text names one.
    #[must_use]
    pub fn named_provider(text: &str) -> Option<&str> {
        text.strip_prefix("scim:")
    }

    /// The user whom a text names, if it names one.
    #[must_use]
    pub fn named_user(text: &str) -> Option<UserId> {
        text.strip_prefix("user:")?.parse().ok()
    }
}

/// Declares the actions with their names in records and in documents, and what they mean.
macro_rules! actions {
    ($($variant:ident $name:literal $meaning:literal,)+) => {
        /// What was done. The names are stable: programs that read records compare them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditAction {
            $(#[doc = $meaning] $variant,)+
        }

        impl AuditAction {
            /// All of them, in the order in which documents list them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in records.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What it means, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
}

actions! {
    SessionBegin "session.begin" "A user signed in.",
    SessionRefuse "session.refuse" "A wrong password was shown for an account.",
    SessionEnd "session.end" "A session of a browser ended: its user signed out or ended it, got another password, or was let in no longer.",
    SignInLinkCreate "sign_in_link.create" "An operator made a link that signs a user in once.",
    ProfileChange "profile.change" "A user took another name, nick or website.",
    PasswordChange "password.change" "A user got another password, or lost it when a change of address was undone.",
    EmailChange "email.change" "A user took another address, or took the one before back.",
    TokenCreate "token.create" "A token of a user or of a flow was made.",
    TokenRename "token.rename" "A token of a user got another name.",
    TokenRevoke "token.revoke" "A token of a user or of a flow was ended.",
    GrantGive "grant.give" "A user allowed an application to act for them.",
    GrantRevoke "grant.revoke" "What a user had allowed an application ended before its time.",
    ApplicationCreate "application.create" "An application was registered.",
    ApplicationChange "application.change" "An application was changed.",
    ApplicationSecret "application.secret" "An application got another secret.",
    ApplicationDelete "application.delete" "An application was removed.",
    SourceCreate "source.create" "A source was made in a flow.",
    SourceChange "source.change" "A source was changed.",
    SourceDelete "source.delete" "A source was removed.",
    MemberAdd "member.add" "A user came into an organization.",
    MemberRemove "member.remove" "A user left an organization, or was removed from it.",
    UserCreate "user.create" "An identity provider created a user.",
    UserUpdate "user.update" "A user was changed: by a provider, made inactive or active, or made administrator or not.",
    UserReturn "user.return" "An identity provider brought back a user whom it had removed.",
    UserRemove "user.remove" "A user was removed by an operator, or from what a provider sees.",
    UserErase "user.erase" "An operator erased a person.",
    UserLink "user.link" "A user was linked to the identity provider.",
    UserUnlink "user.unlink" "A user was unlinked from the identity provider.",
    ScimEnable "scim.enable" "An identity provider was let in.",
    ScimRotate "scim.rotate" "The token of an identity provider was replaced.",
    ScimDisable "scim.disable" "An identity provider was let in no longer.",
    DomainAdd "domain.add" "An organization got a domain.",
    DomainRemove "domain.remove" "A domain was taken from an organization.",
    GroupCreate "group.create" "A group was made.",
    GroupUpdate "group.update" "A group got another name or other members.",
    GroupRemove "group.remove" "A group was removed.",
    FlowCreate "flow.create" "A flow was made.",
    FlowChange "flow.change" "A flow was changed, archived, or brought back.",
    FlowLink "flow.link" "The join link of a flow was replaced.",
    FlowMemberAdd "flow.member_add" "A user came into a flow.",
    FlowMemberRemove "flow.member_remove" "A user left a flow, or was taken out of it.",
    FlowMemberBlock "flow.member_block" "A user was blocked from a flow.",
    FlowMemberUnblock "flow.member_unblock" "A user was let back into a flow.",
    InvitationCreate "invitation.create" "An address was invited into a flow.",
    InvitationEnd "invitation.end" "A pending invitation was cancelled or declined.",
    OrganizationCreate "organization.create" "An organization was created.",
    OrganizationChange "organization.change" "The settings of an organization were changed.",
    OrganizationDeletionRequest "organization.deletion_request" "The deletion of an organization was requested; it is closed until then.",
    OrganizationDeletionCancel "organization.deletion_cancel" "The deletion of an organization was cancelled; it is open again.",
    OrganizationDelete "organization.delete" "An organization was deleted with everything that belonged to it.",
    UserDeletionRequest "user.deletion_request" "The deletion of a user was requested; the user is inactive until then.",
    UserDeletionCancel "user.deletion_cancel" "The deletion of a user was cancelled.",
    RetentionSet "retention.set" "A rule of retention was set or taken back.",
    HoldPlace "hold.place" "A legal hold was placed.",
    HoldRelease "hold.release" "A legal hold was released.",
    DataExport "data.export" "Data was exported.",
    AuditExport "audit.export" "An administrator downloaded records of the audit log.",
    DataImport "data.import" "An archive was imported.",
    BackupCreate "backup.create" "A backup was begun by an operator.",
    BackupTake "backup.take" "A server took a backup by its schedule.",
    BackupFail "backup.fail" "A backup that a server took by its schedule failed.",
    DataRestore "data.restore" "The database was filled from a backup.",
    DataMove "data.move" "Everything was moved into this database.",
    DataRepair "data.repair" "Derived data was made right by `check --repair`.",
    SecretKeyReset "secret_key.reset" "Secrets that were sealed with a lost key were replaced.",
}

impl AuditAction {
    /// Whether it belongs to the records of users and their providers, which `admin scim audit`
    /// shows.
    #[must_use]
    pub const fn is_provisioning(self) -> bool {
        matches!(
            self,
            Self::UserCreate
                | Self::UserUpdate
                | Self::UserReturn
                | Self::UserRemove
                | Self::UserLink
                | Self::UserUnlink
                | Self::ScimEnable
                | Self::ScimRotate
                | Self::ScimDisable
                | Self::DomainAdd
                | Self::DomainRemove
                | Self::GroupCreate
                | Self::GroupUpdate
                | Self::GroupRemove
                | Self::DataExport
        )
    }

    /// The action with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|action| action.name() == name)
    }
}

impl fmt::Display for AuditAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which actions are wanted: one, or all whose names begin with the same word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActions {
    /// A name such as `member.add`, or its beginning up to the point, such as `member.`.
    pattern: String,
}

/// The text is the name of no action, and the beginning of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an action such as member.add, or the beginning of actions such as member.")]
pub struct UnknownAction;

impl AuditActions {
    /// The most characters of a text that names actions.
    pub const MAX_CHARS: usize = 60;

    /// The actions, at least one.
    pub fn iter(&self) -> impl Iterator<Item = AuditAction> {
        named_by(&self.pattern)
    }
}

fn named_by(pattern: &str) -> impl Iterator<Item = AuditAction> {
    let all = AuditAction::ALL.iter().copied();
    all.filter(move |action| match pattern.ends_with('.') {
        true => action.name().starts_with(pattern),
        false => action.name() == pattern,
    })
}

impl fmt::Display for AuditActions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

impl FromStr for AuditActions {
    type Err = UnknownAction;

    fn from_str(text: &str) -> Result<Self, UnknownAction> {
        match named_by(text).next() {
            Some(_) => Ok(Self {
                pattern: text.to_owned(),
            }),
            None => Err(UnknownAction),
        }
    }
}

/// For whom a transaction writes: its records name them, unless an entry names another actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAuthor {
    /// See [`actor`].
    pub actor: String,
    /// The application through which a user acts.
    pub application: Option<ApplicationId>,
    /// Where the request came from.
    pub address: Option<IpAddr>,
}

impl Default for AuditAuthor {
    fn default() -> Self {
        Self {
            actor: actor::SERVER.to_owned(),
            application: None,
            address: None,
        }
    }
}

/// What an action was done to, if that is not a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditTarget {
    /// Of what kind it is, such as `flow`.
    pub kind: String,
    /// Its number or id, without secrets.
    pub id: String,
    /// What it was called then.
    pub name: String,
}

impl AuditTarget {
    /// A target of this kind.
    #[must_use]
    pub fn new(kind: &str, id: impl fmt::Display, name: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            id: id.to_string(),
            name: name.into(),
        }
    }
}

/// A record to be written. When it was done, through which application and from where, the
/// transaction knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Whose administrators see it; `None` for what concerns the whole server.
    pub organization: Option<OrganizationId>,
    /// Who acted ([`actor`]), if it is not the author of the transaction.
    pub actor: Option<String>,
    /// What was done.
    pub action: AuditAction,
    /// To whom, if to a user.
    pub user: Option<UserId>,
    /// To what, if not to a user alone.
    pub target: Option<AuditTarget>,
    /// What changed, as a JSON object without secrets and without texts of messages.
    pub detail: String,
}

impl AuditEntry {
    /// A record of an action, with nothing else.
    #[must_use]
    pub fn new(action: AuditAction, organization: Option<OrganizationId>) -> Self {
        Self {
            organization,
            actor: None,
            action,
            user: None,
            target: None,
            detail: "{}".to_owned(),
        }
    }

    /// The same, about a user.
    #[must_use]
    pub fn about(self, user: UserId) -> Self {
        Self {
            user: Some(user),
            ..self
        }
    }

    /// The same, about something else than a user.
    #[must_use]
    pub fn on(self, target: AuditTarget) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    /// The same with what changed, which is a JSON object.
    #[must_use]
    pub fn with(self, detail: impl fmt::Display) -> Self {
        Self {
            detail: detail.to_string(),
            ..self
        }
    }

    /// The same, done by this actor. A record of what the [server](actor::SERVER) does for the
    /// author has neither their network address nor their application.
    #[must_use]
    pub fn by(self, actor: impl Into<String>) -> Self {
        Self {
            actor: Some(actor.into()),
            ..self
        }
    }
}

/// A record as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its number. Later records have higher ones.
    pub id: i64,
    /// Whose administrators see it; `None` for what concerns the whole server.
    pub organization: Option<OrganizationId>,
    /// When it was done.
    pub at: Timestamp,
    /// Who acted; see [`actor`].
    pub actor: String,
    /// The application through which a user acted.
    pub application: Option<ApplicationId>,
    /// Where the request came from, if one made it.
    pub address: Option<String>,
    /// What was done: the name of an [`AuditAction`], or one of another version of the server.
    pub action: String,
    /// To whom, if to a user.
    pub user: Option<UserId>,
    /// To what, if not to a user alone.
    pub target: Option<AuditTarget>,
    /// What changed, as a JSON object.
    pub detail: String,
}

/// Which records are wanted. What is absent excludes none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Those of this organization.
    pub organization: Option<OrganizationId>,
    /// Those of one of these actions; all if there are none.
    pub actions: Vec<String>,
    /// Those of this actor, see [`actor`].
    pub actor: Option<String>,
    /// Those about this user.
    pub user: Option<UserId>,
    /// Those about this user or by this user.
    pub concerning: Option<UserId>,
    /// Those from then on.
    pub since: Option<Timestamp>,
    /// Those before then.
    pub until: Option<Timestamp>,
}

/// Which part of the records that a filter wants is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditRange {
    /// Whether the newest or the oldest of them are read, and come first.
    pub sort: Sort,
    /// Only those with higher numbers.
    pub after: Option<i64>,
    /// Only those with lower numbers.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: i64,
}

impl AuditRange {
    /// So many of the newest, or of the newest before the record with this number.
    #[must_use]
    pub const fn newest(before: Option<i64>, limit: i64) -> Self {
        Self {
            sort: Sort::Descending,
            after: None,
            before,
            limit,
        }
    }

    /// So many behind the record with this number, in the order in which they were written.
    #[must_use]
    pub const fn following(after: i64, limit: i64) -> Self {
        Self {
            sort: Sort::Ascending,
            after: Some(after),
            before: None,
            limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{AuditAction, AuditActions, UnknownAction, actor};
    use crate::UserId;

    #[test]
    fn every_action_has_a_name_of_its_own_and_is_found_by_it() {
        let names: BTreeSet<_> = AuditAction::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names.len(), AuditAction::ALL.len());
        for action in AuditAction::ALL {
            let (area, verb) = action.name().split_once('.').expect("an area and a verb");
            let plain = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(area.chars().chain(verb.chars()).all(plain), "{action}");
            assert!(action.meaning().ends_with('.'), "{action}");
            assert_eq!(AuditAction::named(action.name()), Some(*action));
        }
        assert_eq!(AuditAction::named("session.fly"), None);
    }

    #[test]
    fn actions_are_named_alone_or_by_their_beginning() {
        let named = |text: &str| {
            let parsed = text.parse::<AuditActions>();
            parsed.map(|actions| actions.iter().map(AuditAction::name).collect::<Vec<_>>())
        };
        assert_eq!(named("member.add"), Ok(vec!["member.add"]));
        assert_eq!(named("member."), Ok(vec!["member.add", "member.remove"]));
        for unknown in [
            "",
            ".",
            "member",
            "member.a",
            "mem.",
            "member.add.",
            "MEMBER.",
        ] {
            assert_eq!(named(unknown), Err(UnknownAction), "{unknown}");
        }
    }

    #[test]
    fn an_actor_that_is_a_user_tells_which() {
        assert_eq!(actor::named_user(&actor::user(UserId(7))), Some(UserId(7)));
        for other in ["operator", "scim:abc", "user:", "user:-1", "source:7"] {
            assert_eq!(actor::named_user(other), None, "{other}");
        }
    }
}
