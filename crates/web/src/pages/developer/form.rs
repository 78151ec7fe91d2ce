//! What can be said about an application, as it stands in a form.

use std::fmt::Display;
use std::str::FromStr;

use eddyline_app::{ApplicationChanges, FieldErrors};
use eddyline_model::applications::{Application, RedirectUri};
use eddyline_model::names::display_name;

use crate::field::{FormField, FormView};
use crate::submission::Submission;
use crate::texts::Texts;

/// What the fields hold.
#[derive(Default)]
pub(super) struct Values {
    name: String,
    /// One on each line.
    redirect_uris: String,
    configuration_uri: String,
    setup_uri: String,
    icon_url: String,
    password_grant: bool,
    out_of_band: bool,
}

impl Values {
    /// As an application has them.
    pub(super) fn of(application: &Application) -> Self {
        let uris: Vec<&str> = application
            .redirect_uris
            .iter()
            .map(RedirectUri::as_str)
            .collect();
        let text = |uri: &Option<_>| uri.as_ref().map(ToString::to_string).unwrap_or_default();
        Self {
            name: application.name.clone(),
            redirect_uris: uris.join("\n"),
            configuration_uri: text(&application.configuration_uri),
            setup_uri: text(&application.setup_uri),
            icon_url: text(&application.icon_url),
            password_grant: application.password_grant,
            out_of_band: application.out_of_band,
        }
    }

    /// As somebody sent them.
    pub(super) fn sent(sent: &Submission) -> Self {
        let text = |name| sent.get(name).to_owned();
        Self {
            name: text("name"),
            redirect_uris: text("redirect_uri"),
            configuration_uri: text("configuration_uri"),
            setup_uri: text("setup_uri"),
            icon_url: text("icon_url"),
            password_grant: !sent.get("password_grant").is_empty(),
            out_of_band: !sent.get("out_of_band").is_empty(),
        }
    }

    /// What they say, or all that is wrong with them.
    pub(super) fn read(&self, t: &Texts) -> Result<ApplicationChanges, FieldErrors> {
        let mut errors = FieldErrors::new();
        let mut wrong =
            |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
        if let Err(error) = display_name(&self.name) {
            wrong("name", error.to_string());
        }
        let mut redirect_uris = Vec::new();
        for (number, line) in (1..)
            .zip(self.redirect_uris.lines())
            .filter(|(_, line)| !line.trim().is_empty())
        {
            match line.trim().parse() {
                Ok(uri) => redirect_uris.push(uri),
                Err(error) => wrong("redirect_uri", in_line(t, number, &error)),
            }
        }
        let changes = ApplicationChanges {
            name: self.name.clone(),
            redirect_uris,
            configuration_uri: optional("configuration_uri", &self.configuration_uri, &mut wrong),
            setup_uri: optional("setup_uri", &self.setup_uri, &mut wrong),
            icon_url: optional("icon_url", &self.icon_url, &mut wrong),
            password_grant: self.password_grant,
            out_of_band: self.out_of_band,
        };
        if errors.is_empty() {
            Ok(changes)
        } else {
            Err(errors)
        }
    }

    /// Adds the fields to a form.
    pub(super) fn fields(&self, t: &'static Texts, form: FormView) -> FormView {
        let address =
            |name, label, value| FormField::text(name, label, "off").value(value).optional();
        let name = FormField::text("name", &t.field.name, "off").value(&self.name);
        let t = &t.registration;
        form.field(name)
            .field(
                FormField::lines("redirect_uri", &t.redirect_uris)
                    .value(&self.redirect_uris)
                    .hint(&t.redirect_uris_hint),
            )
            .field(
                address(
                    "configuration_uri",
                    &t.configuration_uri,
                    &self.configuration_uri,
                )
                .hint(&t.configuration_uri_hint),
            )
            .field(address("setup_uri", &t.setup_uri, &self.setup_uri).hint(&t.setup_uri_hint))
            .field(address("icon_url", &t.icon_url, &self.icon_url))
            .field(
                FormField::switch("password_grant", &t.password_grant, self.password_grant)
                    .hint(&t.password_grant_hint),
            )
            .field(
                FormField::switch("out_of_band", &t.out_of_band, self.out_of_band)
                    .hint(&t.out_of_band_hint),
            )
    }
}

fn in_line(t: &Texts, number: usize, error: &impl Display) -> String {
    let in_line = t.registration.in_line.with("line", number);
    in_line.with("error", error).to_string()
}

fn optional<T: FromStr<Err: Display>>(
    name: &str,
    text: &str,
    wrong: &mut impl FnMut(&str, String),
) -> Option<T> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    text.parse()
        .map_err(|error: T::Err| wrong(name, error.to_string()))
        .ok()
}
