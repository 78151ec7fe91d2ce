//! What happens to the items in the inbox of the demonstration: each goes from state to state, by
//! itself and by the buttons that it offers. `{n}` stands for the number of an item.

use eddyline_model::items::Color;

use super::company::Persona::{self, Alan, Grace, Hedy, Katherine};

/// The course of an item.
pub(super) struct Story {
    pub(super) title: &'static str,
    pub(super) body: &'static str,
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// The first is the one it begins in.
    pub(super) states: &'static [StoryState],
}

/// How an item is, and how it came to that.
pub(super) struct StoryState {
    /// Who brought it about; `None` for the user who pressed a button.
    pub(super) by: Option<&'static str>,
    /// What they did.
    pub(super) did: &'static str,
    pub(super) status: (&'static str, Color),
    /// The buttons, and the states they lead to.
    pub(super) buttons: &'static [(&'static str, usize)],
    /// The state that follows by itself; without one the story is over.
    pub(super) next: Option<usize>,
    /// Whether the story goes on only when the visitor presses a button.
    pub(super) waits: bool,
    /// What is said about it in the thread.
    pub(super) remark: Option<(Persona, &'static str)>,
}

/// Items of one kind. They come one after the other.
pub(super) struct Series {
    /// The tool that reports them.
    pub(super) tool: usize,
    /// How ids of items begin. Their number follows, unless all have one thread.
    pub(super) prefix: &'static str,
    pub(super) has_numbers: bool,
    pub(super) first_number: u32,
    /// How many states the first item has gone through when the visitor comes.
    pub(super) ahead: usize,
    pub(super) stories: &'static [Story],
}

/// The names of the tools.
pub(super) const TOOLS: [&str; 5] = ["Ledger", "Forge", "Millrace", "Sluice", "Helpdesk"];

/// In the order in which they stand in the inbox at first.
pub(super) const SERIES: [Series; 6] = [
    Series {
        tool: 0,
        prefix: "",
        has_numbers: true,
        first_number: 212,
        ahead: 2,
        stories: TICKETS,
    },
    Series {
        tool: 0,
        prefix: "release-",
        has_numbers: true,
        first_number: 4,
        ahead: 4,
        stories: RELEASES,
    },
    Series {
        tool: 1,
        prefix: "",
        has_numbers: true,
        first_number: 87,
        ahead: 2,
        stories: PULL_REQUESTS,
    },
    Series {
        tool: 2,
        prefix: "main",
        has_numbers: false,
        first_number: 1815,
        ahead: 2,
        stories: BUILDS,
    },
    Series {
        tool: 3,
        prefix: "rollout-",
        has_numbers: true,
        first_number: 3,
        ahead: 2,
        stories: ROLL_OUTS,
    },
    Series {
        tool: 4,
        prefix: "",
        has_numbers: true,
        first_number: 3140,
        ahead: 3,
        stories: QUESTIONS,
    },
];

impl StoryState {
    const fn new(
        by: Option<&'static str>,
        did: &'static str,
        status: (&'static str, Color),
        next: Option<usize>,
    ) -> Self {
        Self {
            by,
            did,
            status,
            buttons: &[],
            next,
            waits: false,
            remark: None,
        }
    }

    const fn offers(self, buttons: &'static [(&'static str, usize)]) -> Self {
        Self { buttons, ..self }
    }

    /// The story goes on only when the visitor presses a button.
    const fn waiting(self) -> Self {
        Self {
            waits: true,
            ..self
        }
    }

    const fn remarked(self, by: Persona, text: &'static str) -> Self {
        let remark = Some((by, text));
        Self { remark, ..self }
    }
}

/// A state that the named one brings about.
const fn by(
    name: &'static str,
    did: &'static str,
    status: (&'static str, Color),
    next: Option<usize>,
) -> StoryState {
    StoryState::new(Some(name), did, status, next)
}

/// A state that a button leads to.
const fn pressed(
    did: &'static str,
    status: (&'static str, Color),
    next: Option<usize>,
) -> StoryState {
    StoryState::new(None, did, status, next)
}

const TICKET_BUTTONS: &[(&str, usize)] = &[("Take it", 5), ("Close", 6)];

const TICKETS: &[Story] = &[
    Story {
        title: "Gateway drops packets above 80 % humidity",
        body: "Gateways near the water lose up to 12 % of their packets in fog. The log has no radio errors, and a restart does not help.",
        fields: &[
            ("Assigned to", "Alan Turing"),
            ("Priority", "High"),
            ("Sites", "7, 14 and 31"),
        ],
        states: &[
            by("Grace Hopper", "opened it", ("New", Color::Cyan), Some(1))
                .offers(TICKET_BUTTONS)
                .remarked(Katherine, "Site 14 loses some too, since the fog came up."),
            by(
                "Alan Turing",
                "reproduced it in the climate chamber",
                ("Investigating", Color::Yellow),
                Some(2),
            )
            .offers(TICKET_BUTTONS)
            .remarked(
                Alan,
                "It is the connector, not the radio: without it the loss is gone.",
            ),
            by(
                "Alan Turing",
                "found the leak in the seal",
                ("In work", Color::Blue),
                Some(3),
            )
            .offers(&[("Close", 6)])
            .remarked(
                Grace,
                "New seals for three sites, then. I order ten, they are cheap.",
            ),
            by(
                "Alan Turing",
                "changed the seal at site 7",
                ("Testing", Color::Orange),
                Some(4),
            )
            .offers(&[("Close", 6)])
            .remarked(
                Katherine,
                "Site 7 has not lost a packet since. I watch it over lunch.",
            ),
            by("Alan Turing", "closed it", ("Fixed", Color::Green), None),
            pressed("took it", ("In work", Color::Blue), Some(2))
                .offers(&[("Close", 6)])
                .remarked(
                    Alan,
                    "Thanks for taking it. The logs of all three runs are on the shared drive.",
                ),
            pressed("closed it", ("Closed", Color::Grey), None)
                .remarked(Alan, "Thanks. I tell site 7 that it is done."),
        ],
    },
    Story {
        title: "Chart draws an hour twice when the clocks change",
        body: "On the last Sunday in October the curve between two and three o'clock goes back, and is drawn a second time.",
        fields: &[("Assigned to", "Hedy Lamarr"), ("Priority", "Normal")],
        states: &[
            by("Hedy Lamarr", "opened it", ("New", Color::Cyan), Some(1)).offers(TICKET_BUTTONS),
            by(
                "Hedy Lamarr",
                "found the axis in local time",
                ("Investigating", Color::Yellow),
                Some(2),
            )
            .offers(TICKET_BUTTONS)
            .remarked(
                Katherine,
                "The values are in UTC all along. Only their labels should be local.",
            ),
            by(
                "Hedy Lamarr",
                "draws in UTC now",
                ("In work", Color::Blue),
                Some(3),
            )
            .offers(&[("Close", 6)]),
            by(
                "Katherine Johnson",
                "compared both Sundays of the year",
                ("Testing", Color::Orange),
                Some(4),
            )
            .offers(&[("Close", 6)])
            .remarked(Katherine, "Both are right, in spring and in autumn."),
            by("Hedy Lamarr", "closed it", ("Fixed", Color::Green), None),
            pressed("took it", ("In work", Color::Blue), Some(2))
                .offers(&[("Close", 6)])
                .remarked(Hedy, "Thank you. The axis is in `chart/axis.ts`."),
            pressed("closed it", ("Closed", Color::Grey), None)
                .remarked(Hedy, "Agreed, thanks for closing it."),
        ],
    },
    Story {
        title: "Alarm mail names the wrong river",
        body: "Two stations have the number 22, one on each river. The mail takes the name of the first that it finds.",
        fields: &[("Assigned to", "Grace Hopper"), ("Priority", "High")],
        states: &[
            by(
                "Katherine Johnson",
                "opened it",
                ("New", Color::Cyan),
                Some(1),
            )
            .offers(TICKET_BUTTONS),
            by(
                "Grace Hopper",
                "wrote a test that fails",
                ("Investigating", Color::Yellow),
                Some(2),
            )
            .offers(TICKET_BUTTONS),
            by(
                "Grace Hopper",
                "looks stations up by river and number",
                ("In work", Color::Blue),
                Some(3),
            )
            .offers(&[("Close", 6)])
            .remarked(Katherine, "Does the text message have it too?"),
            by(
                "Grace Hopper",
                "put it on staging",
                ("Testing", Color::Orange),
                Some(4),
            )
            .offers(&[("Close", 6)])
            .remarked(Grace, "It had, and is fixed along with it."),
            by(
                "Katherine Johnson",
                "closed it",
                ("Fixed", Color::Green),
                None,
            ),
            pressed("took it", ("In work", Color::Blue), Some(2))
                .offers(&[("Close", 6)])
                .remarked(Grace, "Good, then I review it."),
            pressed("closed it", ("Closed", Color::Grey), None)
                .remarked(Katherine, "Thanks. I answer the water board."),
        ],
    },
];

const REVIEW_BUTTONS: &[(&str, usize)] = &[("Approve", 4), ("Merge", 5)];

const PULL_REQUESTS: &[Story] = &[
    Story {
        title: "Retry uploads with a longer pause",
        body: "The pause between two attempts doubles up to 30 seconds.",
        fields: &[
            ("Author", "Grace Hopper"),
            (
                "Branch",
                "<a href=\"https://example.com/forge/retry\">retry</a>",
            ),
        ],
        states: &[
            by("Grace Hopper", "opened it", ("Open", Color::Cyan), Some(1)).offers(REVIEW_BUTTONS),
            by(
                "Katherine Johnson",
                "asked for a test",
                ("In review", Color::Blue),
                Some(2),
            )
            .offers(REVIEW_BUTTONS)
            .remarked(
                Katherine,
                "Can the jitter be zero? Then all gateways of a site would come back at once.",
            ),
            by(
                "Grace Hopper",
                "pushed two commits",
                ("In review", Color::Blue),
                None,
            )
            .offers(REVIEW_BUTTONS)
            .waiting()
            .remarked(
                Grace,
                "Never below 50 ms now, and there is a test for both ends.",
            ),
            by("Grace Hopper", "merged it", ("Merged", Color::Purple), None),
            pressed("approved it", ("Approved", Color::Green), Some(3))
                .offers(&[("Merge", 5)])
                .remarked(
                    Grace,
                    "Thank you! I merge it as soon as the build is green.",
                ),
            pressed("merged it", ("Merged", Color::Purple), None).remarked(
                Grace,
                "Thanks for merging. It goes out with the next release.",
            ),
        ],
    },
    Story {
        title: "Draw alarm thresholds in the chart",
        body: "A dotted line for each threshold of a station, with its name at the right edge.",
        fields: &[
            ("Author", "Hedy Lamarr"),
            (
                "Branch",
                "<a href=\"https://example.com/forge/thresholds\">thresholds</a>",
            ),
        ],
        states: &[
            by("Hedy Lamarr", "opened it", ("Open", Color::Cyan), Some(1)).offers(REVIEW_BUTTONS),
            by(
                "Grace Hopper",
                "asked where the names go on a telephone",
                ("In review", Color::Blue),
                Some(2),
            )
            .offers(REVIEW_BUTTONS),
            by(
                "Hedy Lamarr",
                "pushed a commit",
                ("In review", Color::Blue),
                Some(3),
            )
            .offers(REVIEW_BUTTONS)
            .remarked(
                Hedy,
                "Above the line there, in the small size. Screenshots are in the description.",
            ),
            by("Grace Hopper", "merged it", ("Merged", Color::Purple), None),
            pressed("approved it", ("Approved", Color::Green), Some(3))
                .offers(&[("Merge", 5)])
                .remarked(Hedy, "Thank you!"),
            pressed("merged it", ("Merged", Color::Purple), None)
                .remarked(Hedy, "Great, thanks. I delete the branch."),
        ],
    },
    Story {
        title: "Sort stations by river, then by kilometre",
        body: "Lists follow the water now, from the source down.",
        fields: &[
            ("Author", "Katherine Johnson"),
            (
                "Branch",
                "<a href=\"https://example.com/forge/order\">order</a>",
            ),
        ],
        states: &[
            by(
                "Katherine Johnson",
                "opened it",
                ("Open", Color::Cyan),
                Some(1),
            )
            .offers(REVIEW_BUTTONS),
            by(
                "Alan Turing",
                "asked about stations without a kilometre",
                ("In review", Color::Blue),
                Some(2),
            )
            .offers(REVIEW_BUTTONS),
            by(
                "Katherine Johnson",
                "pushed a commit",
                ("In review", Color::Blue),
                Some(3),
            )
            .offers(REVIEW_BUTTONS)
            .remarked(
                Katherine,
                "They stand at the end, by name. There are four of them.",
            ),
            by("Alan Turing", "merged it", ("Merged", Color::Purple), None),
            pressed("approved it", ("Approved", Color::Green), Some(3))
                .offers(&[("Merge", 5)])
                .remarked(Katherine, "Thanks!"),
            pressed("merged it", ("Merged", Color::Purple), None)
                .remarked(Katherine, "Thank you. The map can use the same order."),
        ],
    },
];

const BUILD_FIELDS: &[(&str, &str)] = &[("Branch", "main"), ("Started by", "Forge")];

const BUILDS: &[Story] = &[
    Story {
        title: "Build of main",
        body: "",
        fields: BUILD_FIELDS,
        states: &[
            by(
                "Millrace",
                "started build {n}",
                ("Running", Color::Yellow),
                Some(1),
            )
            .offers(&[("Cancel", 2)]),
            by(
                "Millrace",
                "build {n} failed after 3 min 12 s: upload_retries_in_order",
                ("Failed", Color::Red),
                Some(4),
            )
            .offers(&[("Run again", 3)])
            .remarked(
                Grace,
                "That test waits for the real clock. I run it again and mend it.",
            ),
            pressed("cancelled build {n}", ("Cancelled", Color::Grey), None)
                .offers(&[("Run again", 3)]),
            pressed(
                "started build {n} again",
                ("Running", Color::Yellow),
                Some(5),
            )
            .offers(&[("Cancel", 2)]),
            by(
                "Grace Hopper",
                "started build {n} again",
                ("Running", Color::Yellow),
                Some(5),
            )
            .offers(&[("Cancel", 2)]),
            by(
                "Millrace",
                "build {n} passed after 4 min 2 s",
                ("Passed", Color::Green),
                None,
            )
            .offers(&[("Run again", 3)]),
        ],
    },
    Story {
        title: "Build of main",
        body: "",
        fields: BUILD_FIELDS,
        states: &[
            by(
                "Millrace",
                "started build {n}",
                ("Running", Color::Yellow),
                Some(1),
            )
            .offers(&[("Cancel", 2)]),
            by(
                "Millrace",
                "build {n} passed after 3 min 58 s",
                ("Passed", Color::Green),
                None,
            )
            .offers(&[("Run again", 3)]),
            pressed("cancelled build {n}", ("Cancelled", Color::Grey), None)
                .offers(&[("Run again", 3)]),
            pressed(
                "started build {n} again",
                ("Running", Color::Yellow),
                Some(1),
            )
            .offers(&[("Cancel", 2)]),
        ],
    },
];

const RELEASES: &[Story] = &[Story {
    title: "Release 2.{n}",
    body: "What has to be done before it ships.",
    fields: &[
        ("Due", "Today"),
        (
            "Notes",
            "<a href=\"https://example.com/notes\">Release notes</a>",
        ),
    ],
    states: &[
        by(
            "Katherine Johnson",
            "ticked “Release notes”",
            ("5 of 9 done", Color::Cyan),
            Some(1),
        ),
        by(
            "Alan Turing",
            "ticked “Upgrade tested”",
            ("6 of 9 done", Color::Cyan),
            Some(2),
        ),
        by(
            "Grace Hopper",
            "ticked “Backup restored”",
            ("7 of 9 done", Color::Cyan),
            Some(3),
        ),
        by(
            "Hedy Lamarr",
            "ticked “Pictures renewed”",
            ("8 of 9 done", Color::Blue),
            None,
        )
        .offers(&[("Approve", 4), ("Hold back", 6)])
        .waiting()
        .remarked(
            Grace,
            "@Ada only your approval is left. The button is in this thread.",
        ),
        pressed("approved it", ("Approved", Color::Green), Some(5))
            .offers(&[("Hold back", 6)])
            .remarked(Grace, "Thank you! The roll-out begins in a few minutes."),
        by(
            "Grace Hopper",
            "released it",
            ("Released", Color::Purple),
            None,
        ),
        pressed("held it back", ("On hold", Color::Orange), None)
            .offers(&[("Approve", 4)])
            .waiting()
            .remarked(Grace, "All right. What is missing?"),
    ],
}];

const ROLL_OUTS: &[Story] = &[Story {
    title: "Roll-out of 2.{n} to the gateways",
    body: "",
    fields: &[("Channel", "stable"), ("Started by", "Grace Hopper")],
    states: &[
        by(
            "Sluice",
            "began with 10 of 140 gateways",
            ("10 of 140", Color::Yellow),
            Some(1),
        )
        .offers(&[("Pause", 4)]),
        by(
            "Sluice",
            "60 of 140 gateways run 2.{n}",
            ("60 of 140", Color::Yellow),
            Some(2),
        )
        .offers(&[("Pause", 4)]),
        by(
            "Sluice",
            "110 of 140 gateways run 2.{n}",
            ("110 of 140", Color::Yellow),
            Some(3),
        )
        .offers(&[("Pause", 4)]),
        by(
            "Sluice",
            "all 140 gateways run 2.{n}",
            ("Done", Color::Green),
            None,
        ),
        pressed("paused it", ("Paused", Color::Orange), Some(7))
            .offers(&[("Resume", 5), ("Roll back", 6)])
            .remarked(Grace, "Paused, all gateways answer. Did you see something?"),
        pressed("resumed it", ("Running", Color::Yellow), Some(2)).offers(&[("Pause", 4)]),
        pressed("rolled it back", ("Rolled back", Color::Red), None).remarked(
            Grace,
            "Rolled back, and all gateways answer. I read the logs before we try again.",
        ),
        by(
            "Grace Hopper",
            "resumed it",
            ("Running", Color::Yellow),
            Some(2),
        )
        .offers(&[("Pause", 4)]),
    ],
}];

const QUESTIONS: &[Story] = &[
    Story {
        title: "Can we get a month of levels as CSV?",
        body: "We need the levels of gauge 14 for March, one value an hour. The picture alone does not help us.",
        fields: &[("From", "Water board, upper river")],
        states: &[
            by(
                "Helpdesk",
                "took the question",
                ("New", Color::Cyan),
                Some(1),
            )
            .offers(&[("Close", 3)]),
            by(
                "Katherine Johnson",
                "sent the file",
                ("Answered", Color::Blue),
                Some(2),
            )
            .offers(&[("Close", 3)]),
            by(
                "Katherine Johnson",
                "closed it",
                ("Closed", Color::Grey),
                None,
            ),
            pressed("closed it", ("Closed", Color::Grey), None)
                .remarked(Katherine, "Thanks, I had forgotten it."),
        ],
    },
    Story {
        title: "Which gauges measure the temperature?",
        body: "For a study on trout we look for stations that have measured the temperature of the water since 2019.",
        fields: &[("From", "Institute of freshwater ecology")],
        states: &[
            by(
                "Helpdesk",
                "took the question",
                ("New", Color::Cyan),
                Some(1),
            )
            .offers(&[("Close", 3)])
            .remarked(Alan, "Six do: 3, 7, 9, 14, 22 and 31."),
            by(
                "Katherine Johnson",
                "answered with a list",
                ("Answered", Color::Blue),
                Some(2),
            )
            .offers(&[("Close", 3)]),
            by(
                "Katherine Johnson",
                "closed it",
                ("Closed", Color::Grey),
                None,
            ),
            pressed("closed it", ("Closed", Color::Grey), None)
                .remarked(Katherine, "Thank you for closing it."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that a story goes through by itself.
    fn by_itself(story: &'static Story) -> Vec<&'static StoryState> {
        let follow = |state: &&'static StoryState| state.next.map(|next| &story.states[next]);
        std::iter::successors(story.states.first(), follow).collect()
    }

    #[test]
    fn what_is_left_to_the_visitor_waits_for_the_visitor() {
        for story in [&RELEASES[0], &PULL_REQUESTS[0]] {
            let last = by_itself(story).pop().unwrap();
            assert!(last.waits, "{}", story.title);
            let approves = |(name, _): &(&str, usize)| *name == "Approve";
            assert!(last.buttons.iter().any(approves), "{}", story.title);
        }
    }

    #[test]
    fn a_state_that_waits_offers_a_way_on() {
        let stories = SERIES.iter().flat_map(|series| series.stories);
        for state in stories.flat_map(|story| story.states) {
            let goes_on = state.next.is_some();
            assert!(
                !state.waits || (!goes_on && !state.buttons.is_empty()),
                "{}",
                state.did
            );
        }
    }
}
