//! What a listener gives to each of its connections.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::Request;
use rustls::ServerConfig;

use super::Limits;
use crate::TrustedProxies;

/// The service of one listener.
pub(super) type ListenerService = Arc<dyn Fn(Request<Body>) -> BoxFuture<Response> + Send + Sync>;

pub(super) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What the connections of one listener share.
pub(super) struct ListenerContext {
    pub(super) handler: ListenerService,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) limits: Limits,
    /// Their connections are shared by many clients, so that they count as known ones.
    pub(super) proxies: TrustedProxies,
}
