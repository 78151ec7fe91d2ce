//! What answers the requests of an endpoint. The type of a handler says who may call it and what it
//! takes, so that neither can be left out of the table.

use eddyline_app::Error;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use eddyline_wire::params::{ParamReader, Params};
use eddyline_wire::{Parameters, Request};

use crate::answer::Answer;
use crate::context::RequestContext;
use crate::requester::{Requester, ResolvedRequester};

/// A handler whose type is forgotten, so that handlers can stand in one table.
pub(crate) type BoxedHandler = Box<
    dyn Fn(
            RequestContext<ResolvedRequester>,
            Params,
        ) -> Pin<Box<dyn Future<Output = Answer> + Send>>
        + Send
        + Sync,
>;

/// A function of a request's context, and of its parameters unless it takes none. `M` tells the two
/// apart.
pub(crate) trait Handler<M>: Send + Sync + 'static {
    /// Who may call it.
    type Requester: Requester;
    /// What it takes.
    type Takes: Parameters;

    /// The answer under way.
    type Answering: Future<Output = Answer> + Send + 'static;

    /// Answers a request.
    fn call(
        &self,
        ctx: RequestContext<Self::Requester>,
        request: UnparsedParams<Self::Takes>,
    ) -> Self::Answering;
}

impl<S, F, Fut> Handler<(S,)> for F
where
    S: Requester,
    F: Fn(RequestContext<S>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send + 'static,
{
    type Requester = S;
    type Takes = ();
    type Answering = Fut;

    fn call(&self, ctx: RequestContext<S>, _request: UnparsedParams<()>) -> Fut {
        self(ctx)
    }
}

impl<S, P, F, Fut> Handler<(S, P)> for F
where
    S: Requester,
    P: Parameters,
    F: Fn(RequestContext<S>, UnparsedParams<P>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send + 'static,
{
    type Requester = S;
    type Takes = P;
    type Answering = Fut;

    fn call(&self, ctx: RequestContext<S>, request: UnparsedParams<P>) -> Fut {
        self(ctx, request)
    }
}

pub(crate) fn boxed<M, H: Handler<M>>(handler: H) -> BoxedHandler {
    Box::new(move |ctx, params| match ctx.for_requester() {
        Ok(ctx) => Box::pin(handler.call(
            ctx,
            UnparsedParams {
                params,
                takes: PhantomData,
            },
        )),
        Err(failure) => Box::pin(std::future::ready(Err(failure))),
    })
}

/// The parameters of a request before they are read. The handler reads them once it knows that the
/// caller may learn what is wrong with them: of a flow that a caller must not know, a refused
/// parameter would tell that it is there.
pub(crate) struct UnparsedParams<P> {
    params: Params,
    takes: PhantomData<fn() -> P>,
}

impl<P> UnparsedParams<P> {
    /// Other parameters of the same declaration, from where only the handler finds them.
    pub(crate) fn replaced(self, params: Params) -> Self {
        Self { params, ..self }
    }

    /// The same as another declaration, which the document does not show.
    pub(crate) fn reparse_as<Q>(self) -> UnparsedParams<Q> {
        UnparsedParams {
            params: self.params,
            takes: PhantomData,
        }
    }

    /// The parameters as they came, for those that depend on others.
    pub(crate) fn into_params(self) -> Params {
        self.params
    }
}

impl<P: Request> UnparsedParams<P> {
    /// Reads the parameters, and tells of all mistakes at once. What was sent is dropped then,
    /// because many requests of one caller may wait.
    pub(crate) fn read(self) -> Result<P, Error> {
        self.read_checked(|_, _| {})
    }

    /// The same with a check of what the parameters say together.
    pub(crate) fn read_checked(
        self,
        check: impl FnOnce(&mut P, &mut ParamReader<'_>),
    ) -> Result<P, Error> {
        let mut reader = self.params.reader();
        let mut request = P::read(&mut reader);
        if let Some(request) = &mut request {
            check(request, &mut reader);
        }
        reader.finish()?;
        request.ok_or_else(|| {
            Error::internal("a required parameter was read as missing, without an error")
        })
    }
}
