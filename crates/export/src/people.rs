//! The people of an archive, and their numbers in it.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_archive::{PersonNumber, PersonRecord, PictureRecord};
use eddyline_model::UserId;
use eddyline_model::users::User;
use eddyline_storage::Reader;
use ring::digest::{SHA256, digest};

use crate::Result;

/// How many users are read at once.
const PAGE: usize = 500;

/// The people of an archive. They are numbered in the order of their addresses, which are the same
/// on every server, as the numbers of users are not.
pub(crate) struct People {
    users: Vec<User>,
    numbers: BTreeMap<UserId, PersonNumber>,
}

impl People {
    /// Reads these users.
    pub(crate) fn read(reader: &mut Reader<'_>, ids: &BTreeSet<UserId>) -> Result<Self> {
        let ids: Vec<UserId> = ids.iter().copied().collect();
        let mut users = Vec::with_capacity(ids.len());
        for page in ids.chunks(PAGE) {
            users.extend(reader.users().list(page)?);
        }
        users.sort_by_cached_key(|user| (user.email.to_lowercase(), user.email.clone()));
        let numbers = users.iter().map(|user| user.id).zip(1..).collect();
        Ok(Self { users, numbers })
    }

    /// The number of a user; 0 when they are not in the archive.
    pub(crate) fn number(&self, user: UserId) -> PersonNumber {
        self.numbers.get(&user).copied().unwrap_or_default()
    }

    /// The numbers of several users, in order, without those who are not in the archive.
    pub(crate) fn numbers(&self, users: impl IntoIterator<Item = UserId>) -> Vec<PersonNumber> {
        let mut found: Vec<_> = users.into_iter().map(|user| self.number(user)).collect();
        found.retain(|number| *number > 0);
        found.sort_unstable();
        found
    }

    /// What they are called, by number.
    pub(crate) fn names(&self) -> BTreeMap<PersonNumber, String> {
        self.users()
            .map(|(number, user)| (number, user.name.clone()))
            .collect()
    }

    /// The users, by number.
    pub(crate) fn users(&self) -> impl Iterator<Item = (PersonNumber, &User)> {
        (1..).zip(&self.users)
    }
}

/// The record of a person, with the bytes of the picture that they uploaded.
pub(crate) fn record(
    reader: &mut Reader<'_>,
    number: PersonNumber,
    user: &User,
    shows_email: bool,
) -> Result<(PersonRecord, Option<Vec<u8>>)> {
    let uploaded = reader.users().find_uploaded_avatar(&user.avatar)?;
    let picture = uploaded
        .as_ref()
        .map(|(content_type, bytes)| PictureRecord {
            content_type: content_type.clone(),
            size: bytes.len() as u64,
            sha256: sha256(bytes).into(),
        });
    let record = PersonRecord {
        number,
        email: shows_email.then(|| user.email.clone()),
        email_proved: shows_email && user.email_proved,
        name: user.name.clone(),
        nick: user.nick.clone(),
        website: user.website.clone(),
        status: user.status.clone(),
        bot: user.bot,
        active: user.active,
        created_at: user.created_at.0,
        picture,
    };
    Ok((record, uploaded.map(|(_, bytes)| bytes)))
}

pub(crate) fn sha256(bytes: &[u8]) -> eddyline_archive::Digest {
    let mut found = [0; 32];
    found.copy_from_slice(digest(&SHA256, bytes).as_ref());
    found
}
