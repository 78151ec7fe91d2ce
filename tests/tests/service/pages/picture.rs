//! One's own picture, uploaded and removed on the page of the account.

use eddyline_client::{Client, Method, RawResponse};
use eddyline_tests::{CSRF, Page, Tenant, Visitor, on_shared_servers};

use super::{PASSWORD, is_hardened};
use crate::avatars::png;

on_shared_servers![
    a_picture_is_uploaded_shown_and_removed,
    what_is_no_picture_is_refused_on_the_page,
    a_picture_is_uploaded_by_its_owner_from_our_page_only,
];

const UPLOAD: &str = "/account/picture";
const DRAWN: &str = "image/svg+xml";

/// The address of the picture that the page shows.
fn shown(page: &Page) -> String {
    page.between("<img class=\"avatar\" src=\"", "\"")
        .to_owned()
}

async fn fetch(client: &Client, path: &str) -> RawResponse {
    client
        .request(Method::GET, path)
        .anonymous()
        .send()
        .await
        .unwrap()
}

/// The kind of the picture that the page of the account shows.
async fn kind(tenant: &Tenant, visitor: &mut Visitor) -> String {
    let page = visitor.get("/account").await;
    let answer = fetch(&tenant.ben.client, &shown(&page)).await;
    assert_eq!(answer.status, 200);
    answer.header("content-type").unwrap().to_owned()
}

async fn a_picture_is_uploaded_shown_and_removed(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let page = ben.get("/account").await;
    page.says(200, "enctype=\"multipart/form-data\"");
    assert!(!page.text.contains("Remove the picture"), "{}", page.text);
    assert_eq!(kind(&tenant, &mut ben).await, DRAWN);

    let page = ben.upload(UPLOAD, "avatar", &png(600)).await;
    assert_eq!(page.sent_on(), "/account?done=picture");
    let page = ben.get("/account?done=picture").await;
    page.says(200, "Your picture has been changed.");
    page.is_named_throughout("/account");
    assert_ne!(kind(&tenant, &mut ben).await, DRAWN);
    let listed = tenant.ben.get("/user").await["avatar"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        listed.ends_with(shown(&page).strip_suffix("192").unwrap()),
        "{listed}"
    );

    let page = ben.post("/account", &[("part", "no-picture")]).await;
    assert_eq!(page.sent_on(), "/account?done=no-picture");
    let page = ben.get("/account?done=no-picture").await;
    page.says(200, "Your initials are shown instead.");
    assert!(!page.text.contains("Remove the picture"), "{}", page.text);
    assert_eq!(kind(&tenant, &mut ben).await, DRAWN);
}

async fn what_is_no_picture_is_refused_on_the_page(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let page = ben.upload(UPLOAD, "avatar", b"no picture").await;
    page.says(400, "<a href=\"#picture-avatar\">New picture ");
    is_hardened(&page, UPLOAD);
    page.is_named_throughout(UPLOAD);
    for (name, file) in [("avatar", &b""[..]), ("other", b"text")] {
        ben.upload(UPLOAD, name, file)
            .await
            .says(400, "New picture can&#39;t be blank");
    }
    ben.upload(UPLOAD, "avatar", &vec![0; 5 * 1024 * 1024 + 1])
        .await
        .says(413, "That’s too large");
    ben.upload(UPLOAD, "other", &png(64))
        .await
        .says(400, "Other is not valid UTF-8");
    let broken = "Content-Type: multipart/form-data";
    ben.send("POST", UPLOAD, &[broken], "x")
        .await
        .says(400, "couldn’t read this form");
    let plain = "Content-Type: application/x-www-form-urlencoded";
    ben.send("POST", UPLOAD, &[plain], "avatar=x")
        .await
        .says(415, "couldn’t read this form");
    let page = ben.get(UPLOAD).await;
    assert_eq!((page.status, page.header("allow")), (405, "POST"));
    assert_eq!(kind(&tenant, &mut ben).await, DRAWN);
}

async fn a_picture_is_uploaded_by_its_owner_from_our_page_only(tenant: Tenant) {
    let mut nobody = tenant.server().visitor();
    nobody.get("/sign-in").await;
    assert_eq!(
        nobody.upload(UPLOAD, "avatar", &png(64)).await.sent_on(),
        "/sign-in?next=%2Faccount"
    );

    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let body = |token: &str| {
        format!(
            "--parts\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n\
             --parts\r\nContent-Disposition: form-data; name=\"avatar\"; filename=\"a.svg\"\r\n\r\n<svg/>\r\n\
             --parts--\r\n"
        )
    };
    let parts = eddyline_tests::PARTS;
    for token in ["", &"0".repeat(64), nobody.cookie(CSRF).unwrap()] {
        let page = ben.send("POST", UPLOAD, &[parts], &body(token)).await;
        page.says(403, "We couldn’t accept this form");
    }
    let own = ben.cookie(CSRF).unwrap().to_owned();
    let foreign = "Sec-Fetch-Site: cross-site";
    let page = ben
        .send("POST", UPLOAD, &[parts, foreign], &body(&own))
        .await;
    page.says(403, "We couldn’t accept this form");
    let page = ben.send("POST", UPLOAD, &[parts], &body(&own)).await;
    page.says(400, "<a href=\"#picture-avatar\">New picture ");
    assert_eq!(kind(&tenant, &mut ben).await, DRAWN);
}
