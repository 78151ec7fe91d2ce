//! Reads a request and says hello: what HTTP alone costs.

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Incoming;

use super::ReferenceResponse;
use crate::Result;

pub(super) async fn answer(request: Request<Incoming>) -> Result<ReferenceResponse> {
    request.into_body().collect().await?;
    Ok(ReferenceResponse::new(Full::from("hello")))
}
