//! Many listeners to one flow, and every message to each of them.

mod gathering;
mod ledger;
mod mark;
mod publisher;
mod stream;

pub(crate) use self::mark::Mark;
pub(crate) use self::stream::{Stream, open};

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::gathering::Gathering;
use self::publisher::{Pace, Publisher};
use crate::Result;
use crate::interval::Interval;
use crate::plan::{Plan, STEADY_DELIVERIES, WINDOW};
use crate::process::Family;
use crate::report::{Metric, Sample};

/// How many streams are opened at once.
const OPENING: usize = 64;
/// For a server whose answer does not mean yet that it listens.
const SETTLE: Duration = Duration::from_millis(200);
/// How long messages may take that are under way at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something to publish to and to listen to.
pub(crate) struct Fanout<'a> {
    /// Where to publish.
    pub(crate) publish: SocketAddr,
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// The server's processes.
    pub(crate) server: &'a Family,
    /// A request of a publisher; its body holds [`Mark::PLACE`] once.
    pub(crate) message: &'a dyn Fn(usize) -> Vec<u8>,
    /// What a listener asks for before the stream, on the same connection.
    pub(crate) opening: Option<&'a [u8]>,
    /// The request of a listener.
    pub(crate) stream: &'a dyn Fn(usize) -> Vec<u8>,
}

/// What a number of listeners came to.
pub(crate) struct Outcome {
    /// As fast as it goes.
    pub(crate) fastest: Sample,
    /// At [`STEADY_DELIVERIES`].
    pub(crate) steady: Sample,
}

impl Fanout<'_> {
    /// Lets `listeners` listen, and publishes.
    pub(crate) async fn run(&self, plan: &Plan, listeners: usize) -> Result<Outcome> {
        let gathering = Rc::new(Gathering::of(listeners));
        let mut tasks = JoinSet::new();
        let mut opening = futures_util::stream::iter(0..listeners)
            .map(|number| open(self.listen, self.opening, (self.stream)(number)))
            .buffered(OPENING)
            .enumerate();
        while let Some((number, stream)) = opening.next().await {
            tasks.spawn_local(gathering.clone().listen(number, stream?));
        }
        drop(opening);
        sleep(SETTLE).await;
        let fastest = self
            .measure(plan, &gathering, &[Pace::Window(WINDOW); 2])
            .await?;
        let gap = Duration::from_secs_f64(listeners as f64 / STEADY_DELIVERIES as f64);
        let steady = self.measure(plan, &gathering, &[Pace::Every(gap)]).await?;
        Ok(Outcome { fastest, steady })
    }

    /// Publishes at these paces, each on a connection of its own, until every message has arrived.
    async fn measure(
        &self,
        plan: &Plan,
        gathering: &Rc<Gathering>,
        paces: &[Pace],
    ) -> Result<Sample> {
        gathering.begin();
        let mut publishers = JoinSet::new();
        for (number, pace) in paces.iter().enumerate() {
            let message = (self.message)(number);
            let publisher =
                Publisher::open(self.publish, number, message, gathering.clone()).await?;
            publishers.spawn_local(publisher.run(*pace));
        }
        sleep(plan.warm_up).await;
        let interval = Interval::begin(self.server)?;
        gathering.record(true);
        sleep(plan.measured).await;
        gathering.record(false);
        let spent = interval.end()?;
        gathering.stop();
        let all_ended = async {
            while publishers.join_next().await.is_some() {}
            gathering.all_delivered().await;
        };
        // What has not come by then is counted as missed.
        let _ = timeout(PATIENCE, all_ended).await;
        let mut sample = Sample::of_operations(Metric::Deliveries, &gathering.times(), spent);
        sample.faults = gathering.faults();
        Ok(sample)
    }
}

/// Opens streams that nobody reads from.
pub(crate) async fn open_all(
    address: SocketAddr,
    requests: impl Iterator<Item = Vec<u8>>,
) -> Result<Vec<stream::Stream>> {
    futures_util::stream::iter(requests)
        .map(|request| open(address, None, request))
        .buffered(OPENING)
        .try_collect()
        .await
}
