//! What users are notified of on their devices.

use std::fmt;
use std::str::FromStr;

use crate::UserId;
use crate::events::MessageKind;
use crate::messages::Message;

/// Of which messages a user is notified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NotificationLevel {
    /// Of none.
    Nothing = 0,
    /// Of those that mention the user, and of private ones.
    #[default]
    Mentions = 1,
    /// Of everything that people say.
    All = 2,
}

/// The text is no level of notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of nothing, mentions, all")]
pub struct UnknownLevel;

impl NotificationLevel {
    /// Each, from the most to the least.
    pub const ALL: [Self; 3] = [Self::All, Self::Mentions, Self::Nothing];

    /// The name in forms and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Mentions => "mentions",
            Self::All => "all",
        }
    }

    /// The number the store keeps.
    #[must_use]
    pub fn code(self) -> i16 {
        self as i16
    }

    /// Reads the number the store keeps.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.code() == code)
    }

    /// Whether a user with this level is notified of a message. `is_addressed` says whether it
    /// mentions the user or is a private one to the user.
    #[must_use]
    pub fn wants(self, is_addressed: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Mentions => is_addressed,
            Self::All => true,
        }
    }
}

impl FromStr for NotificationLevel {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or(UnknownLevel)
    }
}

/// Whether anyone is notified of a message: of what people write and upload, and of nothing that
/// integrations push or the server says.
#[must_use]
pub fn is_notified_of(message: &Message) -> bool {
    let kind = matches!(
        message.event,
        MessageKind::Message | MessageKind::Comment | MessageKind::File
    );
    kind && !message.content.is_empty()
}

/// Whether a user is notified of a message, by the level that holds for its room.
#[must_use]
pub fn is_notified(
    message: &Message,
    user: UserId,
    level: NotificationLevel,
    is_mentioned: bool,
) -> bool {
    // In a conversation with oneself both are the same.
    if message.author.user == Some(user) {
        return false;
    }
    level.wants(is_mentioned || message.to == Some(user))
}

/// What a user has chosen for all devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationSettings {
    /// Of which messages, in flows for which nothing else is chosen.
    pub level: NotificationLevel,
    /// Whether notifications show what was written; without it they show who wrote and where.
    pub shows_text: bool,
    /// When nothing is shown.
    pub quiet: Option<QuietHours>,
}

/// A change of what a user has chosen; what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationChanges {
    /// Of which messages.
    pub level: Option<NotificationLevel>,
    /// Whether notifications show what was written.
    pub shows_text: Option<bool>,
    /// Whether there are quiet hours.
    pub quiet: Option<bool>,
    /// When they begin.
    pub from: Option<TimeOfDay>,
    /// When they end.
    pub until: Option<TimeOfDay>,
    /// Their time zone.
    pub zone: Option<String>,
}

/// A change of quiet hours leaves a part of them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IncompleteHours {
    /// The hours begin, and this part of them is missing.
    #[error("is required with quiet=true")]
    Part(&'static str),
    /// A part is named while there are no hours.
    #[error("is required with from, until and zone")]
    Quiet,
}

impl IncompleteHours {
    /// The name of the part that is missing.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Part(name) => name,
            Self::Quiet => "quiet",
        }
    }
}

impl NotificationSettings {
    /// The settings with a change.
    ///
    /// # Errors
    ///
    /// [`IncompleteHours`], since quiet hours have all of their parts or none.
    pub fn with(self, changes: NotificationChanges) -> Result<Self, IncompleteHours> {
        let NotificationChanges {
            level,
            shows_text,
            quiet,
            from,
            until,
            zone,
        } = changes;
        let is_quiet = quiet.unwrap_or(self.quiet.is_some());
        if !is_quiet && quiet.is_none() && (from.is_some() || until.is_some() || zone.is_some()) {
            return Err(IncompleteHours::Quiet);
        }
        let (old_from, old_until, old_zone) = match self.quiet {
            Some(old) => (Some(old.from), Some(old.until), Some(old.zone)),
            None => (None, None, None),
        };
        let hours = || {
            Ok(QuietHours {
                from: from.or(old_from).ok_or(IncompleteHours::Part("from"))?,
                until: until.or(old_until).ok_or(IncompleteHours::Part("until"))?,
                zone: zone.or(old_zone).ok_or(IncompleteHours::Part("zone"))?,
            })
        };
        Ok(Self {
            level: level.unwrap_or(self.level),
            shows_text: shows_text.unwrap_or(self.shows_text),
            quiet: is_quiet.then(hours).transpose()?,
        })
    }
}

/// Hours of each day in which a user is notified of nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// When they begin.
    pub from: TimeOfDay,
    /// When they end, on the next day if that is earlier. The same time as `from` means all day.
    pub until: TimeOfDay,
    /// The name of the user's time zone in the database of the IANA, such as `Europe/Helsinki`.
    pub zone: String,
}

impl QuietHours {
    /// Whether a time of the user's day is in them. The end is not.
    #[must_use]
    pub fn contains(&self, time: TimeOfDay) -> bool {
        match self.from < self.until {
            true => self.from <= time && time < self.until,
            false => self.from <= time || time < self.until,
        }
    }
}

/// A time of the day, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

/// The text is no time of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time such as 22:00")]
pub struct InvalidTime;

impl TimeOfDay {
    const MINUTES: u16 = 24 * 60;

    /// A time by the minutes since midnight; `None` for more than a day has.
    #[must_use]
    pub fn from_minutes(minutes: u16) -> Option<Self> {
        (minutes < Self::MINUTES).then_some(Self(minutes))
    }

    /// The minutes since midnight.
    #[must_use]
    pub fn minutes(self) -> u16 {
        self.0
    }
}

impl FromStr for TimeOfDay {
    type Err = InvalidTime;

    /// Reads `22:00`. Some browsers add seconds, which are dropped.
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let number = |text: &str| {
            let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u16>().ok()).flatten()
        };
        let mut parts = text.splitn(3, ':').map(number);
        let (hours, minutes) = (parts.next().flatten(), parts.next().flatten());
        let seconds = parts.next().unwrap_or(Some(0));
        match (hours, minutes, seconds) {
            (Some(hours @ 0..24), Some(minutes @ 0..60), Some(0..60)) => {
                Ok(Self(hours * 60 + minutes))
            }
            _ => Err(InvalidTime),
        }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::messages::Author;
    use crate::{MessageId, RoomId, Timestamp};

    fn quiet(from: &str, until: &str) -> QuietHours {
        QuietHours {
            from: from.parse().unwrap(),
            until: until.parse().unwrap(),
            zone: "UTC".into(),
        }
    }

    fn message(author: Option<i64>, to: Option<i64>) -> Message {
        Message {
            room: RoomId(1),
            id: MessageId(1),
            event: MessageKind::Message,
            author: Author {
                user: author.map(UserId),
                external_name: None,
            },
            content: "hello".into(),
            tags: crate::tags::Tags::default(),
            explicit_tags: Vec::new(),
            uuid: None,
            sent: Timestamp(0),
            edited: None,
            thread_root: None,
            parent: None,
            to: to.map(UserId),
        }
    }

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        for (from, until, quiet_at, loud_at) in [
            (
                "22:00",
                "07:00",
                ["22:00", "00:00", "06:59"],
                ["07:00", "12:00", "21:59"],
            ),
            (
                "12:00",
                "13:30",
                ["12:00", "13:00", "13:29"],
                ["11:59", "13:30", "00:00"],
            ),
        ] {
            for at in quiet_at {
                assert!(quiet(from, until).contains(at.parse().unwrap()), "{at}");
            }
            for at in loud_at {
                assert!(!quiet(from, until).contains(at.parse().unwrap()), "{at}");
            }
        }
        for at in ["00:00", "09:00", "23:59"] {
            assert!(
                quiet("09:00", "09:00").contains(at.parse().unwrap()),
                "{at}"
            );
        }
    }

    #[test]
    fn a_change_leaves_the_rest_and_quiet_hours_have_all_of_their_parts() {
        let changes = NotificationChanges::default;
        let hours = || NotificationChanges {
            quiet: Some(true),
            from: "22:00".parse().ok(),
            until: "07:00".parse().ok(),
            zone: Some("UTC".into()),
            ..changes()
        };
        let none = NotificationSettings::default();
        let quiet = none.clone().with(hours()).unwrap();
        assert_eq!(quiet.quiet, Some(self::quiet("22:00", "07:00")));
        let later = NotificationChanges {
            level: Some(NotificationLevel::All),
            until: "06:30".parse().ok(),
            ..changes()
        };
        let changed = quiet.clone().with(later.clone()).unwrap();
        assert_eq!(changed.quiet, Some(self::quiet("22:00", "06:30")));
        assert_eq!(changed.level, NotificationLevel::All);
        assert_eq!(quiet.clone().with(changes()), Ok(quiet.clone()));
        let loud = NotificationChanges {
            quiet: Some(false),
            ..hours()
        };
        assert_eq!(quiet.with(loud), Ok(none.clone()));
        assert_eq!(none.clone().with(later), Err(IncompleteHours::Quiet));
        let open = NotificationChanges {
            zone: None,
            ..hours()
        };
        assert_eq!(none.with(open), Err(IncompleteHours::Part("zone")));
    }

    #[test]
    fn a_level_says_of_which_messages_a_user_is_notified() {
        use NotificationLevel::{All, Mentions, Nothing};
        let (grace, ada) = (UserId(2), 1);
        let said = message(Some(ada), None);
        let private = message(Some(ada), Some(grace.0));
        for (level, plain, mentioned, to_grace) in [
            (Nothing, false, false, false),
            (Mentions, false, true, true),
            (All, true, true, true),
        ] {
            assert_eq!(is_notified(&said, grace, level, false), plain);
            assert_eq!(is_notified(&said, grace, level, true), mentioned);
            assert_eq!(is_notified(&private, grace, level, false), to_grace);
            assert!(!is_notified(&said, UserId(ada), level, true), "an own one");
            assert_eq!(NotificationLevel::from_code(level.code()), Some(level));
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert_eq!(NotificationLevel::from_code(3), None);
        assert_eq!("some".parse::<NotificationLevel>(), Err(UnknownLevel));
    }

    #[test]
    fn only_what_people_write_and_upload_is_worth_a_notification() {
        for kind in MessageKind::ALL {
            let message = Message {
                event: kind,
                ..message(Some(1), None)
            };
            let by_people = matches!(
                kind,
                MessageKind::Message | MessageKind::Comment | MessageKind::File
            );
            assert_eq!(is_notified_of(&message), by_people, "{kind:?}");
        }
        let deleted = Message {
            content: String::new(),
            ..message(Some(1), None)
        };
        assert!(!is_notified_of(&deleted));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        assert_eq!("07:05:30".parse(), Ok(TimeOfDay(425)));
        for bad in [
            "",
            "7:00",
            "24:00",
            "12:60",
            "12",
            "12:00:60",
            "12:00:0",
            "+1:00",
            "12:00:00:00",
        ] {
            assert_eq!(bad.parse::<TimeOfDay>(), Err(InvalidTime), "{bad}");
        }
        assert_eq!(TimeOfDay::from_minutes(1440), None);
    }

    proptest! {
        #[test]
        fn a_time_survives_its_text(minutes in 0..1440_u16) {
            let time = TimeOfDay::from_minutes(minutes).unwrap();
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            prop_assert_eq!(time.minutes(), minutes);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,12}") {
            let _ = text.parse::<TimeOfDay>();
        }
    }
}
