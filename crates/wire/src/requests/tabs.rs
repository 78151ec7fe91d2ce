//! The order of tabs.

use eddyline_model::UserId;

use crate::request;
use crate::request::{ids, texts};

/// The most tabs of a kind that one request orders.
const MAX_TABS: usize = 1000;

request! {
    /// An order of tabs; what is `None` stays as it is, and what is not named stands behind what is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct OrderTabs {
        /// Flows by id or organization/flow, the first one first.
        flows: Option<Vec<String>> =
            texts().at_most(MAX_TABS, |most| format!("can't name more than {most} flows")),
        /// Numbers of the other users of private conversations, the first one first.
        conversations: Option<Vec<UserId>> =
            ids::<UserId>(MAX_TABS, "must be numbers of users, at most 1000"),
    }
}
