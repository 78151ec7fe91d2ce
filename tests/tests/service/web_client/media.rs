//! Files in the chat: sounds and films are played in their rows, every file can be kept, and several
//! are added at once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Patience, Server, on_both_databases};
use serde_json::json;
use tokio::runtime::Handle;

use super::{ENTER, MAIN, WRITE, complaints, open, open_flow, ready, sees, shows, write};

on_both_databases![
    sounds_and_films_are_played_in_their_rows,
    the_card_of_a_file_leads_to_the_file,
    several_files_are_pasted_or_dropped_at_once,
];

on_both_databases![&["--profile", "classic"]; a_file_is_sent_to_one_person_where_conversations_take_files];

/// Records a film of 32 by 16 pixels, and gives it in base64.
const FILM: &str =
    "const canvas = Object.assign(document.createElement('canvas'), { width: 32, height: 16 });
    const pen = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
    const parts = [];
    recorder.ondataavailable = ({ data }) => data.size > 0 && parts.push(data);
    let shade = 0;
    const painting = setInterval(() => {
        shade = (shade + 40) % 256;
        pen.fillStyle = `rgb(${shade} 0 0)`;
        pen.fillRect(0, 0, 32, 16);
        if (parts.length > 0 && recorder.state !== 'inactive') recorder.stop();
    }, 20);
    const done = new Promise((resolve) => { recorder.onstop = resolve; });
    recorder.start(100);
    return done.then(async () => {
        clearInterval(painting);
        const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
        return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(''));
    });";

/// A tenth of a second of silence, as WAV: 8,000 samples of a byte in a second.
fn sound() -> Vec<u8> {
    let samples = [128; 800];
    let mut wav = b"RIFF".to_vec();
    let word = |number: u32| number.to_le_bytes();
    wav.extend(word(36 + 800));
    wav.extend(b"WAVEfmt ");
    // The length of this part, PCM, and one channel.
    wav.extend(word(16));
    wav.extend([1, 0, 1, 0]);
    wav.extend(word(8000));
    wav.extend(word(8000));
    // A byte for each sample, of 8 bits.
    wav.extend([1, 0, 8, 0]);
    wav.extend(b"data");
    wav.extend(word(800));
    wav.extend(samples);
    wav
}

async fn sounds_and_films_are_played_in_their_rows(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let film = tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.execute(FILM).as_str().unwrap().to_owned()
    });
    for (name, kind, data) in [
        ("bell.wav", "audio/wav", STANDARD.encode(sound())),
        ("tide.webm", "video/webm", film),
    ] {
        let content = json!({"data": data, "content_type": kind, "file_name": name});
        ben.post(MAIN, &json!({"event": "file", "content": content}))
            .await;
    }
    tokio::task::block_in_place(|| {
        // First the rows that the script has filled, then those of the server.
        for _ in 0..2 {
            plays(&browser, "audio", "bell.wav", "duration === 0.1");
            plays(&browser, "video", "tide.webm", "videoWidth === 32");
            assert_eq!(browser.count("#chat .file"), 2, "each can be kept as well");
            assert_eq!(browser.audit(), [""; 0]);
            assert_eq!(complaints(&browser), [""; 0]);
            open_flow(&browser, &server, "");
        }
    });
}

/// The row has a player with this name, which has loaded the file.
fn plays(browser: &Browser, media: &str, name: &str, condition: &str) {
    let player = format!("#chat article {media}[controls][aria-label='{name}']");
    shows(browser, &player);
    let find = format!("document.querySelector(\"{player}\")");
    let asked = browser.execute(&format!("return {find}.readyState"));
    assert_eq!(asked, 0, "nothing is loaded before it is asked for");
    browser.execute(&format!("{find}.preload = 'auto'; {find}.load()"));
    browser.wait_for(&format!(
        "{find}.error || ({find}.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && {find}.{condition})"
    ));
    let error = browser.execute(&format!("return {find}.error?.message ?? null"));
    assert_eq!(error, json!(null), "{name}");
}

async fn the_card_of_a_file_leads_to_the_file(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let content = json!({
        "data": STANDARD.encode("a,b\n1,2\n"), "content_type": "text/csv", "file_name": "table.csv",
    });
    let file = json!({"event": "file", "content": content});
    ben.post(MAIN, &file).await;
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("table.csv");
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let place = json!({"behavior": "allow", "downloadPath": folder.path()});
        browser.command("Browser.setDownloadBehavior", &place);
        assert_eq!(
            browser.attribute("#chat .file .kind", "hidden"),
            None,
            "the card says what it is"
        );
        browser.type_keys("#chat .file", ENTER);
        let patience = Patience::until("the file is kept");
        while std::fs::read(&kept).unwrap_or_default() != b"a,b\n1,2\n" {
            Handle::current().block_on(patience.goes_on());
        }
        browser.command(
            "Browser.setDownloadBehavior",
            &json!({"behavior": "default"}),
        );
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_file_is_sent_to_one_person_where_conversations_take_files(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let page = |user: i64| format!("{}/app/-/private/{user}", server.base_url());
    tokio::task::block_in_place(|| {
        for (browser, user, with) in [(&one, &ada, &ben), (&other, &ben, &ada)] {
            open(browser, &server, user);
            browser.open(&page(with.id));
            ready(browser);
        }
        one.execute(&format!(
            "const transfer = new DataTransfer();
             transfer.items.add(new File(['tea'], 'secret.txt', {{ type: 'text/plain' }}));
             document.querySelector('{WRITE}').dispatchEvent(new ClipboardEvent('paste',
                 {{ clipboardData: transfer, bubbles: true, cancelable: true }}));",
        ));
        write(&one, "Only for you");
        // First the row that the script has filled, then that of the server.
        for _ in 0..2 {
            for browser in [&one, &other] {
                sees(browser, "Only for you");
                shows(browser, "#chat article[data-id] .file");
                let read = browser.execute(
                    "const link = document.querySelector('#chat .file a, #chat a.file');
                     return fetch(link.href).then((answer) => answer.text());",
                );
                assert_eq!(read, "tea");
                assert_eq!(complaints(browser), [""; 0]);
            }
            one.open(&page(ben.id));
            ready(&one);
        }
    });
}

async fn several_files_are_pasted_or_dropped_at_once(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let transfer = |names: [&str; 2]| {
        let add = |name| {
            format!("transfer.items.add(new File(['tea'], '{name}', {{ type: 'text/plain' }}));")
        };
        format!(
            "const transfer = new DataTransfer(); {}",
            names.map(add).concat()
        )
    };
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        one.execute(&format!(
            "{} document.querySelector('{WRITE}').dispatchEvent(new ClipboardEvent('paste',
                 {{ clipboardData: transfer, bubbles: true, cancelable: true }}));",
            transfer(["one.txt", "two.txt"])
        ));
        one.execute(&format!(
            "{} document.querySelector('#chat').dispatchEvent(new DragEvent('drop',
                 {{ dataTransfer: transfer, bubbles: true, cancelable: true }}));",
            transfer(["three.txt", "four.txt"])
        ));
        assert_eq!(one.count("#composer .going"), 4);
        write(&one, "Four files");
        for browser in [&one, &other] {
            sees(browser, "Four files");
            browser
                .wait_for("document.querySelectorAll('#chat article[data-id] .file').length === 4");
            let names = browser.execute(
                "return [...document.querySelectorAll('#chat .file .name')].map((place) => place.textContent)",
            );
            assert_eq!(
                names,
                json!(["one.txt", "two.txt", "three.txt", "four.txt"])
            );
            assert_eq!(complaints(browser), [""; 0]);
        }
    });
}
