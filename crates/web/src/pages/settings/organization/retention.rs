//! For how long the messages of an organization and of its flows are kept, and changing that after a
//! question.

use askama::Template;
use axum::response::Response;
use eddyline_app::{ErrorKind, KeptFlow, KeptMessages, KeptRules, NamedRule};
use eddyline_model::FlowId;
use eddyline_model::retention::{MAX_RETENTION_DAYS, RetentionPeriod};
use http::StatusCode;

use super::{Own, Subject, confirmation, find, with_confirmation};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::form::Form;
use crate::moment;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// How the form names the choices.
const INHERITED: &str = "inherited";
const FOREVER: &str = "forever";
const FOR_DAYS: &str = "days";

#[derive(Template)]
#[template(path = "settings/organization/retention.html")]
struct RetentionPage {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    lead: String,
    /// The rule of the organization and those of its flows.
    rules: Vec<RuleCard>,
    /// The form that asks for a change, where one is possible.
    form: Option<FormView>,
}

/// What is set for the organization or for a flow.
struct RuleCard {
    name: String,
    /// For how long messages are kept now.
    period: String,
    /// Who set that.
    set_by: Option<String>,
    /// What applies later, and the form that cancels it.
    pending: Option<(String, Option<FormView>)>,
}

impl RuleCard {
    fn of(
        visit: &Visit,
        own: &Own,
        (name, id, none): (String, &str, &str),
        rules: &KeptRules,
    ) -> Self {
        let texts = visit.texts();
        let t = &texts.retention;
        let in_force = rules.in_force.as_ref();
        let period = rules
            .by_operator
            .or_else(|| in_force.and_then(|rule| rule.period));
        let set_by = match (rules.by_operator, in_force) {
            (Some(_), _) => Some(t.by_operator.clone()),
            (None, Some(rule)) => Some(by(rule, texts)),
            (None, None) => None,
        };
        let pending = rules.pending.as_ref().map(|rule| {
            let from = t.pending.with("day", moment::day(&rule.applies_at, texts));
            let from = from.with("period", told(rule.period, &t.inherited, texts));
            let form = own.takes_changes().then(|| {
                let form = visit.form(own.path(Subject::Retention), &t.cancel);
                form.hidden("of", id).about(&name).quiet()
            });
            (format!("{from} {}", by(rule, texts)), form)
        });
        Self {
            period: told(period, none, texts),
            set_by,
            pending,
            name,
        }
    }
}

fn by(rule: &NamedRule, texts: &Texts) -> String {
    let set = texts.retention.set_by.with("name", &rule.set_by);
    set.with("day", moment::day(&rule.set_at, texts))
        .to_string()
}

/// For how long messages are kept, where `none` is what no rule means.
fn told(period: Option<RetentionPeriod>, none: &str, t: &Texts) -> String {
    match period {
        None => none.to_owned(),
        Some(RetentionPeriod::Forever) => t.retention.forever.clone(),
        Some(RetentionPeriod::Days(days)) => t.count(&t.retention.days, days as usize).to_string(),
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Retention.action()).await?;
    let kept = kept(&visit, &own).await?;
    let form = AskedChange::default().form(&visit, &own, &kept);
    page(&visit, &own, &kept, form).await
}

async fn kept(visit: &Visit, own: &Own) -> Result<KeptMessages, PageError> {
    let organizations = visit.app().organizations();
    let kept = organizations.retention(visit.signed_in()?, own.id).await;
    kept.map_err(PageError::not_allowed)
}

async fn page(
    visit: &Visit,
    own: &Own,
    kept: &KeptMessages,
    form: FormView,
) -> Result<Response, PageError> {
    let texts = visit.texts();
    let t = &texts.retention;
    let name = t.all.with("organization", &own.summary.name).to_string();
    let whole = RuleCard::of(visit, own, (name, "", &t.forever), &kept.whole);
    let special = kept.flows.iter().filter(|flow| has_own_rule(kept, flow));
    let flows = special.map(|flow| {
        let about = (
            called(flow, texts),
            flow.id.0.as_str(),
            t.inherited.as_str(),
        );
        RuleCard::of(visit, own, about, &flow.rules)
    });
    let done = match visit.query("done") {
        "saved" => Some(t.saved.as_str()),
        "cancelled" => Some(t.cancelled.as_str()),
        _ => None,
    };
    let wrong = form.is_wrong();
    let days = visit.app().config().deletion_grace.days();
    let can_change = own.takes_changes() && kept.whole.by_operator.is_none();
    let page = RetentionPage {
        t: texts,
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done,
            wrong,
            ..own.frame(visit, Subject::Retention)
        },
        lead: texts.count(&t.lead, days as usize).to_string(),
        rules: std::iter::once(whole).chain(flows).collect(),
        form: can_change.then_some(form),
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

fn has_own_rule(kept: &KeptMessages, flow: &KeptFlow) -> bool {
    let rules = &flow.rules;
    rules.in_force.is_some()
        || rules.pending.is_some()
        || rules.by_operator != kept.whole.by_operator
}

fn called(flow: &KeptFlow, t: &Texts) -> String {
    match flow.archived {
        true => t.retention.archived.with("flow", &flow.name).to_string(),
        false => flow.name.clone(),
    }
}

/// A change that a form asks for, as it was entered.
#[derive(Default)]
struct AskedChange {
    /// The id of the flow, empty for the organization.
    of: String,
    keep: String,
    days: String,
}

/// The rule that is to be set, or the field that is wrong with what is wrong with it.
type ReadRule = Result<Option<RetentionPeriod>, (&'static str, String)>;

impl AskedChange {
    fn of(form: &Form) -> Self {
        let text = |name| form.get(name).trim().to_owned();
        Self {
            of: text("of"),
            keep: text("keep"),
            days: text("days"),
        }
    }

    fn flow<'a>(&self, kept: &'a KeptMessages) -> Result<Option<&'a KeptFlow>, PageError> {
        if self.of.is_empty() {
            return Ok(None);
        }
        let flow = kept.flows.iter().find(|flow| flow.id.0 == self.of);
        Ok(Some(flow.ok_or_else(PageError::not_found)?))
    }

    fn read(&self, t: &Texts) -> ReadRule {
        let t = &t.retention;
        match self.keep.as_str() {
            FOREVER if self.of.is_empty() => Ok(None),
            FOREVER => Ok(Some(RetentionPeriod::Forever)),
            INHERITED if !self.of.is_empty() => Ok(None),
            FOR_DAYS => {
                let days = self.days.parse().ok();
                let period = days.and_then(|days| RetentionPeriod::days(days).ok());
                period.map(Some).ok_or_else(|| {
                    let wrong = t.wrong_days.with("most", MAX_RETENTION_DAYS);
                    ("days", wrong.to_string())
                })
            }
            _ => Err(("keep", t.wrong_choice.clone())),
        }
    }

    /// The form that asks for a change, with what was entered.
    fn form(&self, visit: &Visit, own: &Own, kept: &KeptMessages) -> FormView {
        let texts = visit.texts();
        let t = &texts.retention;
        let all = t.all.with("organization", &own.summary.name).to_string();
        let changeable = kept
            .flows
            .iter()
            .filter(|flow| flow.rules.by_operator.is_none());
        let flows = changeable.map(|flow| (flow.id.0.clone(), called(flow, texts)));
        let places = std::iter::once((String::new(), all)).chain(flows).collect();
        let choices = [
            (FOR_DAYS, &t.for_days),
            (FOREVER, &t.forever),
            (INHERITED, &t.inherited),
        ];
        let choices = choices.map(|(value, text)| (value.to_owned(), text.clone()));
        FormView::asking(
            texts,
            format!("{}/change", own.path(Subject::Retention)),
            &t.go_on,
        )
        .field(FormField::choice("of", &t.place, places).value(&self.of))
        .field(FormField::choice("keep", &t.keep, choices.to_vec()).value(&self.keep))
        .field(
            FormField::text("days", &t.number, "off")
                .value(&self.days)
                .hint(&t.number_hint)
                .optional(),
        )
    }
}

pub(in crate::pages) async fn ask(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Retention.action()).await?;
    let kept = kept(&visit, &own).await?;
    let asked = AskedChange::of(visit.whole_query());
    asked.flow(&kept)?;
    match asked.read(visit.texts()) {
        Ok(period) => {
            let form = question(&visit, &asked).await?;
            sure(&visit, &own, (&kept, &asked), period, form).await
        }
        Err(wrong) => again(&visit, &own, (&kept, &asked), wrong).await,
    }
}

/// The page with the form again, and what is wrong with a field of it.
async fn again(
    visit: &Visit,
    own: &Own,
    (kept, asked): (&KeptMessages, &AskedChange),
    (name, text): (&str, String),
) -> Result<Response, PageError> {
    let errors = [(name.to_owned(), vec![text])].into();
    let form = asked.form(visit, own, kept).errors(errors);
    page(visit, own, kept, form).await
}

async fn question(visit: &Visit, asked: &AskedChange) -> Result<FormView, PageError> {
    let form = visit
        .form(visit.path(), &visit.texts().retention.set)
        .hidden("of", &asked.of)
        .hidden("keep", &asked.keep)
        .hidden("days", &asked.days);
    with_confirmation(visit, form).await
}

/// The page that asks whether the rule shall really be set.
async fn sure(
    visit: &Visit,
    own: &Own,
    (kept, asked): (&KeptMessages, &AskedChange),
    period: Option<RetentionPeriod>,
    form: FormView,
) -> Result<Response, PageError> {
    let texts = visit.texts();
    let t = &texts.retention;
    let flow = asked.flow(kept)?;
    let (name, none) = match flow {
        Some(flow) => (&flow.name, &t.inherited),
        None => (&own.summary.name, &t.forever),
    };
    let heading = t.sure.with("name", name);
    let heading = heading
        .with("period", told(period, none, texts))
        .to_string();
    let text = match (kept.applies_at(flow, period), period) {
        (None, _) => t.at_once.clone(),
        (Some(at), Some(RetentionPeriod::Days(days))) => {
            let deletes = texts.count(&t.deletes, days as usize);
            let deletes = deletes.with("day", moment::day(&at, texts));
            format!("{deletes} {}", t.deletes_more)
        }
        (Some(at), _) => {
            let ends = t.ends.with("day", moment::day(&at, texts));
            format!("{ends} {}", t.deletes_more)
        }
    };
    let page = Ask {
        t: texts,
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong: form.is_wrong(),
            ..own.frame(visit, Subject::Retention).headed(heading)
        },
        text,
        form,
        back: own.path(Subject::Retention),
    };
    page.answer(visit).await
}

pub(in crate::pages) async fn change(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Retention.action()).await?;
    let kept = kept(visit, &own).await?;
    let asked = AskedChange::of(sent.form());
    let flow: Option<FlowId> = asked.flow(&kept)?.map(|flow| flow.id.clone());
    let period = match asked.read(visit.texts()) {
        Ok(period) => period,
        Err(wrong) => return again(visit, &own, (&kept, &asked), wrong).await,
    };
    let organizations = visit.app().organizations();
    let (actor, shown) = (visit.signed_in()?, confirmation(&sent));
    let set = organizations.set_retention(actor, own.id, flow, period, &shown);
    match set.await {
        Ok(()) => Ok(see_other(&format!(
            "{}?done=saved",
            own.path(Subject::Retention)
        ))),
        Err(error) if error.kind() == ErrorKind::Invalid => {
            let form = question(visit, &asked).await?.with_error(error)?;
            sure(visit, &own, (&kept, &asked), period, form).await
        }
        Err(error) => Err(PageError::not_allowed(error)),
    }
}

/// Cancels what is pending.
pub(in crate::pages) async fn cancel(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Retention.action()).await?;
    let kept = kept(visit, &own).await?;
    let flow = AskedChange::of(sent.form())
        .flow(&kept)?
        .map(|flow| flow.id.clone());
    let organizations = visit.app().organizations();
    organizations
        .cancel_retention(visit.signed_in()?, own.id, flow)
        .await
        .map_err(PageError::not_allowed)?;
    let here = own.path(Subject::Retention);
    Ok(see_other(&format!("{here}?done=cancelled")))
}
