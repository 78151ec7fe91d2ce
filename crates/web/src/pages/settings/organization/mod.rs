//! The settings of an organization: a page for each subject. Its people, and what it is called, are
//! for all who belong to it, everything else for its administrators.

pub(in crate::pages) mod administrator;
pub(in crate::pages) mod applications;
pub(in crate::pages) mod audit;
pub(in crate::pages) mod deletion;
pub(in crate::pages) mod general;
pub(in crate::pages) mod new_flow;
pub(in crate::pages) mod people;
pub(in crate::pages) mod provider;

use eddyline_app::{Confirmation, Password, ScimDetails};
use eddyline_model::policy::{OrganizationAction, organization as allowed};
use eddyline_model::{OrganizationId, UserId};
use eddyline_wire::OrganizationSummary;

use super::Frame;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::shell::settings_of;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// A page of the settings of an organization.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    General,
    People,
    Applications,
    Provider,
    Audit,
}

impl Subject {
    /// Each, in the order of the list.
    const ALL: [Self; 5] = [
        Self::General,
        Self::People,
        Self::Applications,
        Self::Provider,
        Self::Audit,
    ];

    fn label(self, t: &'static Texts) -> &'static str {
        match self {
            Self::General => &t.organization.general,
            Self::People => &t.people.title,
            Self::Applications => &t.organization.applications,
            Self::Provider => &t.organization.provider,
            Self::Audit => &t.audit.title,
        }
    }

    /// The path of the page, where `settings` is that of the organization's settings.
    fn path(self, settings: &str) -> String {
        let rest = match self {
            Self::General => "",
            Self::People => "/people",
            Self::Applications => "/applications",
            Self::Provider => "/identity-provider",
            Self::Audit => "/audit",
        };
        format!("{settings}{rest}")
    }

    /// What one has to be allowed to see the page.
    fn action(self) -> OrganizationAction {
        match self {
            Self::General | Self::People => OrganizationAction::See,
            Self::Applications | Self::Provider | Self::Audit => OrganizationAction::Administer,
        }
    }
}

/// An organization that the visitor belongs to.
struct Own {
    id: OrganizationId,
    summary: OrganizationSummary,
    administered: bool,
}

/// The organization that a path names, for a visitor who is signed in and may do this with it.
async fn find(visit: &Visit, name: &str, action: OrganizationAction) -> Result<Own, PageError> {
    let actor = visit.signed_in()?;
    let organizations = visit.app().organizations();
    let id = organizations
        .find(actor, name, action)
        .await
        .map_err(PageError::not_allowed)?;
    let role = actor.user()?.role_in(id);
    Ok(Own {
        id,
        summary: organizations.summary(actor, id).await?,
        administered: allowed(role, OrganizationAction::Administer).is_ok(),
    })
}

impl Own {
    fn path(&self, subject: Subject) -> String {
        subject.path(&settings_of(&self.summary.parameterized_name))
    }

    /// Whether the visitor may change it now. Nothing is written in an inactive one.
    fn takes_changes(&self) -> bool {
        self.administered && self.summary.active
    }

    /// What stands around a page.
    fn frame(&self, visit: &Visit, subject: Subject) -> Frame {
        let t = visit.texts();
        let shown = Subject::ALL
            .into_iter()
            .filter(|page| self.administered || page.action() == OrganizationAction::See);
        let pages = shown.map(|page| {
            let path = self.path(page);
            let current = match visit.path() == path {
                true => "page",
                false => "true",
            };
            (path, page.label(t), (page == subject).then_some(current))
        });
        let name = &self.summary.name;
        let title = t.organization.page_of.with("page", subject.label(t));
        Frame {
            title: title.with("organization", name).to_string(),
            heading: subject.label(t).to_owned(),
            done: None,
            wrong: false,
            of: name.clone(),
            back: Some(("/app".to_owned(), t.own_flows.title.clone())),
            pages: pages.collect(),
            above: None,
        }
    }
}

/// Has a form ask for the password, unless the visitor has just signed in.
async fn with_confirmation(visit: &Visit, form: FormView) -> Result<FormView, PageError> {
    let actor = visit.signed_in()?;
    if visit.app().accounts().has_signed_in_lately(actor).await? {
        return Ok(form);
    }
    let t = visit.texts();
    let label = &t.field.current_password;
    let field = FormField::password("current_password", label, "current-password");
    Ok(form.field(field.hint(&t.organization.proof_hint)))
}

/// What a form of [`with_confirmation`] has sent.
fn confirmation(sent: &Submission) -> Confirmation {
    let text = Some(sent.get("current_password")).filter(|text| !text.is_empty());
    Confirmation {
        current_password: text.map(Password::new),
        address: sent.visit.client(),
    }
}

/// What to bear in mind when a person loses rights who made the token of the identity provider.
async fn token_warning(visit: &Visit, own: &Own, user: UserId) -> Result<String, PageError> {
    let organizations = visit.app().organizations();
    let known = organizations.provider(visit.signed_in()?, own.id).await?;
    let made = |known: &ScimDetails| {
        let maker = known.made_by.as_ref().map(|(id, _)| *id);
        known.enabled && maker == Some(user)
    };
    Ok(match known.is_some_and(|known| made(&known)) {
        true => format!(" {}", visit.texts().provider.warning),
        false => String::new(),
    })
}

/// The page that makes a flow in the organization with this name in URLs.
pub(in crate::pages) fn new_flow_in(organization: &str) -> String {
    format!("{}/flows/new", settings_of(organization))
}
