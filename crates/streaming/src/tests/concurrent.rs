//! The promises hold when everybody acts at the same time.

use super::*;

const TOLD: i64 = 3000;
const ROOMS: i64 = 5;

#[test]
fn listeners_on_several_threads_get_everything_across_reconnects() {
    let world = World::new(HubConfig {
        ring_entries: 20,
        page_entries: 7,
        ..HubConfig::default()
    });
    world.log.slow.store(true, Ordering::SeqCst);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        let listeners: Vec<_> = (0..40)
            .map(|n| tokio::spawn(listen(world.clone(), n)))
            .collect();
        let teller = world.clone();
        let telling = tokio::spawn(async move {
            for n in 0..TOLD {
                teller.tell(room(n % 7 % ROOMS));
                if n % 5 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            teller.tell(Audience::Many {
                rooms: (0..ROOMS).map(RoomId).collect(),
                users: [].into(),
            });
        });
        telling.await.unwrap();
        for listener in listeners {
            listener.await.unwrap();
        }
    });
    assert_eq!(world.hub.listeners(), 0);
}

/// Listens to two rooms from the beginning to the last entry, and comes back again and again.
async fn listen(world: World, n: i64) {
    let filter = rooms(&[n % ROOMS, (n + 1) % ROOMS]);
    let mut heard: Vec<i64> = Vec::new();
    let mut lives = 0;
    while heard.last() != Some(&(TOLD + 1)) {
        lives += 1;
        let resume = after(heard.last().copied().unwrap_or(0));
        let mut stream = world
            .hub
            .subscribe(world.request(filter.clone(), resume))
            .await
            .unwrap();
        for _ in 0..(n + lives) % 23 + 2 {
            let batch = stream.next().await.unwrap();
            heard.extend(numbers(std::str::from_utf8(&batch.into_bytes()).unwrap()));
            if heard.last() == Some(&(TOLD + 1)) {
                break;
            }
        }
    }
    let all = world.log.entries.lock().unwrap();
    let mine = all.iter().filter(|entry| filter.admits(entry.audience()));
    assert_eq!(heard, mine.map(|entry| entry.seq().0).collect::<Vec<_>>());
}
