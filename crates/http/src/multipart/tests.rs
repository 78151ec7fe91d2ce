use std::convert::Infallible;

use futures_util::stream;
use proptest::prelude::*;

use super::*;

const KIND: &str = "multipart/form-data; boundary=edge";

type Read = Vec<(String, Option<String>, Vec<u8>)>;

/// Reads a body that comes in pieces of this size.
async fn read(body: &[u8], size: usize) -> Result<Read, MultipartError> {
    let pieces: Vec<_> = body
        .chunks(size)
        .map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)))
        .collect();
    let mut form = Multipart::new(stream::iter(pieces), KIND)?;
    let mut all = Vec::new();
    while let Some(mut part) = form.next().await? {
        let (name, file_name) = (part.name.clone(), part.file_name.clone());
        if file_name.is_none() {
            all.push((name, None, form.text(part).await?.into_bytes()));
            continue;
        }
        let mut content = Vec::new();
        while let Some(chunk) = part.chunk().await? {
            assert!(chunk.len() <= PIECE + MAX_HEAD_BYTES, "{}", chunk.len());
            content.extend_from_slice(&chunk);
        }
        all.push((name, file_name, content));
    }
    Ok(all)
}

fn part(head: &str, content: &str) -> String {
    format!("--edge\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
}

fn form(parts: &[String]) -> Vec<u8> {
    format!("{}--edge--\r\n", parts.concat()).into_bytes()
}

#[tokio::test]
async fn parts_are_read_however_they_are_cut() {
    let body = form(&[
        part("name=\"event\"", "file"),
        part(
            "name=\"content\"; filename=\"grüße.txt\"",
            "a\r\n--edg\r\n\r\nb",
        ),
        part("name=\"empty\"", ""),
    ]);
    let expected: Read = vec![
        ("event".into(), None, b"file".to_vec()),
        (
            "content".into(),
            Some("grüße.txt".into()),
            b"a\r\n--edg\r\n\r\nb".to_vec(),
        ),
        ("empty".into(), None, vec![]),
    ];
    for size in [1, 2, 3, 7, 50, 10_000] {
        assert_eq!(read(&body, size).await.unwrap(), expected, "{size}");
    }
}

#[tokio::test]
async fn a_file_is_one_however_its_name_is_written() {
    for (head, name) in [
        (
            &b"filename*=UTF-8''gr%C3%BC%C3%9Fe.txt"[..],
            "gr\u{fc}\u{df}e.txt",
        ),
        (b"filename=\"gr\xfc\xdfe.txt\"", "gr\u{fc}\u{df}e.txt"),
    ] {
        let body = [
            &b"--edge\r\nContent-Disposition: form-data; name=\"content\"; "[..],
            head,
        ];
        let body = [&body.concat()[..], b"\r\n\r\nhello\r\n--edge--\r\n"].concat();
        let expected: Read = vec![("content".into(), Some(name.into()), b"hello".to_vec())];
        assert_eq!(read(&body, 64).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn what_is_cut_off_is_broken() {
    let body = form(&[part("name=\"content\"; filename=\"a\"", "hello")]);
    for end in 0..body.len() - 4 {
        assert!(
            matches!(read(&body[..end], 64).await, Err(MultipartError::Broken)),
            "{end}"
        );
    }
}

#[tokio::test]
async fn everything_is_bounded() {
    let many = form(&vec![part("name=\"a\"", ""); MAX_PARTS + 1]);
    assert!(matches!(
        read(&many, PIECE).await,
        Err(MultipartError::TooManyParts)
    ));
    let long = form(&[part("name=\"a\"", &"x".repeat(MAX_TEXT_BYTES + 1))]);
    assert!(matches!(read(&long, PIECE).await, Err(MultipartError::LongText(name)) if name == "a"));
    let head = form(&[part(&format!("name=\"{}\"", "x".repeat(1 << 20)), "")]);
    assert!(matches!(
        read(&head, PIECE).await,
        Err(MultipartError::LongHead)
    ));
    let before = [vec![b'x'; 1 << 20], form(&[part("name=\"a\"", "")])].concat();
    assert!(matches!(
        read(&before, PIECE).await,
        Err(MultipartError::LongHead)
    ));
    let headers = "X: y\r\n".repeat(100);
    let headers = form(&[format!("--edge\r\n{headers}\r\nz\r\n")]);
    assert!(read(&headers, PIECE).await.is_err());
}

#[tokio::test]
async fn a_part_has_a_name_and_a_text_is_utf8() {
    assert!(matches!(
        read(&form(&[part("filename=\"a\"", "")]), 64).await,
        Err(MultipartError::Nameless)
    ));
    let body =
        [&b"--edge\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xff\r\n--edge--\r\n"[..]]
            .concat();
    assert!(matches!(read(&body, 64).await, Err(MultipartError::Utf8(name)) if name == "a"));
    for kind in [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=a",
        "",
    ] {
        let nothing = stream::iter(Vec::<Result<Bytes, Infallible>>::new());
        assert!(
            matches!(Multipart::new(nothing, kind), Err(MultipartError::Boundary)),
            "{kind}"
        );
    }
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(body: Vec<u8>, text in "(--edge|\r\n|--|: |name=\"|;|[a-z ]){0,40}", size in 1_usize..20) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let _ = runtime.block_on(read(&body, size));
        let whole = runtime.block_on(read(text.as_bytes(), 10_000));
        let cut = runtime.block_on(read(text.as_bytes(), size));
        prop_assert_eq!(whole.ok(), cut.ok());
    }
}
