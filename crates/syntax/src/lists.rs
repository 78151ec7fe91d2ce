//! Lists.

/// The most digits of the number of an item.
const MAX_DIGITS: usize = 3;
/// The deepest indent of an item within the list that it belongs to, in spaces.
const MAX_INDENT: usize = 3;

/// What an item begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker<'t> {
    /// The number of an ordered item.
    number: Option<u32>,
    /// The sign that all items of a list share.
    sign: char,
    /// The columns from the beginning of the line to the text.
    width: usize,
    text: &'t str,
}

impl<'t> Marker<'t> {
    pub(crate) fn of(line: &'t str) -> Option<Self> {
        let unindented = line.trim_start_matches(' ');
        if line.len() - unindented.len() > MAX_INDENT {
            return None;
        }
        let digits = unindented.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &unindented[..unindented.len() - digits.len()];
        let sign = digits.chars().next()?;
        let is_marker = match number.len() {
            // A plus sign begins a line of a diff, or agrees.
            0 => matches!(sign, '-' | '*' | '•'),
            1..=MAX_DIGITS => matches!(sign, '.' | ')'),
            _ => false,
        };
        let rest = digits[sign.len_utf8()..].strip_prefix(' ')?;
        let text = rest.trim_start_matches(' ');
        // Many spaces are the indent of code behind the marker, of which a chat has none.
        let width = line.len() - rest.len();
        let is_item = is_marker && !text.trim().is_empty();
        is_item.then(|| Self {
            number: number.parse().ok(),
            sign,
            width,
            text,
        })
    }

    fn begins_same_list(&self, other: &Self) -> bool {
        (self.number.is_some(), self.sign) == (other.number.is_some(), other.sign)
    }
}

/// The text of an item of a list.
pub(crate) struct ItemText<'t> {
    pub(crate) number: Option<u32>,
    /// Whether a task is done.
    pub(crate) task: Option<bool>,
    /// Its lines, without its marker and its indent.
    pub(crate) lines: Vec<&'t str>,
}

/// The items of the list that begins in the first of these lines, with this marker, and how many
/// lines it takes.
pub(crate) fn items<'t>(lines: &[&'t str], marker: &Marker<'t>) -> (Vec<ItemText<'t>>, usize) {
    let indent = lines[0].len() - lines[0].trim_start_matches(' ').len();
    let mut items = Vec::new();
    let mut taken = 0;
    let mut next = Some(*marker);
    while let Some(item) = next {
        let end = taken + 1 + continuation(&lines[taken + 1..], indent);
        items.push(item_text(&item, &lines[taken + 1..end]));
        taken = end;
        let line = lines.get(taken).copied();
        // One empty line between the items of a list is part of it.
        let is_blank = line.is_some_and(|line| line.trim().is_empty());
        let after = if is_blank {
            lines.get(taken + 1).copied()
        } else {
            line
        };
        next = after
            .and_then(Marker::of)
            .filter(|next| marker.begins_same_list(next));
        taken += usize::from(is_blank && next.is_some());
    }
    (items, taken)
}

/// How many of these lines belong to the item before them: those that are indented by more than it,
/// and empty ones between them.
fn continuation(lines: &[&str], indent: usize) -> usize {
    let mut taken = 0;
    for (index, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let is_inside =
            line.starts_with('\t') || line.len() - line.trim_start_matches(' ').len() >= indent + 2;
        if !is_inside {
            break;
        }
        taken = index + 1;
    }
    taken
}

fn item_text<'t>(marker: &Marker<'t>, following: &[&'t str]) -> ItemText<'t> {
    let (task, text) = task(marker.text);
    // Lines of the item are indented as its text, or by less where that is all that there is.
    let indents = following.iter().filter(|line| !line.trim().is_empty());
    let indents = indents.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let indent = indents.min().unwrap_or_default().min(marker.width);
    let without_indent = |line: &&'t str| {
        let spaces = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[indent.min(spaces)..]
    };
    let mut lines = vec![text];
    lines.extend(following.iter().map(without_indent));
    ItemText {
        number: marker.number,
        task,
        lines,
    }
}

/// The state of a task and its text.
fn task(text: &str) -> (Option<bool>, &str) {
    for (sign, is_done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(text) = text.strip_prefix(sign) {
            return (Some(is_done), text);
        }
    }
    (None, text)
}
