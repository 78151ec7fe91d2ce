//! One's own account: picture, names, address, password. What else opens it has pages of its own.

pub(super) mod applications;
pub(super) mod notifications;
pub(super) mod picture;
pub(super) mod sessions;
pub(super) mod tokens;

use askama::Template;
use axum::response::Response;
use eddyline_app::{
    Error, FieldErrors, OwnOrganization, Password, Result as AppResult, UserChanges,
};
use eddyline_model::users::User;
use http::StatusCode;

use self::picture::PictureView;
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::language::Language;
use crate::pages::shell::Shell;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::theme::Theme;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    organizations: Vec<OwnOrganization>,
    /// Absent where only a form with a mistake is shown.
    picture: Option<PictureView>,
    forms: Vec<(&'static str, FormView)>,
}

impl AccountPage {
    fn is_wrong(&self) -> bool {
        self.forms.iter().any(|(_, form)| form.is_wrong())
    }
}

pub(super) async fn show(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let user = &actor.user()?.user;
    let done = done(&visit);
    let fresh = visit.app().accounts().has_signed_in_lately(actor).await?;
    let t = visit.texts();
    let names = profile(&visit, &user.name, &user.nick, &user.website);
    let forms = vec![
        (t.account.names.as_str(), names),
        (&t.field.email, email(&visit, &user.email, fresh)),
        (&t.field.password, password(&visit)),
        (&t.account.appearance, appearance(&visit, visit.theme())),
        (&t.language_choice.title, language(&visit, visit.language())),
    ];
    let organizations = visit.app().organizations().list_own(actor).await?;
    let picture = Some(PictureView::of(&visit, actor).await?);
    let page = AccountPage {
        t,
        shell: Shell::beside(&visit).await?,
        done,
        organizations,
        picture,
        forms,
    };
    visit.client_page(&page).await
}

/// What has been done with the account.
fn done(visit: &Visit) -> Option<&'static str> {
    let t = visit.texts();
    let done = &t.account.done;
    let told = match visit.query("done") {
        "profile" => &done.profile,
        "appearance" => &done.appearance,
        "language" => &t.language_choice.saved,
        "email" => &done.email,
        "picture" => &done.picture,
        "no-picture" => &done.no_picture,
        "password" => &done.password,
        _ => return None,
    };
    Some(told)
}

/// Each of the forms changes what it shows.
pub(super) async fn change(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let user = &visit.signed_in()?.user()?.user;
    match sent.get("part") {
        "profile" => change_profile(&sent, user).await,
        "email" => change_email(&sent).await,
        "appearance" => Ok(change_appearance(&sent)),
        "language" => Ok(change_language(&sent)),
        "password" => change_password(&sent, user).await,
        "no-picture" => picture::remove(&sent).await,
        _ => Err(PageError::unreadable()),
    }
}

async fn change_profile(sent: &Submission, user: &User) -> Result<Response, PageError> {
    let (name, nick, website) = (sent.get("name"), sent.get("nick"), sent.get("website"));
    let mut errors = FieldErrors::new();
    let mut changes = UserChanges::default();
    // What stays is not looked at again: it may be older than the rules.
    if name != user.name {
        changes.name = Some(name.to_owned());
    }
    if nick != user.nick {
        changes.nick = parsed("nick", nick, &mut errors);
    }
    if website != user.website {
        changes.website = parsed("website", website, &mut errors);
    }
    let outcome = if errors.is_empty() {
        apply(sent, changes).await
    } else {
        Err(Error::invalid_fields(errors))
    };
    let form = profile(&sent.visit, name, nick, website);
    let title = &sent.visit.texts().account.names;
    finish(&sent.visit, "profile", title, form, outcome).await
}

async fn change_email(sent: &Submission) -> Result<Response, PageError> {
    let mut errors = FieldErrors::new();
    let address = parsed("email", sent.get("email"), &mut errors);
    let present = Some(sent.get("current_password"))
        .filter(|text| !text.is_empty())
        .map(Password::new);
    let changes = UserChanges {
        email: address,
        current_password: present,
        ..UserChanges::default()
    };
    let outcome = if errors.is_empty() {
        apply(sent, changes).await
    } else {
        Err(Error::invalid_fields(errors))
    };
    let visit = &sent.visit;
    let fresh = visit
        .app()
        .accounts()
        .has_signed_in_lately(visit.signed_in()?)
        .await?;
    finish(
        visit,
        "email",
        &visit.texts().field.email,
        email(visit, sent.get("email"), fresh),
        outcome,
    )
    .await
}

async fn change_password(sent: &Submission, user: &User) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let new = Password::new(sent.get("password"));
    let changes = UserChanges {
        password: Some(new.clone()),
        current_password: Some(Password::new(sent.get("current_password"))),
        ..UserChanges::default()
    };
    match apply(sent, changes).await {
        Ok(()) => {
            // That has ended every session, this one as well.
            let session = visit
                .app()
                .accounts()
                .sign_in(&user.email, &new, visit.client())
                .await?;
            visit
                .begin_session(&session, "/account?done=password")
                .await
        }
        refused => {
            let title = &visit.texts().field.password;
            finish(visit, "password", title, password(visit), refused).await
        }
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: &str,
    errors: &mut FieldErrors,
) -> Option<T> {
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            errors.insert(name.to_owned(), vec![error.to_string()]);
            None
        }
    }
}

/// What is no theme stands for the colours of the system.
fn change_appearance(sent: &Submission) -> Response {
    let theme = sent.get("theme").parse().ok();
    let mut response = see_other("/account?done=appearance");
    sent.visit.keep_theme(theme, &mut response);
    response
}

/// What is no language stands for what the browser says.
fn change_language(sent: &Submission) -> Response {
    let language = sent.get("language").parse().ok();
    let mut response = see_other("/account?done=language");
    sent.visit.keep_language(language, &mut response);
    response
}

async fn apply(sent: &Submission, changes: UserChanges) -> AppResult<()> {
    let visit = &sent.visit;
    match visit.actor() {
        Some(actor) => {
            visit
                .app()
                .users()
                .update(actor, changes, visit.client())
                .await
        }
        None => Err(Error::denied()),
    }
}

/// Goes on to the page anew, or shows the form again with what is wrong.
async fn finish(
    visit: &Visit,
    part: &str,
    title: &'static str,
    form: FormView,
    outcome: AppResult<()>,
) -> Result<Response, PageError> {
    let form = match outcome {
        Ok(()) => return Ok(see_other(&format!("/account?done={part}"))),
        Err(error) => form.with_error(error)?,
    };
    let page = AccountPage {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        done: None,
        organizations: Vec::new(),
        picture: None,
        forms: vec![(title, form)],
    };
    visit.client_page_with(StatusCode::BAD_REQUEST, &page).await
}

fn profile(visit: &Visit, name: &str, nick: &str, website: &str) -> FormView {
    let t = visit.texts();
    visit
        .form("/account", &t.field.save)
        .prefix("profile-")
        .hidden("part", "profile")
        .field(FormField::text("name", &t.field.full_name, "name").value(name))
        .field(
            FormField::text("nick", &t.field.nick, "nickname")
                .value(nick)
                .hint(&t.field.nick_hint),
        )
        .field(
            FormField::text("website", &t.account.website, "url")
                .value(website)
                .optional(),
        )
}

fn appearance(visit: &Visit, theme: Option<Theme>) -> FormView {
    let t = &visit.texts().account;
    let choices = [
        ("system", &t.system),
        ("light", &t.light),
        ("dark", &t.dark),
    ];
    let choices = choices.map(|(value, label)| (value.to_owned(), label.clone()));
    visit
        .form("/account", &t.save_colours)
        .prefix("appearance-")
        .hidden("part", "appearance")
        .field(
            FormField::choice("theme", &t.colours, choices.into())
                .value(theme.map_or("system", Theme::name))
                .hint(&t.colours_hint),
        )
}

fn language(visit: &Visit, chosen: Option<Language>) -> FormView {
    let t = &visit.texts().language_choice;
    let by_browser = ("browser".to_owned(), t.by_browser.clone());
    // Those who cannot read this page find their language by its own name.
    let each = Language::ALL.map(|each| (each.tag().to_owned(), each.own_name().to_owned()));
    let choices = [by_browser].into_iter().chain(each);
    visit
        .form("/account", &t.save)
        .prefix("language-")
        .hidden("part", "language")
        .field(
            FormField::choice("language", &t.label, choices.collect())
                .value(chosen.map_or("browser", Language::tag))
                .hint(&t.hint),
        )
}

/// `fresh` is whether the password was shown just now, by signing in.
fn email(visit: &Visit, address: &str, fresh: bool) -> FormView {
    let t = visit.texts();
    let form = visit
        .form("/account", &t.account.change_address)
        .prefix("email-")
        .hidden("part", "email")
        .field(
            FormField::email(t)
                .value(address)
                .hint(&t.account.address_hint),
        );
    match fresh {
        true => form,
        false => form.field(
            FormField::password(
                "current_password",
                &t.field.current_password,
                "current-password",
            )
            .hint(&t.account.proof_hint),
        ),
    }
}

fn password(visit: &Visit) -> FormView {
    let t = visit.texts();
    visit
        .form("/account", &t.account.change_password)
        .prefix("password-")
        .hidden("part", "password")
        .field(FormField::password(
            "current_password",
            &t.field.current_password,
            "current-password",
        ))
        .field(FormField::new_password(t, &t.field.new_password))
}
