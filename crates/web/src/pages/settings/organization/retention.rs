//! For how long the messages of an organization and of its flows are kept, and changing that after a
//! question.

use askama::Template;
use axum::response::Response;
use eddyline_app::{ErrorKind, KeptFlow, KeptMessages};
use eddyline_model::FlowId;
use eddyline_model::retention::{MAX_RETENTION_DAYS, RetentionPeriod};
use http::StatusCode;

use super::{Own, Subject, confirmation, find, with_confirmation};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::form::Form;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/organization/retention.html")]
struct RetentionPage {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    held: bool,
    /// The organization and its flows: the name, for how long, and the page that changes it.
    rules: Vec<(String, String, Option<String>)>,
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Retention.action()).await?;
    let kept = kept(&visit, &own).await?;
    let t = visit.texts();
    let change = format!("{}/change", own.path(Subject::Retention));
    let may_change = own.takes_changes() && !kept.held;
    let of_all = (
        t.retention
            .all
            .with("organization", &own.summary.name)
            .to_string(),
        told(kept.period, &t.retention.forever, t),
        may_change.then(|| change.clone()),
    );
    let of_flows = kept.flows.iter().map(|flow| {
        let path = format!("{change}?flow={}", flow.id.0);
        let name = match flow.archived {
            true => t.retention.archived.with("flow", &flow.name).to_string(),
            false => flow.name.clone(),
        };
        let rule = told(flow.period, &t.retention.inherited, t);
        (name, rule, may_change.then_some(path))
    });
    let done = (visit.query("done") == "saved").then_some(t.retention.saved.as_str());
    let page = RetentionPage {
        t,
        shell: Shell::beside(&visit).await?,
        frame: Frame {
            done,
            ..own.frame(&visit, Subject::Retention)
        },
        held: kept.held,
        rules: std::iter::once(of_all).chain(of_flows).collect(),
    };
    visit.client_page(&page).await
}

async fn kept(visit: &Visit, own: &Own) -> Result<KeptMessages, PageError> {
    let organizations = visit.app().organizations();
    let kept = organizations.retention(visit.signed_in()?, own.id).await;
    kept.map_err(PageError::not_allowed)
}

/// For how long messages are kept, where `none` is what no rule means.
fn told(period: Option<RetentionPeriod>, none: &str, t: &Texts) -> String {
    match period {
        None => none.to_owned(),
        Some(RetentionPeriod::Forever) => t.retention.forever.clone(),
        Some(RetentionPeriod::Days(days)) => t.count(&t.retention.days, days as usize).to_string(),
    }
}

/// How the form names the choices.
const INHERITED: &str = "inherited";
const FOREVER: &str = "forever";
const FOR_DAYS: &str = "days";

/// A change that a form asks for.
struct AskedChange {
    /// The flow, unless it is about the organization.
    flow: Option<KeptFlow>,
    /// The period that holds now.
    present: Option<RetentionPeriod>,
    /// The choice, and the days as they were entered.
    keep: String,
    days: String,
}

impl AskedChange {
    async fn of(visit: &Visit, own: &Own, form: &Form) -> Result<Self, PageError> {
        let kept = kept(visit, own).await?;
        let flow = match form.get("flow") {
            "" => None,
            id => {
                let flow = kept.flows.into_iter().find(|flow| flow.id.0 == id);
                Some(flow.ok_or_else(PageError::not_found)?)
            }
        };
        Ok(Self {
            present: flow.as_ref().map_or(kept.period, |flow| flow.period),
            flow,
            keep: form.get("keep").to_owned(),
            days: form.get("days").trim().to_owned(),
        })
    }

    /// The rule that is to hold, or the field that is wrong with what is wrong with it.
    fn read(&self, t: &Texts) -> Result<Option<RetentionPeriod>, (&'static str, String)> {
        let t = &t.retention;
        match (self.keep.as_str(), &self.flow) {
            (INHERITED, Some(_)) | (FOREVER, None) => Ok(None),
            (FOREVER, Some(_)) => Ok(Some(RetentionPeriod::Forever)),
            (FOR_DAYS, _) => {
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

    /// The form that asks for a change, with what was chosen or what holds now.
    fn form(&self, visit: &Visit) -> FormView {
        let texts = visit.texts();
        let t = &texts.retention;
        let inherited = self.flow.as_ref().map(|_| (INHERITED, &t.inherited));
        let choices = inherited
            .into_iter()
            .chain([(FOREVER, &t.forever), (FOR_DAYS, &t.for_days)]);
        let choices = choices.map(|(value, text)| (value.to_owned(), text.clone()));
        let (keep, days) = match (self.keep.as_str(), self.present, &self.flow) {
            ("", Some(RetentionPeriod::Days(days)), _) => (FOR_DAYS, days.to_string()),
            ("", None, Some(_)) => (INHERITED, String::new()),
            ("", ..) => (FOREVER, String::new()),
            (keep, ..) => (keep, self.days.clone()),
        };
        let form = FormView::asking(texts, visit.path(), &t.go_on)
            .field(FormField::choice("keep", &t.keep, choices.collect()).value(keep))
            .field(
                FormField::text("days", &t.number, "off")
                    .value(&days)
                    .hint(&t.number_hint)
                    .optional(),
            );
        match &self.flow {
            Some(flow) => form.hidden("flow", &flow.id.0),
            None => form,
        }
    }

    /// What it is about.
    fn named<'a>(&'a self, own: &'a Own) -> &'a str {
        match &self.flow {
            Some(flow) => &flow.name,
            None => &own.summary.name,
        }
    }
}

pub(in crate::pages) async fn ask(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Retention.action()).await?;
    let asked = AskedChange::of(&visit, &own, visit.whole_query()).await?;
    let form = asked.form(&visit);
    if asked.keep.is_empty() {
        return chosen(&visit, &own, &asked, form).await;
    }
    match asked.read(visit.texts()) {
        Ok(period) => {
            let form = question(&visit, &asked).await?;
            sure(&visit, &own, &asked, period, form).await
        }
        Err((name, text)) => chosen(&visit, &own, &asked, form.wrong(name, text)).await,
    }
}

/// The page on which a period is chosen.
async fn chosen(
    visit: &Visit,
    own: &Own,
    asked: &AskedChange,
    form: FormView,
) -> Result<Response, PageError> {
    let t = &visit.texts().retention;
    let text = match asked.flow {
        Some(_) => &t.choose_for_flow,
        None => &t.choose_for_all,
    };
    let heading = t.choose.with("name", asked.named(own)).to_string();
    page(visit, own, heading, text.clone(), form).await
}

/// The page that asks whether the period shall really hold.
async fn sure(
    visit: &Visit,
    own: &Own,
    asked: &AskedChange,
    period: Option<RetentionPeriod>,
    form: FormView,
) -> Result<Response, PageError> {
    let texts = visit.texts();
    let t = &texts.retention;
    let none = match asked.flow {
        Some(_) => &t.inherited,
        None => &t.forever,
    };
    let heading = t.sure.with("name", asked.named(own));
    let heading = heading
        .with("period", told(period, none, texts))
        .to_string();
    let text = match period {
        Some(RetentionPeriod::Days(days)) => texts.count(&t.deletes, days as usize).to_string(),
        _ => t.deletes_less.clone(),
    };
    page(visit, own, heading, text, form).await
}

async fn question(visit: &Visit, asked: &AskedChange) -> Result<FormView, PageError> {
    let form = visit
        .form(visit.path(), &visit.texts().retention.set)
        .hidden("keep", &asked.keep)
        .hidden("days", &asked.days);
    let form = match &asked.flow {
        Some(flow) => form.hidden("flow", &flow.id.0),
        None => form,
    };
    with_confirmation(visit, form).await
}

async fn page(
    visit: &Visit,
    own: &Own,
    heading: String,
    text: String,
    form: FormView,
) -> Result<Response, PageError> {
    let wrong = form.is_wrong();
    let page = Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong,
            ..own.frame(visit, Subject::Retention).headed(heading)
        },
        text,
        form,
        back: own.path(Subject::Retention),
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn change(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Retention.action()).await?;
    let asked = AskedChange::of(visit, &own, sent.form()).await?;
    let period = match asked.read(visit.texts()) {
        Ok(period) => period,
        Err((name, text)) => {
            let form = asked.form(visit).wrong(name, text);
            return chosen(visit, &own, &asked, form).await;
        }
    };
    let flow: Option<FlowId> = asked.flow.as_ref().map(|flow| flow.id.clone());
    let organizations = visit.app().organizations();
    let (actor, shown) = (visit.signed_in()?, confirmation(&sent));
    let set = organizations.set_retention(actor, own.id, flow, period, &shown);
    match set.await {
        Ok(()) => {
            let here = own.path(Subject::Retention);
            Ok(see_other(&format!("{here}?done=saved")))
        }
        Err(error) if error.kind() == ErrorKind::Invalid => {
            let form = question(visit, &asked).await?.with_error(error)?;
            sure(visit, &own, &asked, period, form).await
        }
        Err(error) => Err(PageError::not_allowed(error)),
    }
}
