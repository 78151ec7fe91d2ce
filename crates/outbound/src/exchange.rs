//! One request and its answer, on a connection of their own.

use std::future::Future;
use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::Error;
use crate::target::Target;
use crate::{OutboundRequest, Response};

/// The most bytes of an answer's head.
const MAX_HEAD: usize = 32 * 1024;

pub(crate) async fn run<S>(
    stream: S,
    target: &Target,
    request: OutboundRequest,
    max: Option<usize>,
) -> Result<Response, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let handshake = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(Error::broken)?;
    let request = written(target, request);
    let answer = async move {
        let (head, body) = sender
            .send_request(request)
            .await
            .map_err(Error::broken)?
            .into_parts();
        let body = match max {
            Some(max) => read(body, max).await?,
            None => Bytes::new(),
        };
        Ok(Response {
            status: head.status,
            headers: head.headers,
            body,
        })
    };
    both(answer, connection).await
}

/// What goes over the wire, with headers that nobody else decides.
fn written(target: &Target, request: OutboundRequest) -> http::Request<Full<Bytes>> {
    let mut written = http::Request::new(Full::new(request.body));
    *written.method_mut() = request.method;
    *written.uri_mut() = target.path.clone();
    let mut headers: HeaderMap = request.headers;
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    headers.insert(HOST, target.host_header.clone());
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    *written.headers_mut() = headers;
    written
}

/// Waits for an answer while the connection is driven, which may end first.
async fn both<T>(answer: impl Future<Output = T>, connection: impl Future) -> T {
    let mut answer = pin!(answer);
    tokio::select! {
        answer = &mut answer => answer,
        _ = connection => answer.await,
    }
}

async fn read(mut body: Incoming, max: usize) -> Result<Bytes, Error> {
    if body.size_hint().lower() > max as u64 {
        return Err(Error::TooLarge);
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Error::broken)?.into_data() else {
            continue;
        };
        if read.len() + data.len() > max {
            return Err(Error::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}
