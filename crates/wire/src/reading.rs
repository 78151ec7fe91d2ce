//! Reading nested parameters, and naming those that are wrong as a form would:
//! `thread[status][color]`.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

/// What is wrong with each parameter.
pub type FieldErrors = BTreeMap<String, Vec<String>>;

/// The longest address, in bytes.
pub(crate) const MAX_URL: usize = 2000;

/// An object among the parameters. An empty text is as good as none.
pub(crate) struct Object<'a, 'e> {
    map: &'a Map<String, Value>,
    path: String,
    errors: &'e mut FieldErrors,
}

impl<'a, 'e> Object<'a, 'e> {
    /// The object that `value` should be; notes it when it is not.
    pub(crate) fn new(value: &'a Value, path: String, errors: &'e mut FieldErrors) -> Option<Self> {
        if let Value::Object(map) = value {
            return Some(Self { map, path, errors });
        }
        errors
            .entry(path)
            .or_default()
            .push("must be an object".into());
        None
    }

    pub(crate) fn error(&mut self, name: &str, text: impl Into<String>) {
        self.errors
            .entry(self.name_of(name))
            .or_default()
            .push(text.into());
    }

    fn name_of(&self, name: &str) -> String {
        format!("{}[{name}]", self.path)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// A text of at most so many characters that is not blank.
    pub(crate) fn text(&mut self, name: &str, most: usize) -> Option<String> {
        let text = match self.value(name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => match text_of_number(number) {
                Ok(text) => text,
                Err(wrong) => {
                    self.error(name, wrong);
                    return None;
                }
            },
            Value::Bool(truth) => truth.to_string(),
            _ => {
                self.error(name, "must be a text");
                return None;
            }
        };
        if text.len() > most && text.chars().count() > most {
            self.error(name, format!("is too long (maximum is {most} characters)"));
            return None;
        }
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// The same where there must be one. After a mistake it is empty.
    pub(crate) fn required_text(&mut self, name: &str, most: usize) -> String {
        let before = self.errors.len();
        let text = self.text(name, most);
        if text.is_none() && self.errors.len() == before {
            self.error(name, "can't be blank");
        }
        text.unwrap_or_default()
    }

    /// An address on the web.
    pub(crate) fn url(&mut self, name: &str) -> Option<String> {
        // How long it may be is told last: what is no address on the web is often long as well.
        let url = self.text(name, usize::MAX)?;
        match check_url(&url) {
            Ok(()) => Some(url),
            Err(text) => {
                self.error(name, text);
                None
            }
        }
    }

    /// The same where there must be one.
    pub(crate) fn required_url(&mut self, name: &str) -> String {
        let before = self.errors.len();
        let url = self.url(name);
        if url.is_none() && self.errors.len() == before {
            self.error(name, "can't be blank");
        }
        url.unwrap_or_default()
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &[(&str, T)],
        fold: bool,
    ) -> Option<T> {
        let text = self.text(name, 100)?;
        let same = |word: &str| word == text || (fold && word.eq_ignore_ascii_case(&text));
        let found = choices
            .iter()
            .find(|(word, _)| same(word))
            .map(|(_, meaning)| *meaning);
        if found.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            self.error(name, format!("must be one of: {}", words.join(", ")));
        }
        found
    }

    /// An object within.
    pub(crate) fn object(&mut self, name: &str) -> Option<Object<'a, '_>> {
        let value = self.value(name)?;
        // Forms have an empty text where nothing is meant.
        if value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return None;
        }
        Object::new(value, self.name_of(name), self.errors)
    }

    /// Reads each object of a list of at most so many. A list may be written as an object whose
    /// names count up, as some forms do.
    pub(crate) fn each<T>(
        &mut self,
        name: &str,
        most: usize,
        mut read: impl FnMut(&mut Object<'a, '_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = self.value(name) else {
            return Vec::new();
        };
        let Some(list) = as_list(value) else {
            self.error(name, "must be a list");
            return Vec::new();
        };
        if list.len() > most {
            self.error(name, format!("can't be more than {most}"));
            return Vec::new();
        }
        let path = self.name_of(name);
        let mut found = Vec::with_capacity(list.len());
        for (i, value) in list.into_iter().enumerate() {
            if let Some(mut object) = Object::new(value, format!("{path}[{i}]"), self.errors) {
                found.extend(read(&mut object));
            }
        }
        found
    }
}

/// What is said of a number that [`text_of_number`] does not take.
pub const NUMBER_TOO_LARGE: &str =
    "must be a text: a number of more than 64 bits is not read exactly";

/// The text that a number stands for.
///
/// # Errors
///
/// [`NUMBER_TOO_LARGE`] for a number that fits into no 64 bits, of which JSON readers keep the
/// first digits only.
pub fn text_of_number(number: &Number) -> Result<String, &'static str> {
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    const BEYOND: f64 = 18_446_744_073_709_551_616.0;
    let is_whole = number.is_i64() || number.is_u64();
    match number.as_f64() {
        Some(value) if !is_whole && (value <= LEAST || value >= BEYOND) => Err(NUMBER_TOO_LARGE),
        _ => Ok(number.to_string()),
    }
}

/// Whether a text is an address on the web.
///
/// # Errors
///
/// What is wrong with it, for its author.
pub fn check_url(text: &str) -> Result<(), &'static str> {
    let wrong = "must be an address that begins with http:// or https://";
    // The parser forgives a slash too few or too many there.
    let rest = ["http://", "https://"].iter().find_map(|start| {
        text.get(..start.len())
            .filter(|own| own.eq_ignore_ascii_case(start))
            .map(|_| &text[start.len()..])
    });
    if rest.is_none_or(|rest| rest.starts_with(['/', '\\'])) {
        return Err(wrong);
    }
    let url = url::Url::parse(text).map_err(|_| wrong)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not have a user name or password");
    }
    if text.len() > MAX_URL {
        return Err("is too long (maximum is 2000 characters)");
    }
    let graphic = text.chars().all(|c| !c.is_whitespace() && !is_unseen(c));
    if graphic { Ok(()) } else { Err(wrong) }
}

/// Whether a character is not seen itself but changes how others are: control characters, and those
/// that turn the direction of writing.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn as_list(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(list) => Some(list.iter().collect()),
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::Object(map) => {
            let numbered = map
                .iter()
                .map(|(name, value)| Some((name.parse::<u32>().ok()?, value)));
            let mut numbered: Vec<_> = numbered.collect::<Option<_>>()?;
            numbered.sort_by_key(|(number, _)| *number);
            Some(numbered.into_iter().map(|(_, value)| value).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_more_than_64_bits_is_no_text() {
        let text = |json: &str| text_of_number(&serde_json::from_str(json).unwrap());
        for good in [
            "0",
            "-9223372036854775808",
            "18446744073709551615",
            "1.5",
            "-0.25",
        ] {
            assert_eq!(text(good).as_deref(), Ok(good));
        }
        for bad in [
            "18446744073709551616",
            "-9223372036854775809",
            "1e30",
            "-1e300",
            &"9".repeat(200),
        ] {
            assert_eq!(text(bad), Err(NUMBER_TOO_LARGE), "{bad}");
        }
    }

    #[test]
    fn an_address_on_the_web_is_one_however_its_scheme_is_written() {
        for good in [
            "http://x",
            "https://tracker.example/1",
            "HTTPS://tracker.example/1",
            "hTTp://[::1]:80/?a#b",
        ] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        let no_page = Err("must be an address that begins with http:// or https://");
        let picture = format!("data:image/png;base64,{}", "A".repeat(5000));
        for bad in [
            "",
            "tracker.example",
            "//x",
            "http:/x",
            "http:///x",
            "ftp://x",
            "JavaScript:alert(1)",
        ]
        .into_iter()
        .chain([
            "data:text/html,x",
            "DATA:text/html,x",
            "data://x/y",
            " http://x",
            &picture,
        ]) {
            assert_eq!(check_url(bad), no_page, "{bad:.50}");
        }
    }
}
