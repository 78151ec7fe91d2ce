//! The audit log of an organization.

use eddyline_model::audit::AuditActions;
use eddyline_model::messages::Sort;

use super::messages::{DEFAULT_LIST, MAX_LIST};
use crate::request;
use crate::request::{choice, parsed, whole};

request! {
    /// Which records of the audit log are listed. A list is in the order of sort.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListAudit {
        /// Only this action, such as member.add, or all that begin so, such as member.
        action: Option<AuditActions> = parsed::<AuditActions>(1..=AuditActions::MAX_CHARS),
        /// Only what this user did, and what was done to this user.
        user: Option<i64> = whole(1..=i64::MAX),
        /// Only records from this time on, in milliseconds.
        since_time: Option<i64> = whole(0..=i64::MAX),
        /// Only records from before this time, in milliseconds.
        until_time: Option<i64> = whole(0..=i64::MAX),
        /// desc for the newest, asc for the oldest.
        sort: Option<Sort> = choice(&[("asc", Sort::Ascending), ("desc", Sort::Descending)]),
        /// How many.
        limit: Option<i64> = whole(1..=MAX_LIST).or(DEFAULT_LIST),
        /// Only records after this one.
        since_id: Option<i64> = whole(0..=i64::MAX),
        /// Only records before this one.
        until_id: Option<i64> = whole(0..=i64::MAX),
    }
}
