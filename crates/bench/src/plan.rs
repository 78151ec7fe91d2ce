//! How much is measured, and for how long.

use std::time::Duration;

use serde::Serialize;

use crate::arguments::Arguments;

/// The numbers of connections that post.
pub(crate) const POSTING: [usize; 3] = [1, 16, 64];
/// The numbers of connections that list.
pub(crate) const LISTING: [usize; 2] = [1, 16];
/// How many people are in the flow.
pub(crate) const MEMBERS: usize = 100;
/// The steady load of the fan-out, in deliveries a second.
pub(crate) const STEADY_DELIVERIES: usize = 10_000;
/// How many messages may be on their way that not every listener has.
pub(crate) const WINDOW: usize = 8;

/// The sizes that `--quick` changes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    /// How often everything is measured.
    pub(crate) rounds: u32,
    /// Messages in the room that is not empty.
    pub(crate) messages: usize,
    /// The numbers of listeners.
    pub(crate) listeners: Vec<usize>,
    /// Streams whose memory is measured.
    pub(crate) idle_streams: usize,
    /// Load that is not measured yet, so that caches and congestion windows have grown.
    #[serde(rename = "warm_up_seconds", serialize_with = "seconds")]
    pub(crate) warm_up: Duration,
    /// How long each measurement takes.
    #[serde(rename = "measured_seconds", serialize_with = "seconds")]
    pub(crate) measured: Duration,
    /// How long each attack of the part `neighbour` takes.
    #[serde(rename = "attacked_seconds", serialize_with = "seconds")]
    pub(crate) attacked: Duration,
}

impl Plan {
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let attacked =
            |seconds| Duration::from_secs(arguments.attack_seconds.unwrap_or(seconds).into());
        if arguments.quick {
            Self {
                rounds: arguments.rounds.unwrap_or(1),
                messages: 50_000,
                listeners: vec![100, 1000],
                idle_streams: 1000,
                warm_up: Duration::from_millis(200),
                measured: Duration::from_secs(1),
                attacked: attacked(3),
            }
        } else {
            Self {
                rounds: arguments.rounds.unwrap_or(3),
                messages: 1_000_000,
                listeners: vec![100, 1000, 5000],
                idle_streams: 5000,
                warm_up: Duration::from_millis(500),
                measured: Duration::from_millis(2500),
                attacked: attacked(15),
            }
        }
    }
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}
