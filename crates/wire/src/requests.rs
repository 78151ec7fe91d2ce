//! What each endpoint takes. The server reads these types, describes them in its OpenAPI document,
//! and the client sends them.

mod applications;
mod audit;
mod flows;
mod integrations;
mod invitations;
mod messages;
mod notifications;
mod organizations;
mod private;
mod push;
mod stream;
mod tabs;
mod threads;
mod users;

pub use self::applications::RegisterApplication;
pub use self::audit::ListAudit;
pub use self::flows::{AddFlowUser, BlockFlowUser, CreateFlow, FindFlow, ListFlows, UpdateFlow};
pub use self::integrations::{CreateSource, UpdateSource};
pub use self::invitations::{
    AcceptInvitation, CreateInvitation, ImportInvitations, ListInvitations,
};
pub use self::messages::{
    ChatContent, CommentEvent, CommentParent, DEFAULT_LIST, EditMessage, InboxEntry, ListMentions,
    ListMessages, MarkFlowRead, MarkRead, PostEvent, PostOptions, PostThread, SearchEverywhere,
    TagMode, ToFlow, wrong_search,
};
pub use self::notifications::{FlowLevel, UpdateFlowNotifications, UpdateNotifications};
pub use self::organizations::{
    AddGroupMember, CreateGroup, DeleteOrganization, FindOrganization, RenameOrganization,
    UpdateGroup,
};
pub use self::private::{
    EditPrivateMessage, PrivateContent, PrivateEvent, PrivateTags, UpdatePrivateConversation,
};
pub use self::push::{PushChat, PushMail};
pub use self::stream::{FlowSelection, Listen, Presence, ShowPresence, StreamFilter};
pub use self::tabs::OrderTabs;
pub use self::threads::{ListThreads, TriggerAction};
pub use self::users::UpdateUser;
