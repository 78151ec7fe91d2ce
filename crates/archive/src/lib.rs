#![doc = include_str!("../README.md")]

mod chain;
mod entries;
mod error;
mod manifest;
mod pages;
mod reader;
mod records;
mod signature;
mod verify;
mod writer;

pub use chain::{CHECKPOINT_INTERVAL, Digest, DigestHex, parse_digest};
pub use error::{Error, Result};
pub use manifest::{
    ChainSummary, EntrySummary, ExportManifest, ExportScope, FORMAT, FilesSummary, ScopeKind,
    VERSION,
};
pub use pages::{ArchivePages, RoomPages, RoomSummary, StaticPage};
pub use reader::ExportReader;
pub use records::{
    AttachedFile, ConversationRecord, FlowRecord, FormerMemberRecord, GroupRecord, MemberRecord,
    MessageRecord, OrganizationMemberRecord, OrganizationRecord, PersonMembership, PersonNumber,
    PersonRecord, PictureRecord, ReactionRecord, SelfRecord, SourceRecord, ThreadRecord,
};
pub use signature::{ExportKey, PublicKey};
pub use verify::{Finding, RecordPlace, Verified, verify};
pub use writer::{ChainWriter, ExportWriter, FinishedExport};

/// The names of entries.
pub mod paths {
    /// The manifest.
    pub const MANIFEST: &str = "manifest.json";
    /// Its signature.
    pub const SIGNATURE: &str = "manifest.sig";
    /// The people, a chain of [`PersonRecord`](crate::PersonRecord).
    pub const PEOPLE: &str = "people.jsonl";
    /// The organization, of an export of one.
    pub const ORGANIZATION: &str = "organization.json";
    /// The person, of an export of one.
    pub const PERSON: &str = "person.json";
    /// The page to begin with.
    pub const INDEX: &str = "index.html";
    /// The folder of the bytes of files.
    pub const FILES: &str = "files/";
    /// The end of the name of a file. No program takes it for a page or a script.
    pub const FILE_END: &str = ".bin";

    /// The entry with the bytes of the file of this digest.
    #[must_use]
    pub fn file(sha256: &str) -> String {
        format!("{FILES}{sha256}{FILE_END}")
    }

    /// The folder of a flow.
    #[must_use]
    pub fn flow(id: &str) -> String {
        format!("flows/{id}")
    }

    /// The folder of a private conversation.
    #[must_use]
    pub fn conversation(low: u32, high: u32) -> String {
        format!("conversations/{low}-{high}")
    }
}
