//! The tags of a message: those it was given and those its text makes.

use std::collections::HashSet;

use super::Mentions;
use crate::UserId;

use super::nicks::{Addressee, addressee, longest};
use super::scan::{Piece, Scanner};
use super::{
    FILE, HIGHLIGHT, INFLUX, MAX_TAGS, Roster, UNREAD, URL, USER, USER_EVERYONE, group_tag,
    highlight_tag, lower, parse_unread, parse_user, resolve, unread_tag, user_tag,
};

/// What there is to know about a message besides its text and its tags.
#[derive(Debug)]
pub struct Context<'a, R> {
    /// Who can be mentioned.
    pub roster: &'a R,
    /// Who posts or edits, and is therefore not told of it; `None` when anonymous.
    pub sender: Option<UserId>,
    /// Whether the message has files.
    pub has_attachments: bool,
}

/// The tags of a message and what follows from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// All tags in their order: those given, those of the text, those of everybody mentioned
    /// together. Each is there once.
    pub tags: Vec<String>,
    /// Those of `tags` that were given, mentions by user id, without what the server makes of
    /// them. They stay when the text is edited.
    pub explicit: Vec<String>,
    /// Who is told. By name are those with an `:unread:` tag of their own, which the sender never
    /// gets; the members of groups among them.
    pub mentions: Mentions,
}

/// The tags of a new message.
///
/// `explicit` are the tags it was given, in any form. Among them and in `content`, a mention of a
/// user on the roster becomes `:user:<id>` and `:unread:<id>`, one of a group its tag and
/// `:unread:<id>` for those of its other members who are on the roster, one of everyone becomes
/// `:user:everyone` and `:unread:<id>` for all others; any other mention is dropped. From `content`
/// come also hashtags (at most [`MAX_TAGS`]), `:highlight:<id>` and `:url`.
#[must_use]
pub fn extract<R: Roster>(
    explicit: &[String],
    content: &str,
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::New);
    builder.add_explicit(explicit);
    builder.add_content(content);
    builder.finish()
}

/// The tags of a message after its text was changed to `content`: the explicit ones stay, those
/// of the old text give way to those of the new.
///
/// `previous` are all its tags before, `explicit` those of them that were given
/// ([`Extracted::explicit`]). Who was mentioned before and has read it is not told again.
#[must_use]
pub fn reparse<R: Roster>(
    previous: &[String],
    explicit: &[String],
    content: &str,
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::Text(set(previous)));
    builder.add_explicit(explicit);
    builder.add_content(content);
    builder.finish()
}

/// The tags of a message after somebody set them all to `wanted`, whatever its text says.
///
/// `previous` and `explicit` are as for [`reparse`]. Of the tags that only the server makes,
/// those stay that are in `wanted` and were there before. Who is mentioned newly is told.
#[must_use]
pub fn replace<R: Roster>(
    previous: &[String],
    explicit: &[String],
    wanted: &[String],
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::Tags(set(previous)));
    builder.add_explicit(wanted);
    let mut extracted = builder.finish();
    // A tag that the text made has been sent back, not given.
    let (previous, explicit) = (set(previous), set(explicit));
    extracted
        .explicit
        .retain(|tag| explicit.contains(tag.as_str()) || !previous.contains(tag.as_str()));
    extracted
}

/// The complete list for [`replace`]: the `previous` tags without `remove` and with `add`, both in
/// any form. A tag in both is added.
///
/// Removing the mention of a user also removes that user's unread mark.
#[must_use]
pub fn amend<R: Roster>(
    previous: &[String],
    add: &[String],
    remove: &[String],
    roster: &R,
) -> Vec<String> {
    let mut gone: HashSet<String> = HashSet::with_capacity(remove.len());
    for tag in remove.iter().filter_map(|tag| resolve(tag, roster)) {
        gone.extend(parse_user(&tag).map(unread_tag));
        gone.insert(tag);
    }
    let kept = previous.iter().filter(|tag| !gone.contains(*tag));
    kept.chain(add).cloned().collect()
}

fn set(tags: &[String]) -> HashSet<&str> {
    tags.iter().map(String::as_str).collect()
}

/// What the tags were before.
enum Basis<'a> {
    /// There is no before.
    New,
    /// The text is edited.
    Text(HashSet<&'a str>),
    /// The tags are edited.
    Tags(HashSet<&'a str>),
}

impl Basis<'_> {
    fn had(&self, tag: &str) -> bool {
        match self {
            Self::New => false,
            Self::Text(previous) | Self::Tags(previous) => previous.contains(tag),
        }
    }

    /// Whether a mention by `mention` makes `user` unread: because it is new, or, unless the tags
    /// say themselves who is unread, because it was so before.
    fn makes_unread(&self, mention: &str, user: UserId) -> bool {
        !self.had(mention) || (matches!(self, Self::Text(_)) && self.had(&unread_tag(user)))
    }

    /// Whether a tag of the server's making can be given.
    fn allows(&self, tag: &str) -> bool {
        matches!(self, Self::Tags(_)) && self.had(tag)
    }
}

/// A group that is mentioned.
struct NamedGroup<'a> {
    tag: String,
    members: &'a [UserId],
}

struct Builder<'a, R> {
    context: &'a Context<'a, R>,
    basis: Basis<'a>,
    result: Extracted,
    named: HashSet<UserId>,
    groups: Vec<NamedGroup<'a>>,
    unread: HashSet<UserId>,
    highlighted: HashSet<UserId>,
    key: String,
}

impl<'a, R: Roster> Builder<'a, R> {
    fn new(context: &'a Context<'a, R>, basis: Basis<'a>) -> Self {
        Self {
            context,
            basis,
            result: Extracted::default(),
            named: HashSet::new(),
            groups: Vec::new(),
            unread: HashSet::new(),
            highlighted: HashSet::new(),
            key: String::new(),
        }
    }

    fn add_explicit(&mut self, tags: &[String]) {
        // Not a search in the result: tags set as a whole can be as many as the flow has users.
        let mut seen = HashSet::with_capacity(tags.len());
        for tag in tags
            .iter()
            .filter_map(|tag| resolve(tag, self.context.roster))
        {
            if !seen.insert(tag.clone()) {
                continue;
            }
            if let Some(user) = parse_unread(&tag) {
                if self.basis.allows(&tag) {
                    self.make_unread(user);
                }
            } else if tag.starts_with(UNREAD)
                || tag.starts_with(HIGHLIGHT)
                || tag.starts_with(INFLUX)
                || tag == FILE
            {
                if self.basis.allows(&tag) {
                    self.result.tags.push(tag);
                }
            } else if tag == USER_EVERYONE {
                self.mention_everyone();
                self.result.explicit.push(tag);
            } else if let Some(name) = tag.strip_prefix(USER) {
                match name.bytes().all(|byte| byte.is_ascii_digit()) {
                    true => self.add_explicit_user(&tag),
                    false => self.add_explicit_group(name),
                }
            } else {
                self.result.explicit.push(tag.clone());
                self.result.tags.push(tag);
            }
        }
    }

    fn add_explicit_user(&mut self, tag: &str) {
        let Some(user) = parse_user(tag) else { return };
        let tag = user_tag(user);
        // A mention stays when its user is blocked later.
        if self.named.contains(&user)
            || !(self.context.roster.contains(user) || self.basis.had(&tag))
        {
            return;
        }
        self.mention(user);
        self.result.explicit.push(tag);
    }

    fn add_explicit_group(&mut self, key: &str) {
        let members = match self.context.roster.group(key) {
            Some(members) => members,
            // A mention stays when its group is removed later.
            None if self.basis.had(&group_tag(key)) => &[],
            None => return,
        };
        self.mention_group(key, members);
        self.result.explicit.push(group_tag(key));
    }

    /// The unread marks of its members come last, for they may be many.
    fn mention_group(&mut self, key: &str, members: &'a [UserId]) {
        let tag = group_tag(key);
        if self.groups.len() >= MAX_TAGS || self.groups.iter().any(|group| group.tag == tag) {
            return;
        }
        self.result.tags.push(tag.clone());
        self.groups.push(NamedGroup { tag, members });
    }

    fn mention(&mut self, user: UserId) {
        if !self.named.insert(user) {
            return;
        }
        let mention = user_tag(user);
        let told = self.context.sender != Some(user)
            && self.context.roster.contains(user)
            && self.basis.makes_unread(&mention, user);
        self.result.tags.push(mention);
        if told {
            self.make_unread(user);
        }
    }

    fn make_unread(&mut self, user: UserId) {
        if self.unread.insert(user) {
            self.result.tags.push(unread_tag(user));
        }
    }

    fn mention_everyone(&mut self) {
        if !self.result.mentions.everyone {
            self.result.mentions.everyone = true;
            self.result.tags.push(USER_EVERYONE.to_owned());
        }
    }

    fn add_content(&mut self, content: &str) {
        let roster = self.context.roster;
        let mut hashtags = 0;
        let mut url = self.result.tags.iter().any(|tag| tag == URL);
        let mut scanner = Scanner::new(content);
        while let Some(piece) = scanner.next() {
            match piece {
                Piece::Url if url => {}
                Piece::Url => {
                    url = true;
                    self.result.tags.push(URL.to_owned());
                }
                Piece::Hashtag(_) if hashtags == MAX_TAGS => {}
                Piece::Hashtag(tag) => hashtags += usize::from(self.add_hashtag(tag)),
                Piece::Mention(run) => {
                    match longest(run, true, &mut self.key, |key| addressee(key, roster)) {
                        Some((Addressee::Everyone, length)) => {
                            scanner.consume(length);
                            self.mention_everyone();
                        }
                        Some((Addressee::User(user), length)) => {
                            scanner.consume(length);
                            self.mention(user);
                        }
                        Some((Addressee::Group(members), length)) => {
                            scanner.consume(length);
                            let key = std::mem::take(&mut self.key);
                            self.mention_group(&key, members);
                            self.key = key;
                        }
                        None => {}
                    }
                }
                Piece::Word(run) => {
                    if let Some((user, length)) =
                        longest(run, false, &mut self.key, |key| roster.by_nick(key))
                    {
                        scanner.consume(length);
                        self.highlight(user);
                    }
                }
            }
        }
    }

    /// Whether the tag was not there yet.
    fn add_hashtag(&mut self, tag: &str) -> bool {
        let tag = lower(tag);
        let new = !self.result.tags.contains(&tag);
        if new {
            self.result.tags.push(tag);
        }
        new
    }

    fn highlight(&mut self, user: UserId) {
        if self.context.sender != Some(user) && self.highlighted.insert(user) {
            self.result.tags.push(highlight_tag(user));
        }
    }

    fn finish(mut self) -> Extracted {
        if self.context.has_attachments && !self.result.tags.iter().any(|tag| tag == FILE) {
            self.result.tags.push(FILE.to_owned());
        }
        let unread = |user: &UserId| self.unread.contains(user);
        let by_name = self
            .result
            .tags
            .iter()
            .filter_map(|tag| parse_user(tag))
            .filter(unread)
            .collect();
        self.result.mentions.users = by_name;
        self.tell_groups();
        if self.result.mentions.everyone {
            // Last of all, for they may be many.
            let mut others: Vec<UserId> = self.context.roster.users().collect();
            others.sort_unstable();
            others.retain(|&user| {
                Some(user) != self.context.sender && self.basis.makes_unread(USER_EVERYONE, user)
            });
            others.into_iter().for_each(|user| self.make_unread(user));
        }
        self.result
    }

    /// Marks the message as unread for the members of the groups that it mentions.
    fn tell_groups(&mut self) {
        let mut listed: HashSet<UserId> = self.result.mentions.users.iter().copied().collect();
        for NamedGroup { tag, members } in std::mem::take(&mut self.groups) {
            for &user in members {
                let is_newly_unread = Some(user) != self.context.sender
                    && self.context.roster.contains(user)
                    && self.basis.makes_unread(&tag, user);
                if is_newly_unread {
                    self.make_unread(user);
                }
                // It may be unread by a mark that was kept.
                if self.unread.contains(&user) && listed.insert(user) {
                    self.result.mentions.users.push(user);
                }
            }
        }
    }
}
