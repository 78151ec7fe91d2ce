//! Reads a request and says hello: what HTTP alone costs.

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Incoming;

use super::Answer;
use crate::Result;

pub(super) async fn answer(request: Request<Incoming>) -> Result<Answer> {
    request.into_body().collect().await?;
    Ok(Answer::new(Full::from("hello")))
}
