//! Two servers on one PostgreSQL, of which either dies at any moment: posters and listeners go to
//! the other one.

use eddyline_tests::chaos::{Cast, Run, plan};
use eddyline_tests::{Backend, Server};
use tokio::task::block_in_place;

#[test]
fn either_of_two_servers_dies_and_everybody_goes_on_at_the_other() {
    crate::in_turn(|| {
        let one = Server::start(Backend::Postgres)?;
        let other = one.another_node("node-2", &[]);
        Some(either_dies(one, other))
    });
}

async fn either_dies(mut one: Server, mut other: Server) {
    let cast = Cast {
        servers_die: true,
        ..Cast::default()
    };
    // Listeners begin at the one, posters at the other.
    let mut run = Run::begin("one of two servers killed, Postgres", &[&one, &other], cast).await;
    let mut rounds = plan().rounds(10, 0.15);
    while rounds.another() {
        run.a_while(30).await;
        let victim = if run.random.once_in(2) {
            &mut one
        } else {
            &mut other
        };
        victim.kill9();
        // Everybody meets at the one that is left.
        run.a_while(20).await;
        block_in_place(|| victim.restart());
    }
    run.a_while(30).await;
    run.end(rounds.done(), String::new()).await;
}
