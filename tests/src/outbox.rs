//! Letters that a server without a mail server has written into its outbox.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::secrets::note_secret;
use crate::server::Server;

/// How long a letter may take that must come.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A letter in the outbox. Subject and text must be ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The address it goes to.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
}

impl Letter {
    /// The only web address in the text.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn link(&self) -> &str {
        let link = self
            .text
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        let link = link.unwrap_or_else(|| panic!("no link in {}", self.text));
        note_secret(link.rsplit('/').next().unwrap_or_default());
        link
    }

    fn read(path: &Path) -> Option<Self> {
        let mail = fs::read_to_string(path).ok()?.replace("\r\n", "\n");
        let (head, text) = mail.split_once("\n\n")?;
        let head = head.replace("\n ", " ");
        let field = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(str::to_owned)
        };
        let to = field("To: ")?;
        let address = to
            .rsplit_once('<')
            .map_or(to.as_str(), |(_, rest)| rest.trim_end_matches('>'));
        Some(Self {
            to: address.to_owned(),
            subject: field("Subject: ")?,
            text: text.to_owned(),
        })
    }
}

impl Server {
    /// The letters to an address that are there now, oldest first.
    pub fn letters_to(&self, address: &str) -> Vec<Letter> {
        let Ok(entries) = fs::read_dir(self.data_directory().join("outbox")) else {
            return Vec::new();
        };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
        // Their names begin with the time.
        paths.sort();
        paths
            .iter()
            .filter_map(|path| Letter::read(path))
            .filter(|letter| letter.to == address)
            .collect()
    }

    /// Waits until there are this many letters to an address, and gives the last one.
    ///
    /// # Panics
    ///
    /// When they do not come, or when there are more.
    pub async fn letter(&self, address: &str, count: usize) -> Letter {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let letters = self.letters_to(address);
                if letters.len() >= count {
                    return letters;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        });
        let mut letters = found
            .await
            .unwrap_or_else(|_| panic!("letter {count} to {address} did not come"));
        assert_eq!(letters.len(), count, "{letters:?}");
        letters.pop().expect("there are some")
    }
}
