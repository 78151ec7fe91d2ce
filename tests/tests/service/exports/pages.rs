//! The pages of an archive, in a browser and from the disk.

use std::fs::File;

use super::{Browser, PIXEL, Server, Site, block_in_place, in_json, json};
use eddyline_tests::Backend;

/// Texts that would run something, were they taken for HTML.
const HOSTILE: &[&str] = &[
    "<script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "</p></article></main><svg onload=\"document.title='run'\">",
    "[click](javascript:document.title='run') javascript:document.title='run'",
];

async fn say_hostile_things(server: &Server) {
    let acme = block_in_place(|| server.acme());
    for text in HOSTILE {
        acme.ada.say("acme/main", text).await;
    }
    let page = b"<!doctype html><script>document.title = 'run'</script>";
    acme.ada
        .post("acme/main", &in_json("<b>page.html", "text/html", page))
        .await;
    acme.ben
        .post("acme/main", &in_json("dot.png", "image/png", PIXEL))
        .await;
    let item = json!({"event": "message", "content": "`code` and https://example.org/"});
    acme.ben.post("acme/main", &item).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_show_hostile_texts_and_run_nothing() {
    let Some(browser) = block_in_place(Browser::start) else {
        return;
    };
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    say_hostile_things(&server).await;
    let (archive, _) = site.export("main.tar", &["flow", "acme/main"]);
    let unpacked = site.directory.path().join("unpacked");
    tar::Archive::new(File::open(&archive).unwrap())
        .unpack(&unpacked)
        .unwrap();
    block_in_place(|| {
        browser.open(&format!("file://{}/index.html", unpacked.display()));
        assert_eq!(browser.audit(), [""; 0]);
        browser.press("main");
        browser.execute("document.querySelector('.pages a').click()");
        browser.wait_for("document.querySelectorAll('article').length === 7");
        let text = browser.text();
        for hostile in HOSTILE {
            assert!(text.contains(hostile), "{text}");
        }
        assert_eq!(browser.title(), "main, page 1");
        assert_eq!(browser.count("script, svg, [onerror], [onload]"), 0);
        assert_eq!(browser.count("a[href^='javascript:']"), 0);
        let shown =
            "[...document.images].every(image => image.complete && image.naturalWidth === 1)";
        browser.wait_for(shown);
        assert_eq!(browser.count("img"), 1);
        assert_eq!(browser.audit(), [""; 0]);
        browser.set_window_size(360, 640);
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        browser.wait_for(fits);

        // A page that somebody has sent is not opened as one, but by its end as a file of bytes.
        browser.press("<b>page.html");
        assert_ne!(browser.title(), "run");
        // Were a script in the page after all, the policy would not let it run.
        let inserted = "const script = document.createElement('script'); \
            script.textContent = \"document.title = 'run'\"; document.body.append(script); return document.title";
        assert_eq!(browser.execute(inserted), "main, page 1");
    });
}
