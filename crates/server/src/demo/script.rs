//! What the people of the demonstration say.

use super::company::Persona::{self, Ada, Alan, Charles, Eddy, Grace, Hedy, Katherine};

/// A message, and who reacts to it.
pub(super) struct Utterance {
    pub(super) by: Persona,
    pub(super) text: &'static str,
    pub(super) reactions: &'static [(Persona, &'static str)],
}

/// A message and the answers to it, which stand in its thread.
pub(super) type Conversation = &'static [Utterance];

const fn says(by: Persona, text: &'static str) -> Utterance {
    Utterance {
        by,
        text,
        reactions: &[],
    }
}

impl Utterance {
    const fn and(self, reactions: &'static [(Persona, &'static str)]) -> Self {
        Self { reactions, ..self }
    }
}

/// What was said in the main flow before the visitor came, up to the first file.
pub(super) const MORNING: &[Conversation] = &[
    &[
        says(
            Ada,
            "Hello all! Release 2.4 is planned for today. Is anything still in the way? #release",
        )
        .and(&[(Grace, "👋"), (Katherine, "👋")]),
        says(
            Grace,
            "Only the longer pause between uploads. The pull request is in the inbox and waits for a review.",
        ),
        says(
            Alan,
            "And ticket 212. I have the gateway in the climate chamber now.",
        ),
    ],
    &[
        says(
            Hedy,
            "The alarm thresholds are in the chart now. Does a dotted line read well enough, or should it be solid? #design",
        ),
        says(
            Katherine,
            "Dotted is fine, but darker, please. It was hard to see on the projector.",
        )
        .and(&[(Hedy, "👀")]),
    ],
];

/// What was said about the first file.
pub(super) const MEASURED: &[Conversation] = &[&[says(
    Alan,
    "Run 3 is done. Packets get lost from 74 % humidity on, earlier than we thought. #bug",
)]];

/// What was said then, up to the second file; the visitor has not read it.
pub(super) const LATER: &[Conversation] = &[
    &[says(
        Grace,
        "A gateway restarts after a minute of silence, so a longer pause would never end. This is the new one:\n\
         ```rust\n\
         let pause = BASE * 2u32.pow(attempt.min(5));\n\
         sleep(pause.min(CAP) + jitter()).await;\n\
         ```",
    )
    .and(&[(Katherine, "👍"), (Alan, "👍")])],
    &[says(
        Katherine,
        "@Ada gauge 14 was never broken, its float stuck in the mud for a day. I marked the gap in the chart.",
    )
    .and(&[(Grace, "🎉"), (Hedy, "😄")])],
];

/// What was said last before the visitor came.
pub(super) const LATEST: &[Conversation] = &[&[
    says(
        Grace,
        "@everyone the release notes are ready to read: https://example.com/notes/2.4 #release",
    )
    .and(&[(Katherine, "👍")]),
    says(Katherine, "Read, and two typos fixed. They are good to go."),
]];

/// What was said in the lobby, as far as the visitor has read it.
pub(super) const LOBBY_BEFORE: &[Conversation] = &[
    &[
        says(Charles, "The key to the lab is with Grace while I am away.")
            .and(&[(Grace, "🏖️"), (Katherine, "👋")]),
    ],
    &[
        says(
            Grace,
            "The place by the lock has lentil soup today. Who joins me for lunch?",
        )
        .and(&[(Hedy, "🍲")]),
        says(Alan, "I do, if the chamber is done by then."),
    ],
    &[says(
        Katherine,
        "The photos of the visit to station 7 hang by the kitchen now.",
    )
    .and(&[(Grace, "❤️"), (Alan, "❤️")])],
];

/// What was said in the lobby since.
pub(super) const LOBBY_LATER: &[Conversation] = &[&[says(
    Hedy,
    "@Ada shall I book the large room for Friday, when we look back on the release?",
)]];

/// What is said in the main flow from now on, over and over.
pub(super) const MAIN_TALK: &[Conversation] = &[
    &[
        says(
            Hedy,
            "The thresholds are darker now. Could you look again, @Katherine? #design",
        ),
        says(Katherine, "Much better. I can read it from the door.").and(&[(Hedy, "🎉")]),
    ],
    &[
        says(
            Alan,
            "The seal of the connector lets water in. With a new one, two hours at 90 % and no packet lost. #bug",
        )
        .and(&[(Grace, "🎉"), (Katherine, "👏")]),
        says(Grace, "Then it needs no new firmware. Good to know before the release."),
    ],
    &[says(
        Katherine,
        "The forecast for gauge 14 now looks at the last 72 hours instead of 48. It follows the rain much more closely.",
    )
    .and(&[(Hedy, "👍")])],
    &[
        says(
            Grace,
            "`upload_retries_in_order` failed again. It waits for the real clock. #build",
        ),
        says(
            Alan,
            "I can give it a clock of its own after lunch, the other tests have one.",
        )
        .and(&[(Grace, "🙏")]),
    ],
    &[
        says(
            Hedy,
            "Should the map open at the visitor's river, or with all of them? I have drawn both. #design",
        ),
        says(
            Grace,
            "At the river that was looked at last. All of them is one click away.",
        ),
        says(Hedy, "That is simpler than both of mine.").and(&[(Katherine, "😄")]),
    ],
    &[says(
        Grace,
        "The old backup of March is restored, too: all 140 stations are there. #ops",
    )
    .and(&[(Alan, "💪"), (Hedy, "👍")])],
    &[
        says(
            Katherine,
            "The water board asks for a month as CSV. Is a link in the export dialog enough? #support",
        ),
        says(Hedy, "Yes, beside the picture. I will add it to the sketch."),
    ],
    &[
        says(Eddy, "Staging runs the second candidate of 2.4 now. #deploy"),
        says(Hedy, "The map is quick there, even on the old telephone.").and(&[(Grace, "🎉")]),
    ],
    &[says(
        Alan,
        "Battery of gauge 31 after a winter: 81 %. The longer pause between uploads pays off.",
    )
    .and(&[(Grace, "🔋"), (Katherine, "🎉")])],
    &[
        says(
            Grace,
            "Reading a year of levels took 900 ms, now it takes 60. The index was missing the station:\n\
             ```sql\n\
             create index levels_by_station on levels (station, measured_at);\n\
             ```",
        )
        .and(&[(Katherine, "🚀"), (Hedy, "🚀")]),
        says(Katherine, "The reports page feels like another program. Thank you."),
    ],
    &[
        says(Hedy, "Who is on call tomorrow? The calendar is empty."),
        says(Alan, "I am. It stands in the calendar now.").and(&[(Hedy, "👍")]),
    ],
    &[says(
        Eddy,
        "Backup of tonight: done in 42 s, and restored on the spare machine. #ops",
    )
    .and(&[(Alan, "👍")])],
    &[says(
        Katherine,
        "Nine stations measured the flood wave on the upper river, and none of them is missing a value. #release",
    )
    .and(&[(Grace, "🌊"), (Alan, "🎉")])],
];

/// What is said in the lobby from now on, over and over.
pub(super) const LOBBY_TALK: &[Conversation] = &[
    &[
        says(Hedy, "The train is on time. I will be there for soup."),
        says(Grace, "A chair is kept free.").and(&[(Hedy, "🙏")]),
    ],
    &[says(
        Katherine,
        "There is cake in the kitchen: gauge 1 has run for a thousand days without a gap.",
    )
    .and(&[(Alan, "🎂"), (Grace, "🎂")])],
    &[
        says(
            Alan,
            "Is the van free on Thursday? I would go to station 31.",
        ),
        says(Katherine, "It is yours. Please bring the old battery back."),
    ],
    &[says(
        Grace,
        "The new chairs have come. Two of them are still in their boxes, next to the printer.",
    )],
    &[
        says(
            Hedy,
            "Is there a book on rivers that is not about engineering?",
        ),
        says(
            Katherine,
            "The Wind in the Willows. It stands on the shelf by the window.",
        )
        .and(&[(Hedy, "❤️"), (Alan, "😄")]),
    ],
    &[says(
        Alan,
        "Heron on the roof of the boathouse again. He does not mind the camera.",
    )
    .and(&[(Hedy, "😍"), (Katherine, "📷")])],
    &[
        says(Grace, "A walk along the lock after work. Who comes along?"),
        says(Hedy, "I do."),
        says(Alan, "Me too, it is dry today.").and(&[(Grace, "☀️")]),
    ],
];
