//! Forms as they are shown.

use std::fmt::Display;

use askama::Template;
use eddyline_app::{Error, ErrorKind, FieldErrors};

use crate::error::sentence;
use crate::texts::Texts;

/// One field of a form.
pub(crate) struct FormField {
    /// Names the value.
    name: &'static str,
    /// What people read beside it.
    label: &'static str,
    /// The type of the input.
    kind: &'static str,
    /// What browsers may fill in by themselves.
    autocomplete: &'static str,
    /// Of a switch, empty when it is off. Of a file, the kinds to choose from.
    value: String,
    /// The values to choose from, each with what people read.
    choices: Vec<(String, String)>,
    /// Further values to choose from, in groups with names.
    groups: Vec<(String, Vec<(String, String)>)>,
    hint: &'static str,
    readonly: bool,
    optional: bool,
    /// Whether it has the focus when the page opens.
    focused: bool,
    problems: Vec<String>,
}

impl FormField {
    pub(crate) fn text(
        name: &'static str,
        label: &'static str,
        autocomplete: &'static str,
    ) -> Self {
        Self::new(name, label, "text", autocomplete)
    }

    /// An address, which is also what accounts are known by.
    pub(crate) fn email(t: &'static Texts) -> Self {
        Self::new("email", &t.field.email, "email", "username")
    }

    pub(crate) fn password(
        name: &'static str,
        label: &'static str,
        autocomplete: &'static str,
    ) -> Self {
        Self::new(name, label, "password", autocomplete)
    }

    /// A password to be, with what makes it a good one.
    pub(crate) fn new_password(t: &'static Texts, label: &'static str) -> Self {
        Self::password("password", label, "new-password").hint(&t.field.password_hint)
    }

    /// A time of the day.
    pub(crate) fn time(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, "time", "off")
    }

    /// A day, as `2026-11-29`.
    pub(crate) fn date(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, "date", "off")
    }

    /// Several lines of text.
    pub(crate) fn lines(name: &'static str, label: &'static str) -> Self {
        Self::new(name, label, "lines", "off")
    }

    /// A file of one of these kinds, with commas between.
    pub(crate) fn file(name: &'static str, label: &'static str, kinds: &str) -> Self {
        Self::new(name, label, "file", "off").value(kinds)
    }

    /// Yes or no.
    pub(crate) fn switch(name: &'static str, label: &'static str, on: bool) -> Self {
        Self::new(name, label, "checkbox", "off").value(if on { "1" } else { "" })
    }

    /// One of several values, each with what people read.
    pub(crate) fn choice(
        name: &'static str,
        label: &'static str,
        choices: Vec<(String, String)>,
    ) -> Self {
        Self {
            choices,
            ..Self::new(name, label, "choice", "off")
        }
    }

    fn new(
        name: &'static str,
        label: &'static str,
        kind: &'static str,
        autocomplete: &'static str,
    ) -> Self {
        Self {
            name,
            label,
            kind,
            autocomplete,
            value: String::new(),
            choices: Vec::new(),
            groups: Vec::new(),
            hint: "",
            readonly: false,
            optional: false,
            focused: false,
            problems: Vec::new(),
        }
    }

    pub(crate) fn value(mut self, value: &str) -> Self {
        value.clone_into(&mut self.value);
        self
    }

    /// Offers further values of a choice in a group.
    pub(crate) fn group(mut self, label: &str, choices: Vec<(String, String)>) -> Self {
        self.groups.push((label.to_owned(), choices));
        self
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn readonly(mut self) -> Self {
        self.readonly = true;
        self
    }

    /// Gives it the focus when the page opens, unless something is wrong with the form.
    pub(crate) fn focused(mut self) -> Self {
        self.focused = true;
        self
    }

    pub(crate) fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// A form. Its text is HTML already.
#[derive(Template)]
#[template(path = "form.html")]
pub(crate) struct FormView {
    t: &'static Texts,
    action: String,
    method: &'static str,
    /// Sets the ids of this form apart from those of others on the page.
    prefix: &'static str,
    hidden: Vec<(&'static str, String)>,
    fields: Vec<FormField>,
    button: String,
    /// What the button acts upon, where several look alike; for screen readers.
    about: String,
    quiet: bool,
    /// What is wrong with no field in particular.
    problems: Vec<String>,
}

impl FormView {
    /// A form that posts to this path.
    pub(crate) fn new(
        t: &'static Texts,
        action: impl Into<String>,
        csrf: &str,
        button: impl Display,
    ) -> Self {
        Self {
            t,
            action: action.into(),
            method: "post",
            prefix: "",
            hidden: vec![("csrf", csrf.to_owned())],
            fields: Vec::new(),
            button: button.to_string(),
            about: String::new(),
            quiet: false,
            problems: Vec::new(),
        }
    }

    /// A form that leads to this path with its values as the query, and changes nothing.
    pub(crate) fn asking(
        t: &'static Texts,
        action: impl Into<String>,
        button: impl Display,
    ) -> Self {
        Self {
            method: "get",
            hidden: Vec::new(),
            ..Self::new(t, action, "", button)
        }
    }

    pub(crate) fn prefix(mut self, prefix: &'static str) -> Self {
        self.prefix = prefix;
        self
    }

    pub(crate) fn hidden(mut self, name: &'static str, value: &str) -> Self {
        self.hidden.push((name, value.to_owned()));
        self
    }

    pub(crate) fn field(mut self, field: FormField) -> Self {
        self.fields.push(field);
        self
    }

    /// Shows what was chosen or typed before in a field.
    pub(crate) fn chosen(mut self, name: &str, value: &str) -> Self {
        let named = self.fields.iter_mut().find(|field| field.name == name);
        if let Some(field) = named {
            value.clone_into(&mut field.value);
        }
        self
    }

    /// Says what the button acts upon, where several look alike.
    pub(crate) fn about(mut self, what: impl Display) -> Self {
        self.about = what.to_string();
        self
    }

    /// Shows the button as one that is seldom the right one.
    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Says what is wrong.
    pub(crate) fn problem(mut self, text: impl Into<String>) -> Self {
        self.problems.push(text.into());
        self
    }

    /// Says what is wrong with each field.
    pub(crate) fn errors(mut self, errors: FieldErrors) -> Self {
        for (name, texts) in errors {
            match self.fields.iter_mut().find(|field| field.name == name) {
                Some(field) => field.problems.extend(texts),
                None => self
                    .problems
                    .extend(texts.into_iter().map(|text| format!("{name} {text}"))),
            }
        }
        self
    }

    /// Shows an error beside the fields that are wrong, or above the form. Errors that are not
    /// about what the user entered come back.
    pub(crate) fn with_error(self, error: Error) -> Result<Self, Error> {
        match (error.kind(), error.message()) {
            (ErrorKind::Invalid, None) => Ok(self.errors(error.into_fields())),
            (ErrorKind::Invalid | ErrorKind::Conflict, Some(text)) => {
                Ok(self.problem(sentence(text)))
            }
            _ => Err(error),
        }
    }

    /// Whether something is wrong.
    pub(crate) fn is_wrong(&self) -> bool {
        !self.problems.is_empty() || self.fields.iter().any(|field| !field.problems.is_empty())
    }

    /// Whether the form is sent in parts.
    fn has_file(&self) -> bool {
        self.fields.iter().any(|field| field.kind == "file")
    }

    /// The id of something beside the fields of this form, which no other form of the page has.
    pub(crate) fn id_of(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn id(&self, field: &FormField) -> String {
        format!("{}{}", self.prefix, field.name)
    }

    /// The ids of what describes a field, for screen readers.
    fn describedby(&self, field: &FormField) -> String {
        let id = self.id(field);
        let hint = (!field.hint.is_empty()).then(|| format!("{id}-hint"));
        let error = (!field.problems.is_empty()).then(|| format!("{id}-error"));
        hint.into_iter().chain(error).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    fn english() -> &'static Texts {
        Texts::in_language(Language::English)
    }

    fn form() -> FormView {
        FormView::new(english(), "/x", "token", "Go")
    }

    #[test]
    fn what_is_typed_is_shown_as_text() {
        let form = form().field(FormField::email(english()).value("\"><script>"));
        let html = form.render().unwrap();
        assert!(!html.contains("<script>"), "{html}");
    }

    #[test]
    fn what_was_chosen_is_still_chosen() {
        let choices = vec![
            ("1".to_owned(), "One".to_owned()),
            ("2".to_owned(), "Two".to_owned()),
        ];
        let form = form()
            .field(FormField::choice("number", "Number", choices).value("2"))
            .field(
                FormField::choice("kind", "Kind", Vec::new())
                    .group("More", vec![("3".to_owned(), "Three".to_owned())])
                    .value("3"),
            )
            .field(FormField::switch("on", "On", true))
            .field(FormField::switch("off", "Off", false))
            .field(FormField::lines("text", "Text").value("</textarea>a\nb"))
            .about("it");
        let html = form.render().unwrap();
        for part in [
            "<option value=\"1\">One</option>",
            "<option value=\"2\" selected>Two</option>",
            "<optgroup label=\"More\">\n<option value=\"3\" selected>Three</option>\n</optgroup>",
            "<input id=\"on\" name=\"on\" type=\"checkbox\" value=\"1\" checked>",
            "<input id=\"off\" name=\"off\" type=\"checkbox\" value=\"1\">",
            "&#60;/textarea&#62;a\nb</textarea>",
            "<button type=\"submit\" class=\"btn\" aria-label=\"Go: it\">Go</button>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_form_that_asks_is_sent_as_a_query_and_bears_no_token() {
        let form = FormView::asking(english(), "/x", "Go").field(FormField::date("from", "From"));
        let html = form.render().unwrap();
        assert!(
            html.contains("<form method=\"get\" action=\"/x\">"),
            "{html}"
        );
        assert!(!html.contains("hidden"), "{html}");
    }

    #[test]
    fn a_form_with_a_file_is_sent_in_parts() {
        let form = form().field(FormField::file("f", "File", "image/png"));
        let html = form.render().unwrap();
        for part in [
            "<form method=\"post\" action=\"/x\" enctype=\"multipart/form-data\">",
            "<input id=\"f\" name=\"f\" type=\"file\" accept=\"image/png\" required>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_wrong_field_is_tied_to_what_is_wrong() {
        let errors = FieldErrors::from([
            ("nick".to_owned(), vec!["is taken".to_owned()]),
            ("other".to_owned(), vec!["is odd".to_owned()]),
        ]);
        let nick = FormField::text("nick", "Nick", "nickname").hint("Short.");
        let form = form().field(nick).errors(errors);
        assert!(form.is_wrong());
        let html = form.render().unwrap();
        for part in [
            "role=\"alert\"",
            "<a href=\"#nick\">Nick is taken</a>",
            "<li>other is odd</li>",
            "<label for=\"nick\">Nick</label>",
            "aria-invalid=\"true\"",
            "aria-describedby=\"nick-hint nick-error\"",
            "id=\"nick-error\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
