//! Inviting the people of an archive who have an account that does not belong to the organization.

use eddyline_app::{AddressFate, FilesConfig, OperatorInvitations};
use eddyline_import::FlowInvitations;

use crate::admin::explain;
use crate::config::Settings;
use crate::{CommandError, output, serve};

/// Invites them as `eddyline admin invite` does, within the quotas on mail, and returns the number
/// that were mailed. The server sends the mail.
pub(super) async fn run(
    settings: &Settings,
    organization: &str,
    invitations: &[FlowInvitations],
) -> Result<u64, CommandError> {
    let app = serve::open_app(
        settings,
        serve::open_current_store(settings).await?,
        serve::configured_addresses(settings),
        None,
        FilesConfig::default(),
        None,
        Vec::new(),
    )
    .await?;
    let mut invited = 0;
    for into in invitations {
        let place = format!("flow {organization}/{}", into.flow);
        let Some(inviter) = into.inviter.as_ref().and_then(|by| by.parse().ok()) else {
            output::warning(&format!(
                "{place} has no member who could invite into it; use `eddyline admin invite`"
            ));
            continue;
        };
        let wanted = OperatorInvitations {
            organization: organization.to_owned(),
            flow: into.flow.clone(),
            inviter,
            addresses: into
                .addresses
                .iter()
                .filter_map(|to| to.parse().ok())
                .collect(),
            message: None,
            is_rehearsal: false,
        };
        match app.invitations().invite_for(wanted).await {
            Ok(fates) => {
                for (email, fate) in fates {
                    match fate {
                        AddressFate::Invited => invited += 1,
                        AddressFate::Refused(why) => output::warning(&format!("{email}: {why}")),
                        AddressFate::Pending | AddressFate::Added | AddressFate::Present => {}
                    }
                }
            }
            Err(error) => output::warning(&explain(error, &place).to_string()),
        }
    }
    app.close().await;
    Ok(invited)
}
