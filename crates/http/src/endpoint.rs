//! One endpoint of the API: its operation, and what answers the requests.

use eddyline_openapi::{DescribeOperation, Operation};
use eddyline_wire::Parameters;
use http::Method;

use crate::handler::{BoxedHandler, Handler, boxed};
use crate::requester::Requester;

/// An endpoint.
pub(crate) struct Endpoint {
    /// Where it is, who may call it and what it takes.
    pub(crate) operation: Operation,
    /// Whether the answer may be compressed. That would delay a stream.
    pub(crate) compress: bool,
    pub(crate) handler: BoxedHandler,
}

impl Endpoint {
    /// An endpoint, whose handler says by its type who may call it and which parameters it takes.
    pub(crate) fn new<M, H: Handler<M>>(
        method: Method,
        path: &'static str,
        operation_id: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        let (access, parameters) = (H::Requester::ACCESS, H::Takes::fields());
        Self {
            operation: Operation::new(method, path, operation_id, summary, access, parameters),
            compress: true,
            handler: boxed(handler),
        }
    }

    /// Leaves the answer as it is for those who take it compressed too.
    pub(crate) fn uncompressed(mut self) -> Self {
        self.compress = false;
        self
    }
}

impl DescribeOperation for Endpoint {
    fn operation(&mut self) -> &mut Operation {
        &mut self.operation
    }
}
