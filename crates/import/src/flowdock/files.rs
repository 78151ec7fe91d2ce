//! The files of a flow, found by the ends of their names.

use std::sync::Arc;

use super::records::FlowdockFile;
use super::{last_parts, within};
use crate::foreign::ForeignFile;

/// The entries in the folder of a flow, sorted by the ends of their names: a look at each of them
/// for each file of a message would not end.
pub(super) struct FlowFiles(Vec<Arc<str>>);

impl FlowFiles {
    /// Those of a folder. The names are sorted.
    pub(super) fn of(names: &[Arc<str>], folder: &str) -> Self {
        let prefix = within(folder, "");
        let start = names.partition_point(|name| **name < *prefix);
        let inside = names[start..].iter();
        let inside = inside.take_while(|name| name.starts_with(&prefix));
        let mut entries: Vec<Arc<str>> = inside.cloned().collect();
        entries.sort_by(|one, other| end_of(one, 2).cmp(&end_of(other, 2)));
        Self(entries)
    }

    /// A file, whose entry is known by the last two parts of its path, or else by the last one.
    pub(super) fn file(&self, file: FlowdockFile) -> ForeignFile {
        let path = file.path.trim_end_matches('/');
        let entry = self.find(path, 2).or_else(|| self.find(path, 1));
        ForeignFile {
            name: match file.file_name.trim().is_empty() {
                true => last_parts(path, 1).unwrap_or_default().to_owned(),
                false => file.file_name,
            },
            content_type: file.content_type.unwrap_or_default(),
            entry: entry.map(ToString::to_string),
            url: (!path.is_empty()).then(|| path.to_owned()),
        }
    }

    /// The only entry that ends with so many parts of a path.
    fn find(&self, path: &str, parts: usize) -> Option<&Arc<str>> {
        let end = end_of(last_parts(path, parts)?, parts);
        let start = self.0.partition_point(|name| end_of(name, parts) < end);
        let behind = self.0[start..].iter();
        let mut matching = behind.take_while(|name| end_of(name, parts) == end);
        matching.next().filter(|_| matching.next().is_none())
    }
}

/// The last part of a name, and with two of them both.
fn end_of(name: &str, parts: usize) -> (&str, Option<&str>) {
    let both = last_parts(name, 2).filter(|_| parts > 1);
    (last_parts(name, 1).unwrap_or(name), both)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(mut names: Vec<String>) -> Vec<Arc<str>> {
        names.sort();
        names.into_iter().map(Arc::from).collect()
    }

    fn entry(files: &FlowFiles, path: &str) -> Option<String> {
        let file = FlowdockFile {
            path: path.to_owned(),
            ..FlowdockFile::default()
        };
        files.file(file).entry
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let list = [
            "main/files/1/a.png",
            "main/files/2/a.png",
            "main/files/2/b.png",
            "main/messages.json",
            "main2/files/c.png",
            "other/files/1/d.png",
        ];
        let names = names(list.map(str::to_owned).to_vec());
        let files = FlowFiles::of(&names, "main");
        for (path, expected) in [
            ("/flows/acme/main/1/a.png", Some("main/files/1/a.png")),
            ("2/a.png/", Some("main/files/2/a.png")),
            ("3/a.png", None),
            ("3/b.png", Some("main/files/2/b.png")),
            ("b.png", Some("main/files/2/b.png")),
            ("c.png", None),
            ("1/d.png", None),
            ("", None),
        ] {
            assert_eq!(entry(&files, path).as_deref(), expected, "{path}");
        }
        let all = FlowFiles::of(&names, "");
        assert_eq!(entry(&all, "d.png").as_deref(), Some("other/files/1/d.png"));
    }

    #[test]
    fn many_files_of_one_name_take_no_look_at_each() {
        let names = names((0..100_000).map(|folder| format!("{folder}/f")).collect());
        let files = FlowFiles::of(&names, "");
        for _ in 0..20_000 {
            assert_eq!(entry(&files, "x/f"), None);
        }
    }
}
