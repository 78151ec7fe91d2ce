//! What an endpoint takes, declared once.
//!
//! [`request!`](crate::request!) makes a type of a list of parameters, each with its name, its kind
//! and what it says. The server reads the type from what was sent ([`Request::read`]) and describes
//! it ([`Parameters::fields`]); the client sends it ([`Request::to_json`]). A bound stands in the
//! kind, so a change of it is seen in all three.

mod kinds;
mod lists;
mod objects;

use std::marker::PhantomData;

use serde_json::{Map, Value};

pub use self::kinds::{
    Choice, Id, Parsed, Secret, SecretText, Text, Truth, Whole, boolean, choice, id, parsed,
    secret, text, unchecked_text, whole,
};
pub use self::lists::{Ids, Texts, Words, ids, texts, words};
pub use self::objects::{
    Address, AuthorObject, Files, ItemObject, Registration, RegistrationObject, Time, address,
    author_object, files, item_object, registration, time,
};
use crate::params::{Invalid, ParamReader, Params};

/// How one parameter is read, written and described.
pub trait Kind {
    /// What it is read as.
    type Value;

    /// Reads it, and notes what is wrong with it. `None` where it is absent or wrong.
    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Self::Value>;

    /// Writes it as JSON that [`Kind::read`] reads.
    fn write(&self, value: &Self::Value) -> Value;

    /// Its JSON schema.
    fn schema(&self) -> Value;

    /// What it is where it is absent.
    fn default(&self) -> Option<Self::Value> {
        None
    }

    /// Whether an `Option` field is required nevertheless. The request is then still parsed when it
    /// is missing, so that all mistakes are reported at once.
    fn is_required(&self) -> bool {
        false
    }

    /// What is said where it is absent and required.
    fn missing(&self) -> &'static str {
        "is required"
    }
}

/// A parameter as a document describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its name.
    pub name: &'static str,
    /// Whether its absence is a mistake.
    pub required: bool,
    /// What it says.
    pub text: String,
    /// The JSON schema of its value.
    pub schema: Value,
}

impl ParameterSpec {
    /// Describes a parameter that is read as a `T`.
    pub fn of<T: FieldType<K::Value>, K: Kind>(name: &'static str, text: &str, kind: &K) -> Self {
        let mut schema = kind.schema();
        if let Some(default) = kind.default() {
            schema["default"] = kind.write(&default);
        }
        let text = text.trim().trim_end_matches('.').to_owned();
        Self {
            name,
            required: T::is_required(kind),
            text,
            schema,
        }
    }
}

/// Whether a field has room for an absent parameter: an `Option` has.
pub trait FieldType<V>: Sized {
    /// Whether the absence of such a parameter is a mistake.
    fn is_required<K: Kind<Value = V>>(kind: &K) -> bool;

    /// Reads the field. `None` where it cannot be filled, which has been noted then.
    fn read<K: Kind<Value = V>>(kind: &K, reader: &mut ParamReader<'_>, name: &str)
    -> Option<Self>;

    /// The value, if there is one.
    fn value(&self) -> Option<&V>;
}

impl<V> FieldType<V> for V {
    fn is_required<K: Kind<Value = V>>(kind: &K) -> bool {
        kind.default().is_none()
    }

    fn read<K: Kind<Value = V>>(
        kind: &K,
        reader: &mut ParamReader<'_>,
        name: &str,
    ) -> Option<Self> {
        let value = kind.read(reader, name).or_else(|| kind.default());
        if value.is_none() && !reader.has(name) && !reader.is_wrong(name) {
            reader.error(name, kind.missing());
        }
        value
    }

    fn value(&self) -> Option<&V> {
        Some(self)
    }
}

impl<V> FieldType<V> for Option<V> {
    fn is_required<K: Kind<Value = V>>(kind: &K) -> bool {
        kind.is_required()
    }

    fn read<K: Kind<Value = V>>(
        kind: &K,
        reader: &mut ParamReader<'_>,
        name: &str,
    ) -> Option<Self> {
        if kind.is_required() {
            reader.require(name);
        }
        Some(kind.read(reader, name))
    }

    fn value(&self) -> Option<&V> {
        self.as_ref()
    }
}

/// The parameters of an endpoint, as a document describes them.
pub trait Parameters {
    /// Each of them.
    fn fields() -> Vec<ParameterSpec>;
}

/// The parameters of an endpoint as a value.
pub trait Request: Parameters + Sized {
    /// Reads every parameter and notes all mistakes. `None` where one that is required is missing
    /// or wrong. What was read means nothing until [`ParamReader::finish`] has found no mistake.
    fn read(reader: &mut ParamReader<'_>) -> Option<Self>;

    /// Reads the parameters as they would be sent, so that a client need not send what is refused.
    /// The use case may refuse more.
    ///
    /// # Errors
    ///
    /// What [`Request::read`] finds wrong.
    fn check(&self) -> Result<(), Invalid> {
        let params: Params = self.to_json().into_iter().collect();
        let mut reader = params.reader();
        Self::read(&mut reader);
        reader.finish()
    }

    /// What a client sends.
    fn to_json(&self) -> Map<String, Value>;

    /// What a client sends in a query.
    fn to_query(&self) -> Vec<(String, String)> {
        self.to_json()
            .into_iter()
            .map(|(name, value)| (name, query_text(value)))
            .collect()
    }
}

fn query_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(list) => list
            .into_iter()
            .map(query_text)
            .collect::<Vec<_>>()
            .join(","),
        other => other.to_string(),
    }
}

impl Parameters for () {
    fn fields() -> Vec<ParameterSpec> {
        Vec::new()
    }
}

macro_rules! all_of {
    ($($part:ident),+) => {
        impl<$($part: Parameters),+> Parameters for ($($part,)+) {
            fn fields() -> Vec<ParameterSpec> {
                [$($part::fields()),+].concat()
            }
        }

        impl<$($part: Request),+> Request for ($($part,)+) {
            fn read(reader: &mut ParamReader<'_>) -> Option<Self> {
                let read = ($($part::read(reader),)+);
                #[expect(non_snake_case, reason = "each part is named as its type")]
                let ($($part,)+) = read;
                Some(($($part?,)+))
            }

            fn to_json(&self) -> Json {
                #[expect(non_snake_case, reason = "each part is named as its type")]
                let ($($part,)+) = self;
                [$($part.to_json()),+].into_iter().flatten().collect()
            }
        }
    };
}

all_of!(A, B);
all_of!(A, B, C);
all_of!(A, B, C, D);
all_of!(A, B, C, D, E);

/// Either the one or the other, as other parameters say.
#[derive(Debug)]
pub struct OneOf<A, B>(PhantomData<(A, B)>);

impl<A: Parameters, B: Parameters> Parameters for OneOf<A, B> {
    fn fields() -> Vec<ParameterSpec> {
        let fields = <(A, B)>::fields();
        fields
            .into_iter()
            .map(|field| ParameterSpec {
                required: false,
                ..field
            })
            .collect()
    }
}

/// Declares what an endpoint takes: for each parameter what it says, its name, its type and its
/// kind. An `Option` may be left out. `as` gives a parameter another name than its field.
///
/// ```
/// use eddyline_wire::{Parameters, Request, params::Params, request, request::text};
///
/// request! {
///     /// A new note.
///     #[derive(Debug)]
///     pub struct NewNote {
///         /// What it says.
///         words: String = text(1..=5),
///     }
/// }
///
/// let params = Params::from_iter([("words".to_owned(), "too long".into())]);
/// let mut reader = params.reader();
/// NewNote::read(&mut reader);
/// let refused = reader.finish().unwrap_err();
/// assert_eq!(refused.errors["words"], ["is too long (maximum is 5 characters)"]);
/// assert_eq!(NewNote::fields()[0].schema["maxLength"], 5);
/// ```
#[macro_export]
macro_rules! request {
    (@name $field:ident) => {
        stringify!($field)
    };
    (@name $field:ident $name:literal) => {
        $name
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $text:literal])+ $field:ident $(as $wire:literal)?: $type:ty = $kind:expr,)+
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[doc = $text])+ pub $field: $type,)+
        }

        impl $crate::Parameters for $name {
            fn fields() -> Vec<$crate::request::ParameterSpec> {
                vec![$($crate::request::ParameterSpec::of::<$type, _>(
                    $crate::request!(@name $field $($wire)?),
                    concat!($($text),+),
                    &$kind,
                ),)+]
            }
        }

        impl $crate::Request for $name {
            fn read(reader: &mut $crate::params::ParamReader<'_>) -> Option<Self> {
                // Every parameter is read before one of them can end this, and before a name of one
                // hides its kind.
                let read = ($(<$type as $crate::request::FieldType<_>>::read(
                    &$kind,
                    reader,
                    $crate::request!(@name $field $($wire)?),
                ),)+);
                let ($($field,)+) = read;
                Some(Self { $($field: $field?,)+ })
            }

            fn to_json(&self) -> $crate::request::Json {
                let mut json = $crate::request::Json::new();
                $(if let Some(value) = $crate::request::written(&self.$field, &$kind) {
                    json.insert($crate::request!(@name $field $($wire)?).to_owned(), value);
                })+
                json
            }
        }
    };
}

/// A JSON object.
pub type Json = Map<String, Value>;

/// What [`request!`] needs.
#[doc(hidden)]
pub fn written<T: FieldType<K::Value>, K: Kind>(field: &T, kind: &K) -> Option<Value> {
    field.value().map(|value| kind.write(value))
}

#[cfg(test)]
mod tests;
