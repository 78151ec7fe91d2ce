//! The unread mark of private messages. Each is meant for one reader, who has it to read whatever
//! it says.

use super::{Extracted, Tags, normalize, unread_tag};
use crate::UserId;

/// Sets whether the tags of a private message mark it as unread for its reader, whatever mentions
/// in it have made of that. The mark stands before all other tags.
pub fn set_unread(extracted: &mut Extracted, reader: UserId, unread: bool) {
    let mark = unread_tag(reader);
    let mut tags = extracted.tags.to_vec();
    tags.retain(|tag| *tag != mark);
    if unread {
        tags.insert(0, mark);
    }
    extracted.tags = tags.into();
}

/// Whether a private message is still marked as unread for its reader once its tags are set to
/// `wanted`, in any form: it was before, and the mark is among them. A mark that is gone does not
/// come back.
#[must_use]
pub fn keeps_unread(previous: &Tags, wanted: &[String], reader: UserId) -> bool {
    let mark = unread_tag(reader);
    previous.contains(&mark)
        && wanted
            .iter()
            .any(|tag| normalize(tag).as_ref() == Some(&mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(tags: &[&str], unread: bool) -> Extracted {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let mut extracted = Extracted {
            tags: tags.into(),
            ..Extracted::default()
        };
        set_unread(&mut extracted, UserId(2), unread);
        extracted
    }

    #[test]
    fn the_mark_stands_before_all_other_tags() {
        for (before, after) in [
            (&[][..], &[":unread:2"][..]),
            (&["tea"], &[":unread:2", "tea"]),
            (
                &["tea", ":user:2", ":unread:2", "milk"],
                &[":unread:2", "tea", ":user:2", "milk"],
            ),
            (
                &[":url", "tea", ":file"],
                &[":unread:2", ":url", "tea", ":file"],
            ),
        ] {
            let extracted = marked(before, true);
            assert_eq!(extracted.tags.to_vec(), after, "{before:?}");
        }
    }

    #[test]
    fn what_was_read_is_not_marked_by_a_mention_either() {
        let extracted = marked(&[":user:2", ":unread:2", ":unread:3"], false);
        assert_eq!(extracted.tags, [":user:2", ":unread:3"]);
    }

    #[test]
    fn a_mark_is_kept_by_those_who_send_it_back_and_never_comes_back() {
        let list = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let (with, without) = (list(&["tea", ":unread:2"]), list(&["tea"]));
        let marked = Tags::from(with.clone());
        assert!(keeps_unread(&marked, &with, UserId(2)));
        assert!(keeps_unread(&marked, &list(&["# :UNREAD:2 "]), UserId(2)));
        assert!(!keeps_unread(&marked, &without, UserId(2)));
        assert!(!keeps_unread(
            &marked,
            &list(&["@ben", ":unread:22"]),
            UserId(2)
        ));
        assert!(!keeps_unread(&without.into(), &with, UserId(2)));
    }
}
