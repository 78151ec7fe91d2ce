//! The pages of an archive: plain HTML without scripts, made of its records.
//!
//! A policy in each page forbids scripts and everything from elsewhere, and allows pictures from
//! beside it. What people wrote is escaped or cleaned before that.

mod row;

use std::collections::HashMap;
use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use self::row::PageRow;
use crate::records::{MessageRecord, PersonNumber};
use crate::{Result, paths};

/// How many messages a page has.
const MESSAGES_OF_PAGE: usize = 200;

const STYLE: &str = include_str!("../../templates/style.css");

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src 'self' file:; base-uri 'none'; form-action 'none'"
    )
});

/// A page, which is an entry of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticPage {
    /// Its path.
    pub path: String,
    /// Its HTML.
    pub html: String,
}

/// What the page to begin with says of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomSummary {
    folder: String,
    name: String,
    messages: usize,
    last: Option<String>,
}

impl RoomSummary {
    fn told(&self) -> String {
        let messages = match self.messages {
            1 => "1 message".to_owned(),
            count => format!("{count} messages"),
        };
        match &self.last {
            Some(last) => format!("{messages}, the last on {last}"),
            None => messages,
        }
    }
}

/// The page to begin with.
#[derive(Debug)]
pub struct ArchivePages {
    title: String,
    people: Vec<String>,
    rooms: Vec<RoomSummary>,
}

#[derive(Template)]
#[template(path = "archive.html")]
struct ArchiveTemplate<'a> {
    policy: &'a str,
    style: &'a str,
    title: &'a str,
    parts: [(&'a str, Vec<&'a RoomSummary>); 2],
    people: &'a [String],
}

impl ArchivePages {
    /// Begins it with a title and the names of the people.
    #[must_use]
    pub fn new(title: String, people: Vec<String>) -> Self {
        Self {
            title,
            people,
            rooms: Vec::new(),
        }
    }

    /// Adds a room.
    pub fn push(&mut self, room: RoomSummary) {
        self.rooms.push(room);
    }

    /// Makes the page.
    ///
    /// # Errors
    ///
    /// [`Error::Page`](crate::Error::Page).
    pub fn finish(&self) -> Result<StaticPage> {
        let in_folder = |folder: &str| {
            let rooms = self.rooms.iter();
            rooms
                .filter(|room| room.folder.starts_with(folder))
                .collect()
        };
        let template = ArchiveTemplate {
            policy: &POLICY,
            style: STYLE,
            title: &self.title,
            parts: [
                ("Flows", in_folder("flows/")),
                ("Private conversations", in_folder("conversations/")),
            ],
            people: &self.people,
        };
        Ok(StaticPage {
            path: paths::INDEX.to_owned(),
            html: template.render()?,
        })
    }
}

/// The pages of one room, made while its messages come.
#[derive(Debug)]
pub struct RoomPages<'n> {
    folder: String,
    name: String,
    about: Option<String>,
    /// What people are called here.
    names: &'n HashMap<PersonNumber, String>,
    rows: Vec<PageRow>,
    pages: Vec<PageOfRoom>,
    messages: usize,
}

#[derive(Debug)]
struct PageOfRoom {
    file: String,
    from: String,
    to: String,
    count: usize,
}

struct Day<'a> {
    date: &'a str,
    rows: Vec<&'a PageRow>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    policy: &'a str,
    style: &'a str,
    name: &'a str,
    number: usize,
    before: String,
    after: String,
    is_followed: bool,
    days: Vec<Day<'a>>,
}

#[derive(Template)]
#[template(path = "room.html")]
struct RoomTemplate<'a> {
    policy: &'a str,
    style: &'a str,
    name: &'a str,
    about: Option<&'a str>,
    pages: &'a [PageOfRoom],
}

fn file_name(number: usize) -> String {
    format!("page-{number:05}.html")
}

impl<'n> RoomPages<'n> {
    /// Begins the pages of a room in a folder, with its name and what it is for.
    #[must_use]
    pub fn new(
        folder: String,
        name: String,
        about: Option<String>,
        names: &'n HashMap<PersonNumber, String>,
    ) -> Self {
        Self {
            folder,
            name,
            about,
            names,
            rows: Vec::new(),
            pages: Vec::new(),
            messages: 0,
        }
    }

    /// Adds a message, with the title of the item that its thread mirrors. Notices are passed over.
    /// Gives a page when one is full.
    ///
    /// # Errors
    ///
    /// [`Error::Page`](crate::Error::Page).
    pub fn push(
        &mut self,
        message: &MessageRecord,
        heading: Option<&str>,
    ) -> Result<Option<StaticPage>> {
        let Some(row) = PageRow::new(message, heading, self.names) else {
            return Ok(None);
        };
        let full = match self.rows.len() >= MESSAGES_OF_PAGE {
            true => Some(self.end_page(true)?),
            false => None,
        };
        self.messages += 1;
        self.rows.push(row.on_page_from(self.rows.first()));
        Ok(full)
    }

    fn end_page(&mut self, is_followed: bool) -> Result<StaticPage> {
        let rows = std::mem::take(&mut self.rows);
        let number = self.pages.len() + 1;
        let mut days: Vec<Day<'_>> = Vec::new();
        for row in &rows {
            match days.last_mut().filter(|day| day.date == row.date) {
                Some(day) => day.rows.push(row),
                None => days.push(Day {
                    date: &row.date,
                    rows: vec![row],
                }),
            }
        }
        let date = |row: Option<&PageRow>| row.map(|row| row.date.clone()).unwrap_or_default();
        self.pages.push(PageOfRoom {
            file: file_name(number),
            from: date(rows.first()),
            to: date(rows.last()),
            count: rows.len(),
        });
        let template = PageTemplate {
            policy: &POLICY,
            style: STYLE,
            name: &self.name,
            number,
            before: file_name(number.saturating_sub(1)),
            after: file_name(number + 1),
            is_followed,
            days,
        };
        Ok(StaticPage {
            path: format!("{}/{}", self.folder, file_name(number)),
            html: template.render()?,
        })
    }

    /// Gives the last page, if it has messages, the page of the room, and what the page to begin with
    /// says of it.
    ///
    /// # Errors
    ///
    /// [`Error::Page`](crate::Error::Page).
    pub fn finish(mut self) -> Result<(Vec<StaticPage>, RoomSummary)> {
        let mut last = Vec::new();
        if !self.rows.is_empty() {
            last.push(self.end_page(false)?);
        }
        let template = RoomTemplate {
            policy: &POLICY,
            style: STYLE,
            name: &self.name,
            about: self.about.as_deref(),
            pages: &self.pages,
        };
        last.push(StaticPage {
            path: format!("{}/index.html", self.folder),
            html: template.render()?,
        });
        let summary = RoomSummary {
            folder: self.folder,
            name: self.name,
            messages: self.messages,
            last: self.pages.pop().map(|page| page.to),
        };
        Ok((last, summary))
    }
}
