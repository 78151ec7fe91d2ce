//! Very many listeners, who are cut off and come back all at once.

use std::time::{Duration, Instant};

use eddyline_tests::Server;
use eddyline_tests::chaos::{Address, Cast, Crowd, Manner, Others, Run, in_time, plan};

use crate::on_both_databases;

on_both_databases![a_crowd_that_comes_back_at_once_misses_nothing: "a crowd comes back at once"];

/// In a long run, how soon everybody is served again.
const SERVED_WITHIN: Duration = Duration::from_secs(30);
/// In a long run, for how long there may be no answer to those who post meanwhile.
const SILENCE: Duration = Duration::from_secs(5);

async fn a_crowd_that_comes_back_at_once_misses_nothing(server: Server, name: String) {
    let count = plan().choose(300, 10_000);
    // Ten messages a second for a minute; or more of them for a moment.
    let (pace, answers) = plan().choose(
        (Duration::from_millis(10), 50),
        (Duration::from_millis(100), 600),
    );
    let manner = Manner {
        pace,
        ..Manner::default()
    };
    let cast = Cast {
        posters: 1,
        readers: 1,
        listeners: 2,
        manner,
        ..Cast::default()
    };
    let run = Run::begin(&name, &[&server], cast).await;

    let started = Instant::now();
    let crowd = Crowd::start(
        &Address::new(server.stream_url(), &run.people.ada.token),
        count,
    );
    in_time("all streams are open", crowd.all_open()).await;
    let opening = started.elapsed();
    let first = run.post_surely("all are here").await;
    let mut rounds = plan().rounds(plan().choose(2, 1), 0.0);
    let mut remarks = vec![format!("{count} open in {:.2} s", opening.as_secs_f64())];
    while rounds.another() {
        run.deeds.more_answers(answers).await;
        let _ = run.deeds.longest_silence();
        let (cut, before) = (crowd.cut(), run.deeds.answers());
        let missed = run.post_surely(&format!("missed-{}", rounds.done())).await;
        in_time("all are back", crowd.all_open()).await;
        in_time("all heard what they missed", crowd.all_heard(missed)).await;
        let (time, silence) = (cut.elapsed(), run.deeds.longest_silence());
        let posted = run.deeds.answers() - before;
        remarks.push(format!(
            "back in {:.2} s, {posted} posts meanwhile, at most {:.0} ms without",
            time.as_secs_f64(),
            silence.as_secs_f64() * 1000.0
        ));
        if plan().is_long() {
            assert!(
                time <= SERVED_WITHIN,
                "all were served again after {time:?}"
            );
            assert!(
                silence <= SILENCE,
                "there was no answer to a post for {silence:?}"
            );
        }
    }
    let finished = run.stop().await;
    in_time("all heard the last message", crowd.all_heard(finished.last)).await;
    let failures = crowd.failures();
    if let Some(failure) = failures.first() {
        remarks.push(format!("{} tried again: {failure}", failures.len()));
    }
    let others = Others {
        after: first - 1,
        heard: crowd.finish().await,
    };
    finished
        .judge(rounds.done(), remarks.join("; "), others)
        .await;
}
