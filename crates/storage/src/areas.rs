//! The areas of the store: one handle for each, which has the queries of a few tables that belong
//! together.
//!
//! A [`Reader`] and a [`Tx`] make the handles. The reading methods of a handle are there for both,
//! the writing ones only for a [`Tx`]. A handle is a reference and nothing else.
//!
//! The handles stand below the modules that give them their methods, so that no area has to know
//! another to use it.

use crate::reader::Reader;
use crate::transaction::Tx;

/// Declares the handle of each area, and the methods that make it.
macro_rules! areas {
    ($($(#[doc = $doc:literal])+ $name:ident: $handle:ident,)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $handle<'a, C>(pub(crate) &'a mut C);
        )+

        /// The areas, to read.
        impl<'c> Reader<'c> {
            $($(#[doc = $doc])+ pub fn $name(&mut self) -> $handle<'_, Self> {
                $handle(self)
            })+
        }

        /// The areas, to read and to write.
        impl<'c> Tx<'c> {
            $($(#[doc = $doc])+ pub fn $name(&mut self) -> $handle<'_, Self> {
                $handle(self)
            })+
        }
    };
}

areas! {
    /// API tokens, with which users authenticate programs of their own.
    api_tokens: ApiTokens,
    /// Applications, which users allow to act for them.
    applications: Applications,
    /// The record of what operators and administrators changed.
    audit: Audit,
    /// Destinations that the audit log is sent to.
    audit_exports: AuditExports,
    /// Deletions that wait for their day, closed organizations, and deleting what they have.
    deletions: Deletions,
    /// Addresses of accounts: which are proved, and which a user may still take back.
    emails: Emails,
    /// Files of messages, and the objects that hold their bytes.
    files: Files,
    /// Flows.
    flows: Flows,
    /// Grants, by which users allow applications to act for them.
    grants: Grants,
    /// Groups of users in an organization.
    groups: Groups,
    /// Identity providers of organizations, and what they know of users.
    identities: Identities,
    /// What imports write, and which records of archives are here already.
    imports: Imports,
    /// Invitations into flows.
    invitations: Invitations,
    /// The log.
    log: Log,
    /// The record of mail that was sent, by which its amount is limited.
    mail_records: MailRecords,
    /// The queue of mails, and the links in them.
    mails: Mails,
    /// Members of rooms, and what each has read.
    members: Members,
    /// Messages.
    messages: Messages,
    /// Processes that serve one database: signs of life, who is present at each, and the last batch
    /// of each writer.
    nodes: Nodes,
    /// What users are notified of, the browsers that take push messages, and the queue of these.
    notifications: Notifications,
    /// Authorization codes, access tokens and refresh tokens of grants.
    oauth_tokens: OauthTokens,
    /// Members of organizations, the removed and the suspended ones among them.
    organization_members: OrganizationMembers,
    /// Organizations and their domains.
    organizations: Organizations,
    /// Passwords, and where links to new ones go.
    passwords: Passwords,
    /// Reactions to messages.
    reactions: Reactions,
    /// Rules of retention, and legal holds.
    retention: Retention,
    /// Rooms, which flows and private conversations have in common, and the private ones among
    /// them.
    rooms: Rooms,
    /// Sessions of browsers.
    sessions: Sessions,
    /// Values that all processes share.
    settings: Settings,
    /// Sources of flows, and the tokens with which they post.
    sources: Sources,
    /// Threads.
    threads: Threads,
    /// Accounts and their avatars.
    users: Users,
}
