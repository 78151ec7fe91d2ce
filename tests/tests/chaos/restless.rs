//! Listeners who come back all the time.

use eddyline_tests::Server;
use eddyline_tests::chaos::{Cast, Habit, Run, plan};

use crate::on_both_databases;

on_both_databases![who_comes_back_all_the_time_hears_everything_once: "reconnecting all the time"];

async fn who_comes_back_all_the_time_hears_everything_once(server: Server, name: String) {
    let cast = Cast {
        habit: Habit::Restless,
        listeners: 9,
        ..Cast::default()
    };
    let mut run = Run::begin(&name, &[&server], cast).await;
    let mut rounds = plan().rounds(10, 0.05);
    while rounds.another() {
        run.a_while(40).await;
    }
    run.end(rounds.done(), String::new()).await;
}
