//! The segments of a path that an endpoint names.

use percent_encoding::percent_decode_str;

/// The segments of a path that an endpoint names.
pub(crate) struct PathParams(Vec<(String, String)>);

impl PathParams {
    /// Takes the escapes out. `None` for what is not UTF-8 then, and for a NUL: no name has one,
    /// and PostgreSQL takes no text with one.
    pub(crate) fn decode(params: &matchit::Params<'_, '_>) -> Option<Self> {
        let decode = |(name, value): (&str, &str)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            (!value.contains('\0')).then(|| (name.to_owned(), value.into_owned()))
        };
        params.iter().map(decode).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }
}
