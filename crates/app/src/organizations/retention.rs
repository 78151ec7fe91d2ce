//! For how long the messages of an organization are kept, as its administrators see and set it.

use std::collections::BTreeMap;

use eddyline_model::audit::AuditAction;
use eddyline_model::deletion::GracePeriod;
use eddyline_model::flows::Flow;
use eddyline_model::mail::{MailKind, Purpose};
use eddyline_model::organizations::Organization;
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::retention::{
    AdministratorRule, RetentionPeriod, RetentionRules, RetentionScope,
};
use eddyline_model::{Day, FlowId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use serde_json::json;

use super::{Organizations, allow, note_organization};
use crate::accounts::Confirmation;
use crate::actor::Actor;
use crate::administrator_mails::{AdministratorMails, RuleDetail, list_administrators};
use crate::audit::period_detail;
use crate::config::MailQuotas;
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// For how long the messages of an organization are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMessages {
    /// What is set for all flows that have no rule of their own.
    pub whole: KeptRules,
    /// Its flows by their names, archived ones last.
    pub flows: Vec<KeptFlow>,
    organization: OrganizationId,
    rules: RetentionRules,
    now: Timestamp,
    grace: GracePeriod,
}

/// What is set for an organization or for a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptRules {
    /// The rule of an operator that holds for it. There is none of administrators beside it.
    pub by_operator: Option<RetentionPeriod>,
    /// What administrators have set and is in force.
    pub in_force: Option<NamedRule>,
    /// What administrators have set and applies later.
    pub pending: Option<NamedRule>,
}

/// A rule of an administrator, with the name of that user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRule {
    /// For how long messages are kept; `None` where the rule before ends.
    pub period: Option<RetentionPeriod>,
    /// What the administrator is called now.
    pub set_by: String,
    /// When it was set.
    pub set_at: Timestamp,
    /// From when on it applies.
    pub applies_at: Timestamp,
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
    /// What is set for it. The rule of an operator for the whole organization counts here as well.
    pub rules: KeptRules,
    room: RoomId,
}

impl KeptMessages {
    /// From when on a rule would apply that is set now for a flow, or without one for all flows that
    /// have no rule of their own; `None` for at once, which deletes nothing that is kept now.
    #[must_use]
    pub fn applies_at(
        &self,
        flow: Option<&KeptFlow>,
        period: Option<RetentionPeriod>,
    ) -> Option<Timestamp> {
        let scope = match flow {
            None => RetentionScope::Organization(self.organization),
            Some(flow) => RetentionScope::Flow(flow.room),
        };
        let time = (self.now, self.grace);
        let at = self
            .rules
            .applies_at(scope, self.organization, period, time);
        (at > self.now).then_some(at)
    }
}

impl Organizations {
    /// For how long the messages of an organization are kept that the caller administers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it.
    pub async fn retention(&self, actor: &Actor, id: OrganizationId) -> Result<KeptMessages> {
        allow(actor, id, OrganizationAction::Administer)?;
        let (now, grace) = (self.core.now(), self.core.config().deletion_grace);
        let found = self.core.store().read(move |reader| {
            let rules = reader.retention().list_rules()?;
            let mut flows = reader.flows().list_of_organization(id)?;
            flows.sort_by_cached_key(|flow| (flow.disabled, flow.name.to_lowercase()));
            let names = find_names(reader, &rules)?;
            let of = |scope| kept_rules(&rules, (scope, id), &names, now);
            Ok(KeptMessages {
                whole: of(RetentionScope::Organization(id)),
                flows: flows
                    .into_iter()
                    .map(|flow| KeptFlow {
                        rules: of(RetentionScope::Flow(flow.room)),
                        room: flow.room,
                        id: flow.id,
                        name: flow.name,
                        archived: flow.disabled,
                    })
                    .collect(),
                organization: id,
                rules,
                now,
                grace,
            })
        });
        Ok(found.await?)
    }

    /// Sets for how long messages are kept in a flow, or without one in all flows of the organization
    /// that have no rule of their own; `None` removes the rule. A rule that keeps less applies after
    /// the grace time of the server, and all administrators get a mail. The caller must confirm who
    /// they are.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's or has no such flow, [`Error::denied`] when the
    /// caller does not administer it, when it is inactive, and where an operator has set a rule;
    /// [`Error::mail_quota`] when an administrator could get no mail about it; those of
    /// [`Confirmation`].
    pub async fn set_retention(
        &self,
        actor: &Actor,
        id: OrganizationId,
        flow: Option<FlowId>,
        period: Option<RetentionPeriod>,
        confirmation: &Confirmation,
    ) -> Result<()> {
        self.accounts.confirm(actor, confirmation).await?;
        let config = self.core.config();
        let (grace, quotas) = (config.deletion_grace, config.mail_quotas);
        self.core
            .locked_transaction_as(actor, lock(id), move |tx, caller| {
                let caller = caller.user()?;
                let (by, role) = (caller.user.id, caller.role_in(id));
                let change = RuleChange::find(tx, id, flow.as_ref())?;
                let by_operator = change.rules.of_operator(change.scope, id);
                policy::retention(role, &change.organization, by_operator)
                    .map_err(|refusal| refused(refusal, by_operator))?;
                let now = tx.now();
                let rule = AdministratorRule {
                    period,
                    set_by: by,
                    set_at: now,
                    applies_at: change
                        .rules
                        .applies_at(change.scope, id, period, (now, grace)),
                };
                change.set(tx, rule, grace)?;
                change.announce(tx, rule, quotas)
            })
            .await?;
        self.mail.mail_is_queued();
        Ok(())
    }

    /// Cancels the pending rule for a flow, or without one for the organization: what is in force
    /// stays so. All administrators get a mail.
    ///
    /// # Errors
    ///
    /// As [`Organizations::set_retention`], but for the confirmation and the quotas, and
    /// [`Error::conflict`] when none is pending.
    pub async fn cancel_retention(
        &self,
        actor: &Actor,
        id: OrganizationId,
        flow: Option<FlowId>,
    ) -> Result<()> {
        let config = self.core.config();
        let (grace, quotas) = (config.deletion_grace, config.mail_quotas);
        self.core
            .locked_transaction_as(actor, lock(id), move |tx, caller| {
                let caller = caller.user()?;
                let (by, role) = (caller.user.id, caller.role_in(id));
                let change = RuleChange::find(tx, id, flow.as_ref())?;
                let by_operator = change.rules.of_operator(change.scope, id);
                policy::retention(role, &change.organization, by_operator)
                    .map_err(|refusal| refused(refusal, by_operator))?;
                let now = tx.now();
                let Some(pending) = change.rules.pending(change.scope, now) else {
                    let text = "no rule is pending there; it applies already, or was cancelled";
                    return Err(Error::conflict(text).into());
                };
                let in_force = change.rules.in_force(change.scope, now);
                change.store(tx, in_force.as_slice(), grace)?;
                change.note(tx, AuditAction::RetentionCancel, pending)?;
                let purpose = Purpose::RetentionCancel(id);
                change.mail(tx, (by, purpose), pending, quotas)
            })
            .await?;
        self.mail.mail_is_queued();
        Ok(())
    }
}

pub(super) fn lock(id: OrganizationId) -> impl Fn(&mut Tx<'_>) -> StoreResult<()> + Send + 'static {
    move |tx| {
        tx.organizations().lock(id)?;
        Ok(())
    }
}

/// The refusal for administrators, which says where a rule of an operator is the reason.
fn refused(refusal: policy::Refusal, by_operator: Option<RetentionPeriod>) -> Error {
    match (refusal, by_operator) {
        (policy::Refusal::Denied, Some(_)) => {
            let text = "An operator of the server set this rule, and only operators change it";
            Error::denied().with_message(text)
        }
        _ => Error::from(refusal),
    }
}

/// What is to be changed, and what is known about it.
struct RuleChange {
    organization: Organization,
    flows: Vec<Flow>,
    flow: Option<Flow>,
    scope: RetentionScope,
    rules: RetentionRules,
}

impl RuleChange {
    fn find(tx: &mut Tx<'_>, id: OrganizationId, flow: Option<&FlowId>) -> TxResult<Self> {
        let organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
        let flows = tx.flows().list_of_organization(id)?;
        let flow = match flow {
            None => None,
            Some(wanted) => {
                let found = flows.iter().find(|found| found.id == *wanted);
                Some(found.ok_or_else(Error::not_found)?.clone())
            }
        };
        Ok(Self {
            scope: match &flow {
                None => RetentionScope::Organization(id),
                Some(flow) => RetentionScope::Flow(flow.room),
            },
            rules: tx.retention().list_rules()?,
            organization,
            flows,
            flow,
        })
    }

    fn set(&self, tx: &mut Tx<'_>, rule: AdministratorRule, grace: GracePeriod) -> TxResult<()> {
        let rules = self.rules.with(self.scope, rule, rule.set_at);
        self.store(tx, &rules, grace)?;
        self.note(tx, AuditAction::RetentionSet, rule)
    }

    /// Puts these rules into the place of those that there are.
    fn store(
        &self,
        tx: &mut Tx<'_>,
        rules: &[AdministratorRule],
        grace: GracePeriod,
    ) -> TxResult<()> {
        let now = tx.now();
        tx.retention().delete_administrator_rules(self.scope)?;
        tx.retention()
            .insert_administrator_rules(self.scope, rules)?;
        if self.flow.is_some() {
            return Ok(());
        }
        let rooms: Vec<RoomId> = self.flows.iter().map(|flow| flow.room).collect();
        for (scope, rules) in self.rules.postponed(&rooms, (now, grace)) {
            tx.retention().delete_administrator_rules(scope)?;
            tx.retention().insert_administrator_rules(scope, &rules)?;
        }
        Ok(())
    }

    fn note(&self, tx: &mut Tx<'_>, action: AuditAction, rule: AdministratorRule) -> TxResult<()> {
        let organization = &self.organization.parameterized_name;
        let place = match &self.flow {
            None => format!("organization {organization}"),
            Some(flow) => format!("flow {organization}/{}", flow.parameterized_name),
        };
        let mut detail = json!({"for": place, "days": period_detail(rule.period)});
        if rule.applies_at > tx.now() {
            detail["applies_at"] = json!(rule.applies_at.to_string());
        }
        Ok(note_organization(tx, &self.organization, action, &detail)?)
    }

    /// Tells all administrators of a rule that keeps less, or that one does not come any more.
    fn announce(
        &self,
        tx: &mut Tx<'_>,
        rule: AdministratorRule,
        quotas: MailQuotas,
    ) -> TxResult<()> {
        let id = self.organization.id;
        if rule.applies_at > rule.set_at {
            let purpose = Purpose::RetentionChange(id);
            return self.mail(tx, (rule.set_by, purpose), rule, quotas);
        }
        match self.rules.pending(self.scope, rule.set_at) {
            None => Ok(()),
            Some(pending) => {
                let purpose = Purpose::RetentionCancel(id);
                self.mail(tx, (rule.set_by, purpose), pending, quotas)
            }
        }
    }

    fn mail(
        &self,
        tx: &mut Tx<'_>,
        (by, purpose): (UserId, Purpose),
        rule: AdministratorRule,
        quotas: MailQuotas,
    ) -> TxResult<()> {
        let at = rule.applies_at;
        let detail = RuleDetail {
            by: by.0,
            flow: self.flow.as_ref().map(|flow| flow.name.clone()),
            days: match rule.period {
                Some(RetentionPeriod::Days(days)) => Some(days),
                Some(RetentionPeriod::Forever) | None => None,
            },
            day: Day::of(at).map_or_else(|| at.to_string(), |day| day.to_string()),
        };
        let mails = AdministratorMails {
            kind: MailKind::Retention,
            organization: self.organization.id,
            purpose,
            detail: Some(json!(detail).to_string()),
            must_reach_all: matches!(purpose, Purpose::RetentionChange(_)),
        };
        let administrators = list_administrators(tx, self.organization.id)?;
        mails.queue(tx, quotas, administrators)
    }
}

/// The names of those who set rules.
fn find_names(
    reader: &mut Reader<'_>,
    rules: &RetentionRules,
) -> StoreResult<BTreeMap<UserId, String>> {
    let all = rules.of_administrators.values().flatten();
    let mut ids: Vec<UserId> = all.map(|rule| rule.set_by).collect();
    ids.sort_unstable();
    ids.dedup();
    let users = reader.users().list(&ids)?;
    Ok(users.into_iter().map(|user| (user.id, user.name)).collect())
}

fn kept_rules(
    rules: &RetentionRules,
    (scope, organization): (RetentionScope, OrganizationId),
    names: &BTreeMap<UserId, String>,
    now: Timestamp,
) -> KeptRules {
    if let Some(period) = rules.of_operator(scope, organization) {
        return KeptRules {
            by_operator: Some(period),
            ..KeptRules::default()
        };
    }
    let named = |rule: AdministratorRule| NamedRule {
        period: rule.period,
        set_by: names.get(&rule.set_by).cloned().unwrap_or_default(),
        set_at: rule.set_at,
        applies_at: rule.applies_at,
    };
    KeptRules {
        by_operator: None,
        in_force: rules.in_force(scope, now).map(named),
        pending: rules.pending(scope, now).map(named),
    }
}
