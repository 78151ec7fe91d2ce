//! For how long the messages of an organization are kept, as its administrators see and set it.

use std::collections::BTreeSet;

use eddyline_model::audit::AuditAction;
use eddyline_model::flows::Flow;
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::retention::{HoldTarget, RetentionPeriod, RetentionScope};
use eddyline_model::{FlowId, OrganizationId, RoomId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use serde_json::{Value, json};

use super::Organizations;
use crate::accounts::Confirmation;
use crate::actor::Actor;
use crate::audit::note;
use crate::{Error, Result};

/// For how long the messages of an organization are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMessages {
    /// The rule of the organization. Without one, messages are kept until they are deleted by hand.
    pub period: Option<RetentionPeriod>,
    /// Its flows by their names, archived ones last.
    pub flows: Vec<KeptFlow>,
    /// Whether a legal hold covers something of it: no rule is changed then.
    pub held: bool,
}

/// A flow, and for how long its messages are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFlow {
    /// Its public id.
    pub id: FlowId,
    /// The name that people see.
    pub name: String,
    /// Whether it is archived.
    pub archived: bool,
    /// Its own rule, which goes before that of the organization.
    pub period: Option<RetentionPeriod>,
}

impl Organizations {
    /// For how long the messages of an organization are kept that the caller administers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it.
    pub async fn retention(&self, actor: &Actor, id: OrganizationId) -> Result<KeptMessages> {
        policy::organization(actor.user()?.role_in(id), OrganizationAction::Administer)?;
        let found = self.core.store().read(move |reader| {
            let rules = reader.retention().list_rules()?;
            let mut flows = reader.flows().list_of_organization(id)?;
            flows.sort_by_cached_key(|flow| (flow.disabled, flow.name.to_lowercase()));
            Ok(KeptMessages {
                period: rules.of(RetentionScope::Organization(id)),
                held: is_held(reader, id, &flows)?,
                flows: flows
                    .into_iter()
                    .map(|flow| KeptFlow {
                        period: rules.of(RetentionScope::Flow(flow.room)),
                        id: flow.id,
                        name: flow.name,
                        archived: flow.disabled,
                    })
                    .collect(),
            })
        });
        Ok(found.await?)
    }

    /// Sets for how long messages are kept in a flow, or without one in all flows of the organization that
    /// have no rule of their own; `None` removes the rule. Servers apply it within the next hour. Messages that
    /// are deleted do not come back, so the caller must confirm who they are.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's or has no such flow, [`Error::denied`] when the
    /// caller does not administer it or it is inactive, [`Error::conflict`] while a legal hold covers
    /// something of it; those of [`Confirmation`].
    pub async fn set_retention(
        &self,
        actor: &Actor,
        id: OrganizationId,
        flow: Option<FlowId>,
        period: Option<RetentionPeriod>,
        confirmation: &Confirmation,
    ) -> Result<()> {
        self.accounts.confirm(actor, confirmation).await?;
        let lock = move |tx: &mut Tx<'_>| {
            tx.organizations().lock(id)?;
            Ok(())
        };
        self.core
            .locked_transaction_as(actor, lock, move |tx, caller| {
                let (role, caller) = (caller.user()?.role_in(id), caller.user()?.user.id);
                let organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
                policy::organization(role, OrganizationAction::Administer)
                    .and_then(|()| policy::write(&organization))
                    .map_err(Error::from)?;
                let flows = tx.flows().list_of_organization(id)?;
                if is_held(tx, id, &flows)? {
                    let text = "a legal hold covers messages of the organization; it has to be released first";
                    return Err(Error::conflict(text).into());
                }
                let organization = organization.parameterized_name;
                let (scope, named) = match &flow {
                    None => (
                        RetentionScope::Organization(id),
                        format!("organization {organization}"),
                    ),
                    Some(flow) => {
                        let found = flows.iter().find(|found| found.id == *flow);
                        let found = found.ok_or_else(Error::not_found)?;
                        let name = &found.parameterized_name;
                        (
                            RetentionScope::Flow(found.room),
                            format!("flow {organization}/{name}"),
                        )
                    }
                };
                let days = match period {
                    None => Value::Null,
                    Some(RetentionPeriod::Forever) => json!("forever"),
                    Some(RetentionPeriod::Days(days)) => json!(days),
                };
                match period {
                    Some(period) => tx.retention().upsert_rule(scope, period)?,
                    None => {
                        tx.retention().delete_rule(scope)?;
                    }
                }
                let by = format!("user:{caller}");
                let detail = json!({"for": named, "days": days});
                let action = (by.as_str(), AuditAction::RetentionSet);
                Ok(note(tx, id, action, None, &detail)?)
            })
            .await?;
        Ok(())
    }
}

/// Whether a legal hold is placed on the organization, on one of its flows, or on a user who belongs or
/// belonged to it.
fn is_held(reader: &mut Reader<'_>, id: OrganizationId, flows: &[Flow]) -> StoreResult<bool> {
    let rooms: BTreeSet<RoomId> = flows.iter().map(|flow| flow.room).collect();
    for target in reader.retention().find_holds()?.0 {
        let covers = match target {
            HoldTarget::Organization(held) => held == id,
            HoldTarget::Flow(room) => rooms.contains(&room),
            HoldTarget::User(user) => {
                let of_user = reader.retention().list_organizations_ever(&[user])?;
                of_user.contains(&id)
            }
        };
        if covers {
            return Ok(true);
        }
    }
    Ok(false)
}
