//! Actions of the audit log in plain words, and the groups by which they are chosen.

use eddyline_app::AuditAction;

use crate::texts::Texts;

/// What was done, in a sentence without its full stop.
pub(crate) fn words(action: AuditAction, t: &Texts) -> &str {
    let t = &t.audit_actions;
    match action {
        AuditAction::SessionBegin => &t.session_begin,
        AuditAction::SessionRefuse => &t.session_refuse,
        AuditAction::SessionEnd => &t.session_end,
        AuditAction::SignInLinkCreate => &t.sign_in_link_create,
        AuditAction::ProfileChange => &t.profile_change,
        AuditAction::PasswordChange => &t.password_change,
        AuditAction::EmailChange => &t.email_change,
        AuditAction::TokenCreate => &t.token_create,
        AuditAction::TokenRename => &t.token_rename,
        AuditAction::TokenRevoke => &t.token_revoke,
        AuditAction::GrantGive => &t.grant_give,
        AuditAction::GrantRevoke => &t.grant_revoke,
        AuditAction::ApplicationCreate => &t.application_create,
        AuditAction::ApplicationChange => &t.application_change,
        AuditAction::ApplicationSecret => &t.application_secret,
        AuditAction::ApplicationDelete => &t.application_delete,
        AuditAction::SourceCreate => &t.source_create,
        AuditAction::SourceChange => &t.source_change,
        AuditAction::SourceDelete => &t.source_delete,
        AuditAction::MemberAdd => &t.member_add,
        AuditAction::MemberRemove => &t.member_remove,
        AuditAction::UserCreate => &t.user_create,
        AuditAction::UserUpdate => &t.user_update,
        AuditAction::UserReturn => &t.user_return,
        AuditAction::UserRemove => &t.user_remove,
        AuditAction::UserErase => &t.user_erase,
        AuditAction::UserLink => &t.user_link,
        AuditAction::UserUnlink => &t.user_unlink,
        AuditAction::ScimEnable => &t.scim_enable,
        AuditAction::ScimRotate => &t.scim_rotate,
        AuditAction::ScimDisable => &t.scim_disable,
        AuditAction::DomainAdd => &t.domain_add,
        AuditAction::DomainRemove => &t.domain_remove,
        AuditAction::GroupCreate => &t.group_create,
        AuditAction::GroupUpdate => &t.group_update,
        AuditAction::GroupRemove => &t.group_remove,
        AuditAction::FlowCreate => &t.flow_create,
        AuditAction::FlowChange => &t.flow_change,
        AuditAction::FlowLink => &t.flow_link,
        AuditAction::FlowMemberAdd => &t.flow_member_add,
        AuditAction::FlowMemberRemove => &t.flow_member_remove,
        AuditAction::FlowMemberBlock => &t.flow_member_block,
        AuditAction::FlowMemberUnblock => &t.flow_member_unblock,
        AuditAction::InvitationCreate => &t.invitation_create,
        AuditAction::InvitationEnd => &t.invitation_end,
        AuditAction::OrganizationCreate => &t.organization_create,
        AuditAction::OrganizationChange => &t.organization_change,
        AuditAction::OrganizationDeletionRequest => &t.organization_deletion_request,
        AuditAction::OrganizationDeletionCancel => &t.organization_deletion_cancel,
        AuditAction::OrganizationDelete => &t.organization_delete,
        AuditAction::UserDeletionRequest => &t.user_deletion_request,
        AuditAction::UserDeletionCancel => &t.user_deletion_cancel,
        AuditAction::RetentionSet => &t.retention_set,
        AuditAction::HoldPlace => &t.hold_place,
        AuditAction::HoldRelease => &t.hold_release,
        AuditAction::DataExport => &t.data_export,
        AuditAction::AuditExport => &t.audit_export,
        AuditAction::DataImport => &t.data_import,
        AuditAction::BackupCreate => &t.backup_create,
        AuditAction::BackupTake => &t.backup_take,
        AuditAction::BackupFail => &t.backup_fail,
        AuditAction::DataRestore => &t.data_restore,
        AuditAction::DataMove => &t.data_move,
        AuditAction::DataRepair => &t.data_repair,
        AuditAction::SecretKeyReset => &t.secret_key_reset,
    }
}

/// What actions are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionArea {
    /// Signing in, and accounts.
    Accounts,
    /// Tokens and applications.
    Access,
    /// Who belongs to the organization.
    People,
    /// The identity provider and the domains.
    Provider,
    /// Groups.
    Groups,
    /// Flows and their sources.
    Flows,
    /// The organization, and all of its data.
    Organization,
    /// The whole server. No organization has records of these.
    Server,
}

impl ActionArea {
    /// Those that an organization has records of, in the order of the list of choices.
    pub(crate) const OF_ORGANIZATIONS: [Self; 7] = [
        Self::Accounts,
        Self::Access,
        Self::People,
        Self::Provider,
        Self::Groups,
        Self::Flows,
        Self::Organization,
    ];

    /// What an action is about.
    pub(crate) fn of(action: AuditAction) -> Self {
        match action {
            AuditAction::SessionBegin
            | AuditAction::SessionRefuse
            | AuditAction::SessionEnd
            | AuditAction::SignInLinkCreate
            | AuditAction::ProfileChange
            | AuditAction::PasswordChange
            | AuditAction::EmailChange => Self::Accounts,
            AuditAction::TokenCreate
            | AuditAction::TokenRename
            | AuditAction::TokenRevoke
            | AuditAction::GrantGive
            | AuditAction::GrantRevoke
            | AuditAction::ApplicationCreate
            | AuditAction::ApplicationChange
            | AuditAction::ApplicationSecret
            | AuditAction::ApplicationDelete => Self::Access,
            AuditAction::MemberAdd
            | AuditAction::MemberRemove
            | AuditAction::UserUpdate
            | AuditAction::UserRemove
            | AuditAction::UserErase
            | AuditAction::InvitationCreate
            | AuditAction::InvitationEnd
            | AuditAction::UserDeletionRequest
            | AuditAction::UserDeletionCancel => Self::People,
            AuditAction::UserCreate
            | AuditAction::UserReturn
            | AuditAction::UserLink
            | AuditAction::UserUnlink
            | AuditAction::ScimEnable
            | AuditAction::ScimRotate
            | AuditAction::ScimDisable
            | AuditAction::DomainAdd
            | AuditAction::DomainRemove => Self::Provider,
            AuditAction::GroupCreate | AuditAction::GroupUpdate | AuditAction::GroupRemove => {
                Self::Groups
            }
            AuditAction::SourceCreate
            | AuditAction::SourceChange
            | AuditAction::SourceDelete
            | AuditAction::FlowCreate
            | AuditAction::FlowChange
            | AuditAction::FlowLink
            | AuditAction::FlowMemberAdd
            | AuditAction::FlowMemberRemove
            | AuditAction::FlowMemberBlock
            | AuditAction::FlowMemberUnblock => Self::Flows,
            AuditAction::OrganizationCreate
            | AuditAction::OrganizationChange
            | AuditAction::OrganizationDeletionRequest
            | AuditAction::OrganizationDeletionCancel
            | AuditAction::RetentionSet
            | AuditAction::HoldPlace
            | AuditAction::HoldRelease
            | AuditAction::DataExport
            | AuditAction::AuditExport
            | AuditAction::DataImport => Self::Organization,
            AuditAction::OrganizationDelete
            | AuditAction::BackupCreate
            | AuditAction::BackupTake
            | AuditAction::BackupFail
            | AuditAction::DataRestore
            | AuditAction::DataMove
            | AuditAction::DataRepair
            | AuditAction::SecretKeyReset => Self::Server,
        }
    }

    /// Its actions with their words, in the order in which documents list them.
    pub(crate) fn choices(self, t: &Texts) -> Vec<(String, String)> {
        let all = AuditAction::ALL.iter().copied();
        all.filter(|action| Self::of(*action) == self)
            .map(|action| (action.name().to_owned(), words(action, t).to_owned()))
            .collect()
    }

    /// What the group is called in the list of choices.
    pub(crate) fn label(self, t: &Texts) -> &str {
        let t = &t.audit;
        match self {
            Self::Accounts => &t.accounts,
            Self::Access => &t.access,
            Self::People => &t.people,
            Self::Provider => &t.by_provider,
            Self::Groups => &t.groups,
            Self::Flows => &t.flows,
            Self::Organization => &t.organization,
            Self::Server => &t.server,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::language::Language;

    #[test]
    fn each_action_has_words_of_its_own_in_each_language() {
        for language in Language::ALL {
            let t = Texts::in_language(language);
            let told: BTreeSet<&str> = AuditAction::ALL
                .iter()
                .map(|action| words(*action, t))
                .collect();
            assert_eq!(told.len(), AuditAction::ALL.len(), "{language:?}");
        }
    }

    #[test]
    fn each_action_of_organizations_is_among_the_choices_once() {
        let t = Texts::in_language(Language::English);
        let areas = ActionArea::OF_ORGANIZATIONS.into_iter();
        let offered: Vec<_> = areas.flat_map(|area| area.choices(t)).collect();
        let of_server = ActionArea::Server.choices(t);
        let both = offered.iter().chain(&of_server).map(|(name, _)| name);
        let both: BTreeSet<_> = both.collect();
        assert_eq!(both.len(), AuditAction::ALL.len());
        assert_eq!(offered.len() + of_server.len(), AuditAction::ALL.len());
    }
}
