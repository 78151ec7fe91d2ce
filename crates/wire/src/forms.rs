//! Form bodies and query strings with nested names, the way Rack reads them.
//!
//! The original clients of this API were written against a Ruby server, so they write structured
//! parameters as `thread[status][color]=red`, `tags[]=a&tags[]=b` and
//! `fields[][label]=x&fields[][value]=y`. The outcome is the JSON object that the same client would
//! have sent as `application/json`, save that every value is a string.
//!
//! [`parse`] reads a whole text; a [`Form`] takes fields one by one, as `multipart/form-data`
//! brings them, under the same rules and bounds.

use std::borrow::Cow;

use percent_encoding::percent_decode;
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// The deepest nesting of a name, counted like the nesting of the JSON object it makes.
pub const MAX_DEPTH: usize = 32;
/// The most pairs of a text that [`pairs`] reads.
pub const MAX_PAIRS: usize = 100;
/// The most characters of a name that an error shows.
const MAX_SHOWN: usize = 100;

/// How many values the parameters of a request may have, in a query, a form or JSON. Lists and
/// objects have a lower bound: each takes some hundred bytes of memory, however short its text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most values, the lists and objects among them.
    pub values: usize,
    /// The most lists and objects.
    pub containers: usize,
}

impl Bounds {
    /// For callers without valid credentials.
    pub const STRANGER: Self = Self {
        values: 100,
        containers: 20,
    };
    /// For requests that only read: many of one caller may wait at the same time.
    pub const READ: Self = Self {
        values: 500,
        containers: 50,
    };
    /// For requests that change something.
    pub const CHANGE: Self = Self {
        values: 10_000,
        containers: 2_000,
    };

    /// What is left when so much is added.
    fn without(self, values: usize, containers: usize) -> Result<Self, Refused> {
        let values = self.values.checked_sub(values).ok_or(Refused::Room)?;
        let containers = self.containers.checked_sub(containers);
        Ok(Self {
            values,
            containers: containers.ok_or(Refused::Room)?,
        })
    }
}

/// A form or query that cannot be read, and the name of the field where it went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct FormError {
    /// The beginning of the field's name as it was sent, decoded as far as it can be.
    pub field: String,
    /// What is wrong with it.
    pub problem: FormProblem,
}

/// What is wrong with a field of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormProblem {
    /// A `%` is not followed by two hexadecimal digits.
    #[error("has an invalid percent-encoding")]
    Escape,
    /// The decoded bytes are not UTF-8.
    #[error("is not valid UTF-8")]
    Utf8,
    /// One name is used as an object and as a text or a list.
    #[error("is given in forms that exclude each other")]
    Clash,
    /// The name is nested more than [`MAX_DEPTH`] deep.
    #[error("is nested too deeply")]
    Depth,
    /// It makes more values than [`Bounds`] has.
    #[error("is too much: at most {} values are taken, {} lists and objects among them", .0.values, .0.containers)]
    Count(Bounds),
}

/// Reads an `application/x-www-form-urlencoded` text into the object that its names describe; see
/// [`Form`] for the names.
///
/// A name without `=` has the empty text.
///
/// # Errors
///
/// [`FormError`] for the first pair that cannot be decoded or added.
pub fn parse(text: &[u8], bounds: Bounds) -> Result<Map<String, Value>, FormError> {
    read(text, bounds, None)
}

/// Reads of such a text only the parameters with these names, and what is nested in them. The
/// others are neither kept nor checked.
///
/// ```
/// let found = eddyline_wire::forms::parse_only(b"a[b][c]=1&token=x&d=%", &["token"])?;
/// assert_eq!(serde_json::Value::Object(found), serde_json::json!({"token": "x"}));
/// # Ok::<(), eddyline_wire::forms::FormError>(())
/// ```
///
/// # Errors
///
/// Those of [`parse`] within [`Bounds::STRANGER`].
pub fn parse_only(text: &[u8], names: &[&str]) -> Result<Map<String, Value>, FormError> {
    read(text, Bounds::STRANGER, Some(names))
}

fn read(
    text: &[u8],
    bounds: Bounds,
    only: Option<&[&str]>,
) -> Result<Map<String, Value>, FormError> {
    let mut form = Form::new(bounds);
    for pair in text
        .split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
            Some(equals) => (&pair[..equals], &pair[equals + 1..]),
            None => (pair, &b""[..]),
        };
        let error = |problem| FormError {
            field: readable(name),
            problem,
        };
        let decoded = match (decode(name), only) {
            (Ok(decoded), Some(names)) if !names.contains(&first_part(&decoded)) => continue,
            (Err(_), Some(_)) => continue,
            (decoded, _) => decoded.map_err(error)?,
        };
        form.add(&decoded, decode(value).map_err(error)?)?;
    }
    Ok(form.finish())
}

/// The name of the parameter to which a field with this name belongs.
///
/// ```
/// use eddyline_wire::forms::first_part;
/// assert_eq!((first_part("thread[title]"), first_part("tags[]"), first_part("a[b")), ("thread", "tags", "a[b"));
/// ```
#[must_use]
pub fn first_part(name: &str) -> &str {
    path_of(name).map_or("", |(first, _)| first)
}

/// The names and values of an `application/x-www-form-urlencoded` text as they came, for forms
/// without structure: those of browsers, and of OAuth. `None` for more than [`MAX_PAIRS`], for what
/// is not UTF-8, and for a NUL, which no value has and PostgreSQL does not take.
///
/// Unlike [`parse`] it takes a `%` without digits as it stands, since clients send passwords and
/// states that nobody encoded.
///
/// ```
/// let pairs = eddyline_wire::forms::pairs(b"state=100%&name=Ada+L%C3%B8v&name=");
/// let expected = [("state", "100%"), ("name", "Ada L\u{f8}v"), ("name", "")];
/// assert_eq!(pairs, Some(expected.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()));
/// ```
#[must_use]
pub fn pairs(text: &[u8]) -> Option<Vec<(String, String)>> {
    let decode = |text: &str| {
        let spaced = text.replace('+', " ");
        let decoded = percent_decode(spaced.as_bytes()).decode_utf8().ok()?;
        (!decoded.contains('\0')).then(|| decoded.into_owned())
    };
    let text = std::str::from_utf8(text).ok()?;
    let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name)?, decode(value)?))
    });
    let pairs: Vec<_> = pairs.take(MAX_PAIRS + 1).collect::<Option<_>>()?;
    (pairs.len() <= MAX_PAIRS).then_some(pairs)
}

/// The object that a form's fields make, one field after the other.
///
/// - `a=1`, `a=2` is a list, as is `a[]=1`, `a[]=2`; `a[b]=1` is an object. A repeated value with
///   commas is several elements, as it is where it stands alone for a list.
/// - `a[][b]=1`, `a[][c]=2` is a list of one object; a name that the last object of the list
///   already has starts the next object.
/// - A name whose brackets do not match (`a[b`, `a[b]c`) is a plain name as a whole, brackets at
///   the very beginning are part of the name, and a field without a name is passed over.
///
/// ```
/// use eddyline_wire::forms::{Bounds, Form};
///
/// let mut form = Form::new(Bounds::CHANGE);
/// form.add("thread[status][color]", "red".to_owned())?;
/// form.add("tags[]", "urgent".to_owned())?;
/// let object = serde_json::Value::Object(form.finish());
/// assert_eq!(object, serde_json::json!({"thread": {"status": {"color": "red"}}, "tags": ["urgent"]}));
/// # Ok::<(), eddyline_wire::forms::FormError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Form {
    root: Map<String, Value>,
    bounds: Bounds,
    /// What may still be added.
    room: Bounds,
}

impl Form {
    /// A form without fields, which may hold so much.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            root: Map::new(),
            bounds,
            room: bounds,
        }
    }

    /// Adds a field. Name and value are as they are meant: nothing is decoded.
    ///
    /// # Errors
    ///
    /// [`FormProblem::Clash`], [`FormProblem::Depth`] or [`FormProblem::Count`], after which the
    /// form is as it was.
    pub fn add(&mut self, name: &str, value: String) -> Result<(), FormError> {
        let error = |problem| FormError {
            field: name.chars().take(MAX_SHOWN).collect(),
            problem,
        };
        let Some((first, steps)) = path_of(name) else {
            return Ok(());
        };
        if steps.len() >= MAX_DEPTH {
            return Err(error(FormProblem::Depth));
        }
        let Self { root, bounds, room } = self;
        store(root, first, &steps, value, room).map_err(|refused| {
            error(match refused {
                Refused::Clash => FormProblem::Clash,
                Refused::Room => FormProblem::Count(*bounds),
            })
        })
    }

    /// The object that the fields have made.
    #[must_use]
    pub fn finish(self) -> Map<String, Value> {
        self.root
    }
}

/// A name for an error: decoded as far as it goes, and no more of it than somebody would read.
fn readable(name: &[u8]) -> String {
    let bytes: Vec<u8> = percent_decode(&plus_as_space(name)).collect();
    String::from_utf8_lossy(&bytes)
        .chars()
        .take(MAX_SHOWN)
        .collect()
}

fn plus_as_space(text: &[u8]) -> Cow<'_, [u8]> {
    if text.contains(&b'+') {
        Cow::Owned(
            text.iter()
                .map(|byte| if *byte == b'+' { b' ' } else { *byte })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

fn decode(text: &[u8]) -> Result<String, FormProblem> {
    let hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'%' && !(hex(text.get(at + 1)) && hex(text.get(at + 2))) {
            return Err(FormProblem::Escape);
        }
    }
    let text = plus_as_space(text);
    percent_decode(&text)
        .decode_utf8()
        .map(Cow::into_owned)
        .map_err(|_| FormProblem::Utf8)
}

/// One step into a nested name, after its first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'a> {
    /// `[]`: an element of a list.
    Element,
    /// `[key]`: a member of an object.
    Member(&'a str),
}

/// The first part of a name and the steps that follow; `None` for the empty name.
fn path_of(name: &str) -> Option<(&str, Vec<Step<'_>>)> {
    if name.is_empty() {
        return None;
    }
    let plain = Some((name, Vec::new()));
    let Some(open) = name.bytes().skip(1).position(|byte| byte == b'[') else {
        return plain;
    };
    let (first, mut rest) = name.split_at(open + 1);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let Some((key, after)) = rest
            .strip_prefix('[')
            .and_then(|inner| inner.split_once(']'))
        else {
            return plain;
        };
        steps.push(if key.is_empty() {
            Step::Element
        } else {
            Step::Member(key)
        });
        rest = after;
    }
    Some((first, steps))
}

/// Why a value cannot be put where its name says.
enum Refused {
    Clash,
    Room,
}

/// Puts a value into an object under a key and further steps. The recursion is as deep as the name.
fn store(
    object: &mut Map<String, Value>,
    key: &str,
    steps: &[Step<'_>],
    value: String,
    room: &mut Bounds,
) -> Result<(), Refused> {
    match (object.entry(key), steps) {
        (Entry::Vacant(entry), _) => {
            entry.insert(fresh(steps, value, room)?);
            Ok(())
        }
        (Entry::Occupied(entry), []) => {
            let list = as_list(entry.into_mut(), room)?;
            *room = room.without(parts(&value).count(), 0)?;
            list.extend(parts(&value));
            Ok(())
        }
        (Entry::Occupied(entry), [Step::Member(key), rest @ ..]) => match entry.into_mut() {
            Value::Object(inner) => store(inner, key, rest, value, room),
            _ => Err(Refused::Clash),
        },
        (Entry::Occupied(entry), [Step::Element, rest @ ..]) => match entry.into_mut() {
            Value::Array(list) => append(list, rest, value, room),
            text if rest.is_empty() => append(as_list(text, room)?, rest, value, room),
            _ => Err(Refused::Clash),
        },
    }
}

/// The list that a parameter is whose name is repeated. Its first value may be a list already, as
/// one text.
fn as_list<'v>(place: &'v mut Value, room: &mut Bounds) -> Result<&'v mut Vec<Value>, Refused> {
    if let Value::String(text) = place {
        *room = room.without(parts(text).count(), 1)?;
        *place = Value::Array(parts(text).collect());
    }
    place.as_array_mut().ok_or(Refused::Clash)
}

/// The elements of a list that is one text, with commas between them.
fn parts(text: &str) -> impl Iterator<Item = Value> {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).map(Value::from)
}

/// Adds to the last object of a list when that lacks the name, else adds an element.
fn append(
    list: &mut Vec<Value>,
    steps: &[Step<'_>],
    value: String,
    room: &mut Bounds,
) -> Result<(), Refused> {
    if let ([Step::Member(key), rest @ ..], Some(Value::Object(last))) = (steps, list.last_mut())
        && !has(last, steps)
    {
        return store(last, key, rest, value, room);
    }
    list.push(fresh(steps, value, room)?);
    Ok(())
}

/// Whether the name is taken in this object. A name with a list in it can always take one more.
fn has(object: &Map<String, Value>, steps: &[Step<'_>]) -> bool {
    let mut place = Some(object);
    let mut taken = false;
    for step in steps {
        let Step::Member(key) = step else {
            return false;
        };
        let found = place.and_then(|object| object.get(*key));
        taken = found.is_some();
        place = found.and_then(Value::as_object);
    }
    taken
}

/// The value that a name makes where there is nothing yet, if there is room for it.
fn fresh(steps: &[Step<'_>], value: String, room: &mut Bounds) -> Result<Value, Refused> {
    *room = room.without(steps.len() + 1, steps.len())?;
    Ok(steps
        .iter()
        .rev()
        .fold(Value::String(value), |inner, step| match step {
            Step::Element => Value::Array(vec![inner]),
            Step::Member(key) => Value::Object(Map::from_iter([((*key).to_owned(), inner)])),
        }))
}

#[cfg(test)]
mod tests;
