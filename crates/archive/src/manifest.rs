use serde::{Deserialize, Serialize};

use crate::chain::DigestHex;

/// What each manifest names as its format.
pub const FORMAT: &str = "eddyline-archive";
/// The version of the format that this crate writes, and the newest that it reads.
pub const VERSION: u64 = 1;

/// How the paths of entries end whose records are chained.
pub(crate) const CHAIN_END: &str = ".jsonl";

/// What an archive has. It stands at its end, and the signature is over its bytes.
///
/// It names no time and no server: two archives of the same data have the same manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportManifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// What was exported.
    pub scope: ExportScope,
    /// How many records there are from one checkpoint of a chain to the next.
    pub checkpoint_interval: u64,
    /// The entries whose records are chained, in their order in the archive.
    pub chains: Vec<ChainSummary>,
    /// All other entries but files, this and the signature, in their order in the archive.
    pub entries: Vec<EntrySummary>,
    /// The files, whose entries are named by their digests.
    pub files: FilesSummary,
}

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportScope {
    /// Of what kind it is.
    pub kind: ScopeKind,
    /// The name of the organization in URLs, of the flow with that of its organization before it
    /// (`acme/main`), or the address of the user.
    pub name: String,
    /// Whether it has private conversations: always of a user, and when asked for for an
    /// organization.
    pub private_conversations: bool,
}

/// A kind of what is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// An organization: its people, groups and flows.
    #[default]
    Organization,
    /// A flow.
    Flow,
    /// What one user has written, and their private conversations.
    User,
}

/// An entry whose records are chained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainSummary {
    /// Its path.
    pub path: String,
    /// How many records it has.
    pub records: u64,
    /// The hash that the first record continues.
    pub begins: DigestHex,
    /// The hash of the last record, or that of the beginning without any.
    pub ends: DigestHex,
    /// The hashes of the records whose numbers are multiples of the interval.
    pub checkpoints: Vec<DigestHex>,
}

/// An entry of which nothing is chained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntrySummary {
    /// Its path.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// Their SHA-256.
    pub sha256: DigestHex,
}

/// The files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesSummary {
    /// How many there are.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The digests of those that the server could not read.
    pub missing: Vec<DigestHex>,
}
