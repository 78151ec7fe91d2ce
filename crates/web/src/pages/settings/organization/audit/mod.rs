//! The audit log of an organization: its records by a filter, and the same records as a file.

mod asked;
mod file;
mod row;

use askama::Template;
use axum::Extension;
use axum::response::Response;
use eddyline_app::{AuditRange, Error, ExplainedRecords};
use eddyline_http::expect_response_bytes;
use eddyline_http::serve::HangUpWatch;
use http::StatusCode;

use self::asked::AskedRecords;
use self::file::{GrowingFile, MAX_BYTES, MAX_RECORDS, RecordFile};
use self::row::{RecordRow, person};
use super::{Own, Subject, find};
use crate::action_words::ActionArea;
use crate::answer;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::form::Form;
use crate::pages::settings::Frame;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// How many records a page has.
const PAGE: usize = 50;
/// How many records of a file are read at a time.
const CHUNK: usize = 200;

#[derive(Template)]
#[template(path = "settings/organization/audit.html")]
struct AuditLog {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    filter: FormView,
    /// The page without a filter, where there is one.
    all: Option<String>,
    /// The records, unless the filter is wrong.
    list: Option<RecordList>,
}

/// The records of a page.
struct RecordList {
    rows: Vec<RecordRow>,
    /// What is said where there is none.
    none: &'static str,
    /// The page of those before, and that of the newest ones.
    older: Option<String>,
    newest: Option<String>,
    /// The forms that give all records of the filter as a file, where there is one.
    files: Vec<FormView>,
}

impl AuditLog {
    fn file_hint(&self) -> String {
        let hint = self.t.audit.download_hint.with("count", MAX_RECORDS);
        hint.with("size", MAX_BYTES >> 20).to_string()
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Audit.action()).await?;
    let before = match visit.query("until_id") {
        "" => None,
        text => Some(text.parse().map_err(|_| PageError::InvalidAddress)?),
    };
    let asked = AskedRecords::of(visit.whole_query());
    page(&visit, &own, &asked, before).await
}

async fn page(
    visit: &Visit,
    own: &Own,
    asked: &AskedRecords,
    before: Option<i64>,
) -> Result<Response, PageError> {
    let (filter, list) = match asked.read(visit.texts()) {
        Ok(wanted) => {
            let range = AuditRange::newest(before, PAGE as i64 + 1);
            let organizations = visit.app().organizations();
            let actor = visit.signed_in()?;
            let found = organizations.audit_explained(actor, own.id, wanted, range);
            let found = found.await.map_err(PageError::not_allowed)?;
            let filter = filter(visit, own, asked, &found).await?;
            (filter, Some(list(visit, own, asked, before, found)))
        }
        Err(errors) => {
            let filter = filter(visit, own, asked, &ExplainedRecords::default()).await?;
            (filter.errors(errors), None)
        }
    };
    let wrong = filter.is_wrong();
    let here = own.path(Subject::Audit);
    let page = AuditLog {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong,
            ..own.frame(visit, Subject::Audit)
        },
        filter,
        all: asked.given().next().is_some().then_some(here),
        list,
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

/// The form of the filter, with what was chosen. A user of the filter is offered also after they left the
/// organization.
async fn filter(
    visit: &Visit,
    own: &Own,
    asked: &AskedRecords,
    found: &ExplainedRecords,
) -> Result<FormView, PageError> {
    let texts = visit.texts();
    let t = &texts.audit;
    let organizations = visit.app().organizations();
    let mut people = organizations.users(visit.signed_in()?, own.id).await?;
    people.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id));
    let people = people
        .into_iter()
        .map(|user| (user.id.to_string(), format!("{} @{}", user.name, user.nick)));
    let mut choices = vec![(String::new(), t.everyone.clone())];
    choices.extend(people);
    let is_offered = choices.iter().any(|(id, _)| *id == asked.user);
    if let Ok(id @ 1..) = asked.user.parse::<i64>()
        && !is_offered
    {
        choices.push((
            asked.user.clone(),
            person(name_in(found, id).as_deref(), id, texts),
        ));
    }
    let everything = vec![(String::new(), t.everything.clone())];
    let what = FormField::choice("what", &t.what, everything);
    let what = ActionArea::OF_ORGANIZATIONS
        .into_iter()
        .fold(what, |what, area| {
            what.group(area.label(texts), area.choices(texts))
        });
    let day = |name, label, value| FormField::date(name, label).value(value).optional();
    Ok(FormView::asking(texts, own.path(Subject::Audit), &t.show)
        .field(what.value(&asked.what))
        .field(FormField::choice("user", &t.user, choices).value(&asked.user))
        .field(day("from", &t.from, &asked.from))
        .field(day("until", &t.until, &asked.until)))
}

/// The name of a user, as records have it.
fn name_in(found: &ExplainedRecords, user: i64) -> Option<String> {
    let by = format!("user:{user}");
    let mut records = found.records.iter();
    records.find_map(|record| {
        let of_user = record
            .user_name
            .clone()
            .filter(|_| record.user == Some(user));
        of_user.or_else(|| record.actor_name.clone().filter(|_| record.actor == by))
    })
}

fn list(
    visit: &Visit,
    own: &Own,
    asked: &AskedRecords,
    before: Option<i64>,
    mut found: ExplainedRecords,
) -> RecordList {
    let t = &visit.texts().audit;
    let here = own.path(Subject::Audit);
    let is_full = found.records.len() > PAGE;
    found.records.truncate(PAGE);
    let last = found.records.last().filter(|_| is_full).map(|last| last.id);
    let none = match (before, asked.given().next()) {
        (Some(_), _) => &t.none_older,
        (None, Some(_)) => &t.no_match,
        (None, None) => &t.none,
    };
    let files = RecordFile::ALL.into_iter().map(|format| {
        let label = match format {
            RecordFile::Csv => &t.csv,
            RecordFile::Lines => &t.lines,
        };
        let form = visit.form(format!("{here}/download"), label);
        let form = form.hidden("format", format.name()).quiet();
        asked
            .given()
            .fold(form, |form, (name, value)| form.hidden(name, value))
    });
    RecordList {
        files: match found.records.is_empty() {
            true => Vec::new(),
            false => files.collect(),
        },
        rows: RecordRow::all(&found, visit.texts()),
        none,
        older: last.map(|last| address(&here, asked, Some(last))),
        newest: before.map(|_| address(&here, asked, None)),
    }
}

/// The address of a page with this filter.
fn address(here: &str, asked: &AskedRecords, before: Option<i64>) -> String {
    let given = asked
        .given()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let before = before.map(|id| ("until_id".to_owned(), id.to_string()));
    let query: Form = given.chain(before).collect();
    match query.encoded() {
        query if query.is_empty() => here.to_owned(),
        query => format!("{here}?{query}"),
    }
}

pub(in crate::pages) async fn download(
    OrganizationName(name): OrganizationName,
    watch: Option<Extension<HangUpWatch>>,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Audit.action()).await?;
    let format = RecordFile::named(sent.get("format")).ok_or_else(PageError::unreadable)?;
    let asked = AskedRecords::of(sent.form());
    if asked.read(visit.texts()).is_err() {
        return page(visit, &own, &asked, None).await;
    }
    expect_response_bytes(MAX_BYTES)?;
    // A record says that the file was asked for; it is made only for a client that is still there.
    if let Some(Extension(watch)) = watch {
        watch.begin();
    }
    let organizations = visit.app().organizations();
    let _permit = organizations.audit_file_permit(visit.signed_in()?).await?;
    let content = written(visit, &own, &asked, format).await;
    let content = content.map_err(PageError::not_allowed)?;
    let organization = &own.summary.parameterized_name;
    let name = format!("audit-{organization}.{}", format.name());
    Ok(answer::download(&name, format.content_type(), content)?)
}

/// The records of a filter as a file, without the record of the download, which is written first.
async fn written(
    visit: &Visit,
    own: &Own,
    asked: &AskedRecords,
    format: RecordFile,
) -> Result<String, Error> {
    let organizations = visit.app().organizations();
    let actor = visit.actor().ok_or_else(Error::not_found)?;
    let filter = asked.read(visit.texts()).map_err(Error::invalid_fields)?;
    let newest = AuditRange::newest(None, 1);
    let newest = organizations.audit(actor, own.id, filter.clone(), newest);
    let mut before = newest.await?.first().map(|newest| newest.id + 1);
    let mut detail = asked.to_json();
    detail.insert("format".to_owned(), format.name().into());
    organizations
        .note_audit_export(actor, own.id, detail.into())
        .await?;

    let mut file = GrowingFile::new(format);
    while before.is_some() && file.room() > 0 {
        let wanted = file.room().min(CHUNK);
        let range = AuditRange::newest(before, wanted as i64);
        let records = organizations.audit(actor, own.id, filter.clone(), range);
        let records = records.await?;
        for record in &records {
            let added = file.push(record);
            if !added.map_err(|error| Error::internal(format!("a record as text: {error}")))? {
                return Ok(file.finish());
            }
        }
        let is_full = records.len() == wanted;
        before = records.last().filter(|_| is_full).map(|last| last.id);
    }
    Ok(file.finish())
}
