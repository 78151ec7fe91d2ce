//! Users' pictures: drawn by the server until one is uploaded, and open to everybody.

use eddyline_client::{Client, Credentials, Json, Method, RawResponse};
use eddyline_tests::{Caller, Listener, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    a_picture_is_drawn_until_one_is_uploaded,
    a_size_may_be_appended,
    an_uploaded_picture_is_shown_in_the_next_larger_kept_size,
    a_picture_that_does_not_pack_is_kept_smaller,
    an_upload_has_a_new_address_and_is_told,
    deleting_goes_back_to_the_drawn_picture,
    a_picture_need_not_be_fetched_again,
    a_picture_opened_by_itself_does_nothing,
    what_is_no_picture_is_refused,
    one_has_only_ones_own_picture_changed,
];

/// The path of somebody's picture.
async fn picture_of(caller: &Caller) -> String {
    let avatar = caller.get("/user").await["avatar"]
        .as_str()
        .unwrap()
        .to_owned();
    format!("/{}", avatar.splitn(4, '/').nth(3).unwrap())
}

async fn fetch(client: &Client, path: &str) -> RawResponse {
    client
        .request(Method::GET, path)
        .anonymous()
        .send()
        .await
        .unwrap()
}

pub(crate) async fn upload(caller: &Caller, kind: &str, file: &[u8]) -> RawResponse {
    let path = format!("/users/{}/avatar", caller.id);
    caller
        .client
        .request(Method::PUT, &path)
        .raw(kind, file.to_vec())
        .send()
        .await
        .unwrap()
}

/// A black and white PNG picture of so many points a side, without compression.
pub(crate) fn png(side: u32) -> Vec<u8> {
    let mut rows = Vec::new();
    for row in 0..side {
        rows.push(0);
        rows.extend((0..side).map(|column| {
            if (row / 8 + column / 8) % 2 == 0 {
                0xff
            } else {
                0
            }
        }));
    }
    png_of(side, 0, &rows)
}

/// A picture of noise, which is transparent here and there.
fn noise(side: u32) -> Vec<u8> {
    let (mut rows, mut state) = (Vec::new(), 1_u32);
    for _ in 0..side {
        rows.push(0);
        rows.extend((0..side * 4).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        }));
    }
    png_of(side, 6, &rows)
}

/// A PNG picture of these rows, with this type of colour.
fn png_of(side: u32, colour: u8, rows: &[u8]) -> Vec<u8> {
    let mut stored = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = rows.chunks(0xffff).collect();
    for (number, block) in blocks.iter().enumerate() {
        let length = u16::try_from(block.len()).unwrap();
        stored.push(u8::from(number + 1 == blocks.len()));
        stored.extend(length.to_le_bytes());
        stored.extend((!length).to_le_bytes());
        stored.extend(*block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in rows {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    stored.extend((b << 16 | a).to_be_bytes());
    let mut header = [side.to_be_bytes(), side.to_be_bytes()].concat();
    header.extend([8, colour, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", stored), (b"IEND", Vec::new())] {
        file.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        let named = [&kind[..], &data].concat();
        file.extend(&named);
        file.extend(crc32(&named).to_be_bytes());
    }
    file
}

/// The same picture, but its head says that it has so many points a side.
pub(crate) fn png_that_claims(side: u32) -> Vec<u8> {
    let mut file = png(8);
    file[16..20].copy_from_slice(&side.to_be_bytes());
    file[20..24].copy_from_slice(&side.to_be_bytes());
    let sum = crc32(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    })
}

async fn a_picture_that_does_not_pack_is_kept_smaller(tenant: Tenant) {
    let answer = upload(&tenant.ben, "image/png", &noise(512)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let shown = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await).await;
    assert_eq!(
        (shown.status.as_u16(), shown.header("content-type")),
        (200, Some("image/png"))
    );
    assert!(
        (32 * 1024..=256 * 1024).contains(&shown.body.len()),
        "{}",
        shown.body.len()
    );
    // Those who come at the same time share it.
    let path = picture_of(&tenant.ben).await;
    let all =
        futures_util::future::join_all((0..100).map(|_| fetch(&tenant.ben.client, &path))).await;
    assert!(
        all.iter()
            .all(|again| again.status == 200 && again.body == shown.body)
    );
}

/// How wide a JPEG picture is: its frame header says so.
fn width_of_jpeg(file: &[u8]) -> u16 {
    let frame = file
        .windows(2)
        .position(|pair| matches!(pair, [0xff, 0xc0..=0xc2]))
        .unwrap();
    u16::from_be_bytes([file[frame + 7], file[frame + 8]])
}

/// Shows: 2.16
async fn a_picture_is_drawn_until_one_is_uploaded(tenant: Tenant) {
    let answer = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, Some("image/svg+xml"))
    );
    assert!(
        answer.text().starts_with("<svg") && answer.text().contains(">B<"),
        "{}",
        answer.text()
    );
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"name": "Zoë Zimt"}))
        .await;
    let renamed = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await)
        .await
        .text();
    assert!(renamed.contains(">ZZ<"), "{renamed}");
    let colour = |drawing: &str| drawing.split("fill=\"").nth(1).unwrap()[..7].to_owned();
    assert_eq!(colour(&renamed), colour(&answer.text()), "the colour stays");
    let nobody = "/avatars/00000000000000000000000000000000/";
    for path in [
        nobody,
        "/avatars/x/",
        "/avatars/..%2f",
        &format!("{nobody}120"),
    ] {
        let answer = fetch(&tenant.ben.client, path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (404, json!({"message": "not found"})),
            "{path}"
        );
    }
}

async fn a_size_may_be_appended(tenant: Tenant) {
    let picture = picture_of(&tenant.ben).await;
    let drawn = fetch(&tenant.ben.client, &format!("{picture}120"))
        .await
        .text();
    assert!(
        drawn.contains(r#"width="120""#) && drawn.contains(r#"height="120""#),
        "{drawn}"
    );
    assert_eq!(
        fetch(&tenant.ben.client, &format!("{picture}120/"))
            .await
            .text(),
        drawn
    );
    for path in [
        picture.clone(),
        picture.trim_end_matches('/').to_owned(),
        format!("/v1{picture}"),
    ] {
        assert_eq!(fetch(&tenant.ben.client, &path).await.status, 200, "{path}");
    }
    for wrong in ["0", "-1", "x", "99999999999", "1.5"] {
        assert_eq!(
            fetch(&tenant.ben.client, &format!("{picture}{wrong}"))
                .await
                .status,
            404,
            "{wrong}"
        );
    }
}

async fn an_uploaded_picture_is_shown_in_the_next_larger_kept_size(tenant: Tenant) {
    assert_eq!(
        upload(&tenant.ben, "image/png", &png(600)).await.status,
        200
    );
    let picture = picture_of(&tenant.ben).await;
    for (size, width) in [
        ("", 512),
        ("512", 512),
        ("9999", 512),
        ("257", 512),
        ("256", 256),
        ("120", 128),
        ("97", 128),
        ("96", 96),
        ("65", 96),
        ("64", 64),
        ("33", 64),
        ("32", 32),
        ("1", 32),
    ] {
        let answer = fetch(&tenant.ada.client, &format!("{picture}{size}")).await;
        assert_eq!(answer.header("content-type"), Some("image/jpeg"), "{size}");
        assert_eq!(width_of_jpeg(&answer.body), width, "{size}");
    }
    let tags = async |size: u32| {
        let answer = fetch(&tenant.ada.client, &format!("{picture}{size}")).await;
        answer.header("etag").unwrap().to_owned()
    };
    assert_eq!(tags(100).await, tags(128).await, "it is the same picture");
}

async fn an_upload_has_a_new_address_and_is_told(tenant: Tenant) {
    let mut stream = Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    let before = picture_of(&tenant.ben).await;
    let mut kinds = vec![];
    for kind in ["image/png", "application/octet-stream", "", "image/jpeg"] {
        let answer = upload(&tenant.ben, kind, &png(8)).await;
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        assert_eq!(answer.json(), tenant.ben.get("/user").await);
        kinds.push(picture_of(&tenant.ben).await);
        assert_eq!(
            stream.event("user-edit").await["content"]["user"]["id"],
            tenant.ben.id
        );
    }
    kinds.push(before.clone());
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 5, "each has its own address");
    assert_eq!(fetch(&tenant.ben.client, &before).await.status, 404);
    let flow = tenant.ada.get(&tenant.path("")).await;
    let shown = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["id"] == tenant.ben.id)
        .unwrap();
    assert!(
        shown["avatar"]
            .as_str()
            .unwrap()
            .ends_with(&picture_of(&tenant.ben).await)
    );
}

async fn deleting_goes_back_to_the_drawn_picture(tenant: Tenant) {
    let path = format!("/users/{}/avatar", tenant.ben.id);
    let drawn = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await)
        .await
        .text();
    upload(&tenant.ben, "image/png", &png(8)).await;
    let uploaded = picture_of(&tenant.ben).await;
    for _ in 0..2 {
        let answer = tenant.ben.send(Method::DELETE, &path, &Json::Null).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (204, ""));
    }
    assert_eq!(fetch(&tenant.ben.client, &uploaded).await.status, 404);
    assert_eq!(
        fetch(&tenant.ben.client, &picture_of(&tenant.ben).await)
            .await
            .text(),
        drawn
    );
}

async fn a_picture_need_not_be_fetched_again(tenant: Tenant) {
    upload(&tenant.ben, "image/png", &png(8)).await;
    for (caller, caching) in [
        (&tenant.ada, "public, max-age=3600"),
        (&tenant.ben, "public, max-age=31536000, immutable"),
    ] {
        let picture = format!("{}64", picture_of(caller).await);
        let answer = fetch(&caller.client, &picture).await;
        assert_eq!(answer.header("cache-control"), Some(caching));
        let tag = answer.header("etag").unwrap().to_owned();
        let request = caller
            .client
            .request(Method::GET, &picture)
            .anonymous()
            .header("If-None-Match", &tag);
        let again = request.send().await.unwrap();
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        assert_eq!(
            (again.header("etag"), again.header("cache-control")),
            (Some(tag.as_str()), Some(caching))
        );
        let request = caller
            .client
            .request(Method::GET, &picture)
            .anonymous()
            .header("If-None-Match", "\"x\"");
        assert_eq!(request.send().await.unwrap().body, answer.body);
    }
}

async fn a_picture_opened_by_itself_does_nothing(tenant: Tenant) {
    let answer = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await).await;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    assert_eq!(answer.header("content-security-policy"), Some(policy));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    // A name is text in it, whatever it holds.
    tenant
        .ben
        .does(
            Method::PUT,
            "/user",
            &json!({"name": "<script>alert(1)</script>"}),
        )
        .await;
    let drawing = fetch(&tenant.ben.client, &picture_of(&tenant.ben).await)
        .await
        .text();
    assert!(!drawing.contains("<script"), "{drawing}");
}

async fn what_is_no_picture_is_refused(tenant: Tenant) {
    let before = picture_of(&tenant.ben).await;
    let broken = &png(64)[..2000];
    for file in [
        &b""[..],
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        broken,
    ] {
        let answer = upload(&tenant.ben, "image/png", file).await;
        assert_eq!(answer.status, 400, "{} bytes", file.len());
        assert!(
            answer.json()["errors"]["avatar"].is_array(),
            "{}",
            answer.text()
        );
    }
    for kind in [
        "application/json",
        "text/html",
        "image/svg+xml",
        "application/x-www-form-urlencoded",
    ] {
        assert_eq!(
            upload(&tenant.ben, kind, &png(8)).await.status,
            415,
            "{kind}"
        );
    }
    let large = vec![0; 5 * 1024 * 1024 + 1];
    assert_eq!(upload(&tenant.ben, "image/png", &large).await.status, 413);
    assert_eq!(
        upload(&tenant.ben, "image/png", &large[1..]).await.status,
        400,
        "large enough to be looked at"
    );
    assert_eq!(picture_of(&tenant.ben).await, before);
}

async fn one_has_only_ones_own_picture_changed(tenant: Tenant) {
    let path = format!("/users/{}/avatar", tenant.ben.id);
    let before = picture_of(&tenant.ben).await;
    let (stranger, token) = (
        tenant.neighbour().ada.client.clone(),
        Credentials::FlowToken(tenant.flow_token()),
    );
    let callers = [
        (tenant.ada.client.clone(), 403),
        (stranger, 404),
        (tenant.client(token), 403),
        (tenant.client(Credentials::None), 401),
    ];
    for (client, expected) in callers {
        let put = client.request(Method::PUT, &path).raw("image/png", png(8));
        let delete = client.request(Method::DELETE, &path);
        for request in [put, delete] {
            assert_eq!(request.send().await.unwrap().status.as_u16(), expected);
        }
    }
    assert_eq!(picture_of(&tenant.ben).await, before);
}
