//! Items: what a thread mirrors from an outside service, such as a ticket or a pull request
//! (specification, section 2, Thread).
//!
//! An item is kept and sent in one form, so its shape for JSON stands here.

use serde::{Deserialize, Serialize};

/// The most characters of a title.
pub const MAX_TITLE_CHARS: usize = 1000;
/// The most bytes of a body.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
/// The most fields of an item.
pub const MAX_FIELDS: usize = 50;
/// The most actions of an item.
pub const MAX_ACTIONS: usize = 20;
/// The most characters of a short text: a label, a status, the name of an action.
pub const MAX_SHORT_CHARS: usize = 200;
/// The most characters of a field's value and of an action's description.
pub const MAX_VALUE_CHARS: usize = 1000;
/// The most bytes of the state of an item, which goes out with each message of its thread: enough
/// for one that is at every limit, and not for one that grew by escaping.
pub const MAX_ITEM_BYTES: usize = 256 * 1024;
/// The most characters of the id that an integration gives a thread.
pub const MAX_EXTERNAL_ID_CHARS: usize = 500;

/// The state of an outside item, as the last message about it left it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is called; HTML of links only.
    pub title: String,
    /// What it says; HTML.
    pub body: String,
    /// Where it is to be found.
    pub external_url: Option<String>,
    /// How it is.
    pub status: Option<Status>,
    /// What can be done with it.
    pub actions: Vec<Action>,
    /// Further facts.
    pub fields: Vec<Field>,
}

impl Item {
    /// Returns `true` if an item that is taken over as a whole is not larger than one that an
    /// integration may push.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        self.fields.len() <= MAX_FIELDS
            && self.actions.len() <= MAX_ACTIONS
            && self.weight() <= MAX_ITEM_BYTES
    }

    /// About how many bytes it takes, in memory and on the wire.
    #[must_use]
    pub fn weight(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let fields: usize = self
            .fields
            .iter()
            .map(|field| 40 + field.label.len() + field.value.len())
            .sum();
        let actions: usize = self.actions.iter().map(Action::weight).sum();
        let status = self
            .status
            .as_ref()
            .map_or(0, |status| 40 + status.value.len());
        self.title.len()
            + self.body.len()
            + optional(&self.external_url)
            + status
            + fields
            + actions
    }
}

/// How an item is: a free text and a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The text.
    pub value: String,
    /// The colour, if it has one.
    pub color: Option<Color>,
}

/// The colour of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Color {
    Red,
    Green,
    Yellow,
    Cyan,
    Orange,
    Grey,
    Black,
    Lime,
    Purple,
    Blue,
}

impl Color {
    /// Every colour with its name.
    pub const EACH: [(&'static str, Self); 10] = [
        ("red", Self::Red),
        ("green", Self::Green),
        ("yellow", Self::Yellow),
        ("cyan", Self::Cyan),
        ("orange", Self::Orange),
        ("grey", Self::Grey),
        ("black", Self::Black),
        ("lime", Self::Lime),
        ("purple", Self::Purple),
        ("blue", Self::Blue),
    ];

    /// Names of CSS for which tools have no other: the colour that is nearest.
    pub const CSS: [(&'static str, Self); 10] = [
        ("gray", Self::Grey),
        ("silver", Self::Grey),
        ("white", Self::Grey),
        ("maroon", Self::Red),
        ("olive", Self::Yellow),
        ("teal", Self::Cyan),
        ("aqua", Self::Cyan),
        ("navy", Self::Blue),
        ("fuchsia", Self::Purple),
        ("magenta", Self::Purple),
    ];

    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::EACH[self as usize].0
    }
}

/// A fact about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// What it is about.
    pub label: String,
    /// The fact; HTML of links only.
    pub value: String,
}

/// Something to be done with an item, in the words of schema.org.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "@type")]
pub enum Action {
    /// A link.
    #[serde(rename = "ViewAction")]
    View {
        /// Where it leads.
        url: String,
        /// What it is called.
        name: String,
        /// What it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The address of a picture.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image: Option<String>,
    },
    /// A request that the server sends when somebody wants it.
    #[serde(rename = "UpdateAction")]
    Update {
        /// What it is called.
        name: String,
        /// What it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Where the request goes.
        target: EntryPoint,
    },
}

impl Action {
    fn weight(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        100 + match self {
            Self::View {
                url,
                name,
                description,
                image,
            } => url.len() + name.len() + optional(description) + optional(image),
            Self::Update {
                name,
                description,
                target: EntryPoint::EntryPoint { url, .. },
            } => url.len() + name.len() + optional(description),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::View { name, .. } | Self::Update { name, .. } => name,
        }
    }
}

/// Where the request of an action goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "@type")]
pub enum EntryPoint {
    /// An address on the web.
    EntryPoint {
        /// The address.
        #[serde(rename = "urlTemplate")]
        url: String,
        /// The method of the request.
        #[serde(rename = "httpMethod")]
        method: ActionMethod,
    },
}

/// The method of an action's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum ActionMethod {
    Get,
    #[default]
    Post,
    Put,
    Patch,
    Delete,
}

impl ActionMethod {
    /// Every method with its name.
    pub const EACH: [(&'static str, Self); 5] = [
        ("GET", Self::Get),
        ("POST", Self::Post),
        ("PUT", Self::Put),
        ("PATCH", Self::Patch),
        ("DELETE", Self::Delete),
    ];

    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::EACH[self as usize].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_colours_stand_in_the_order_of_their_names() {
        for (name, method) in ActionMethod::EACH {
            assert_eq!(method.as_str(), name);
        }
        for (at, (_, color)) in Color::EACH.into_iter().enumerate() {
            assert_eq!(color as usize, at);
            assert_eq!(color.as_str(), Color::EACH[at].0);
        }
    }
}
