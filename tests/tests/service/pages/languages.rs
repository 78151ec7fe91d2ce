//! The languages of the pages: the one that the browser asks for, or the one chosen in it.

use eddyline_tests::{CSRF, Page, Tenant, Visitor, on_shared_servers};

use super::{PASSWORD, is_hardened};

on_shared_servers![
    pages_are_in_the_language_that_the_browser_likes_best,
    pages_are_in_english_where_the_browser_wants_none_of_ours,
    a_form_says_in_the_language_of_its_page_what_is_wrong,
    a_chosen_language_goes_before_that_of_the_browser,
];

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const GERMAN: &str = "Accept-Language: de";

async fn get(visitor: &mut Visitor, path: &str, language: &str) -> Page {
    visitor.send("GET", path, &[language], "").await
}

#[track_caller]
fn is_in(page: &Page, language: &str, words: &str, path: &str) {
    page.says(200, &format!("<html lang=\"{language}\""));
    page.says(200, words);
    page.is_named_throughout(path);
    is_hardened(page, path);
}

async fn pages_are_in_the_language_that_the_browser_likes_best(tenant: Tenant) {
    let mut stranger = tenant.server().visitor();
    for (path, words) in [
        ("/sign-in", "<h1>Anmelden</h1>"),
        ("/password", "Link schicken</button>"),
    ] {
        is_in(&get(&mut stranger, path, GERMAN).await, "de", words, path);
    }
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let organization = |rest: &str| format!("/app/{}/settings{rest}", tenant.name);
    let settings = |rest: &str| format!("/app/{}/settings{rest}", tenant.main);
    for (path, words) in [
        ("/account", "<h1>Dein Konto</h1>"),
        ("/account/notifications", ">Zeitzone</label>"),
        ("/account/applications", "<h1>Anwendungen</h1>"),
        ("/account/tokens", "API-Token erstellen</button>"),
        ("/account/sessions", "Diese hier."),
        (&organization(""), "<h2>Personen und Adressen</h2>"),
        (&organization("/applications"), "Registrierte Anwendungen"),
        (
            &organization("/identity-provider"),
            "Noch ist keiner verbunden.",
        ),
        (
            &organization("/audit"),
            "<h3>Eine Person hat sich angemeldet</h3>",
        ),
        ("/developer", "Redirect-URIs</label>"),
        (&settings(""), ">Beschreibung</label>"),
        (&settings("/leave"), "Nein, zurück"),
        (&settings("/archive"), "Solange er archiviert ist"),
        (&settings("/members"), "<h2>2 Mitglieder</h2>"),
        (&settings("/invitations"), "Keine Einladung steht aus."),
        (&settings("/joining"), "<h1>Wer beitreten darf</h1>"),
        (&settings("/sources"), "<h1>Quellen</h1>"),
        (&settings("/notifications"), "Wie in deinem Konto"),
        (
            &format!("/app/{}/settings/people", tenant.name),
            " · Administrator",
        ),
    ] {
        is_in(&get(&mut ada, path, GERMAN).await, "de", words, path);
    }
}

async fn pages_are_in_english_where_the_browser_wants_none_of_ours(tenant: Tenant) {
    let french = "Accept-Language: fr, en;q=0.5";
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let settings = format!("/app/{}/settings/members", tenant.main);
    for (path, words) in [
        ("/account", "<h1>Your account</h1>"),
        (&settings, "<h2>2 members</h2>"),
    ] {
        is_in(&get(&mut ada, path, french).await, "en", words, path);
    }
    let mut stranger = tenant.server().visitor();
    let page = get(&mut stranger, "/sign-in", french).await;
    is_in(&page, "en", "<h1>Sign in</h1>", "/sign-in");
}

async fn a_form_says_in_the_language_of_its_page_what_is_wrong(tenant: Tenant) {
    let mut stranger = tenant.server().visitor();
    stranger.get("/password").await;
    let token = stranger.cookie(CSRF).expect("every page brings a token");
    let sent = format!("csrf={token}&email=nobody&password=none");
    for (path, wrong) in [
        ("/password", "E-Mail-Adresse ist ungültig"),
        (
            "/sign-in",
            "Die E-Mail-Adresse oder das Passwort ist falsch.",
        ),
    ] {
        let page = stranger.send("POST", path, &[FORM, GERMAN], &sent).await;
        page.says(400, "<h2>Da stimmt etwas nicht</h2>");
        page.says(400, wrong);
    }
}

async fn a_chosen_language_goes_before_that_of_the_browser(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let choice = [("part", "language"), ("language", "de")];
    let sent = ben.post("/account", &choice).await;
    assert_eq!(sent.sent_on(), "/account?done=language");
    let done = get(&mut ben, sent.sent_on(), "Accept-Language: en").await;
    done.says(200, "Deine Sprache wurde in diesem Browser gespeichert.");
    let page = ben.upload("/account/picture", "avatar", b"").await;
    page.says(400, "Neues Bild fehlt");

    let none = [("part", "language"), ("language", "browser")];
    ben.post("/account", &none).await;
    let page = get(&mut ben, "/account", "Accept-Language: en").await;
    is_in(&page, "en", "<h1>Your account</h1>", "/account");
}
