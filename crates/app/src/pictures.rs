//! Pictures that integrations name: of authors, and of the applications themselves. They are stored
//! on other hosts. The server fetches them for the pages, so that no browser asks those hosts, and
//! hands out small copies that it made itself.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eddyline_model::Timestamp;
use eddyline_outbound::{Config, Outbound, OutboundRequest, Response};
use http::header::{ACCEPT, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::time::timeout;
use url::Url;

use crate::actor::Actor;
use crate::core::Core;
use crate::quota::{KeyedSemaphore, Permit, Quota, QuotaKeys};
use crate::unpacking::{COPIES, Unpacking, aside};
use crate::{Error, Limit, Result};

/// The most bytes of a picture that is fetched.
const MAX_BYTES: usize = 1024 * 1024;
/// How long fetching a picture may take, from the first look-up to the last byte.
const TIME: Duration = Duration::from_secs(5);
/// How often a host may send the request on. Each address is checked as the first one.
const REDIRECTS: usize = 3;
/// How many pictures are fetched at the same time.
const FETCHES: Quota = Quota::new(16, 12, 6);
/// How long a request waits for its turn before it is refused.
const WAIT: Duration = Duration::from_secs(5);
/// How long a request waits for a picture that another request fetches.
const LONGEST: Duration = Duration::from_secs(12);
/// The largest side of a copy, in pixels.
const SIDE: u32 = 96;
/// How long a copy is handed out before its picture is fetched again: a day.
const KEPT_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// How long a picture that is not there is not asked for again.
const MISSED_MILLIS: i64 = 5 * 60 * 1000;
/// How many bytes of copies, and of the addresses that lead to none, are cached.
const REMEMBERED_BYTES: u64 = 8 * 1024 * 1024;
/// About how many pictures that is.
const REMEMBERED: usize = 2000;

/// A small copy of a picture: a square, and a JPEG file.
#[derive(Clone, Debug)]
pub struct OutsidePicture {
    /// Its kind.
    pub content_type: &'static str,
    /// The file.
    pub bytes: Bytes,
}

/// What is known of an address.
#[derive(Clone)]
struct Known {
    /// `None` where no picture is to be had.
    copy: Option<OutsidePicture>,
    /// Until when that counts.
    until: Timestamp,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<String, Known> for ByBytes {
    fn weight(&self, address: &String, known: &Known) -> u64 {
        let copy = known.copy.as_ref().map_or(0, |copy| copy.bytes.len());
        (address.len() + copy) as u64 + 200
    }
}

/// The pictures of integrations. See [`crate::App::pictures`].
#[derive(Clone)]
pub struct Pictures {
    core: Core,
    outbound: Outbound,
    fetches: KeyedSemaphore,
    unpacking: Arc<Unpacking>,
    known: Arc<Cache<String, Known, ByBytes>>,
}

crate::core::opaque_debug!(Pictures);

impl Pictures {
    pub(crate) fn new(core: Core, unpacking: Arc<Unpacking>) -> Self {
        let bounds = Config {
            timeout: TIME,
            max_response: MAX_BYTES,
            ..core.config().outbound
        };
        Self {
            core,
            outbound: Outbound::new(bounds),
            fetches: KeyedSemaphore::new(FETCHES),
            unpacking,
            known: Arc::new(Cache::with_weighter(REMEMBERED, REMEMBERED_BYTES, ByBytes)),
        }
    }

    /// The copy that a path of the pages leads to, which ends with `token`. Requests for one picture
    /// that come at the same time fetch it once.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for a token that this server did not make, and when the picture is not to
    /// be had: its host does not answer in time, must not be asked, or sends anything but a picture
    /// within the bounds. [`Error::too_many_requests`] and [`Error::unavailable`] when too many are
    /// being fetched or unpacked.
    pub async fn get(&self, actor: &Actor, token: &str) -> Result<OutsidePicture> {
        let address = self.core.encoder().pictures().address(token);
        let address = address.ok_or_else(Error::not_found)?;
        let known = self.find(address, actor.quota_keys()).await?;
        known.copy.ok_or_else(Error::not_found)
    }

    async fn find(&self, address: String, keys: QuotaKeys) -> Result<Known> {
        let now = self.core.now();
        match self.known.get(&address) {
            Some(known) if known.until > now => Ok(known),
            _ => {
                let pictures = self.clone();
                // A reader who leaves ends nothing: what was fetched counts for the next one.
                let load = Box::pin(async move { pictures.load(address, keys, now).await });
                let jobs = self.core.jobs();
                jobs.finish("picture of an integration", load).await
            }
        }
    }

    async fn load(&self, address: String, keys: QuotaKeys, now: Timestamp) -> Result<Known> {
        // A request that waits for a fetch of another request holds a permit, too. Without one it
        // would wait for the permit of the other caller.
        let permit = self
            .fetches
            .acquire_within(keys, 1, WAIT)
            .await
            .map_err(|exceeded| exceeded.of(Limit::OutsidePictures))?;
        self.known.remove_if(&address, |known| known.until <= now);
        let fetch = self.fetch(&address, keys, Arc::new(permit));
        let known = self.known.get_or_insert_async(&address, fetch);
        let late = |_| Error::unavailable("fetching the picture took too long");
        timeout(LONGEST, known).await.map_err(late)?
    }

    async fn fetch(&self, address: &str, keys: QuotaKeys, permit: Arc<Permit>) -> Result<Known> {
        let file = timeout(TIME, self.download(address, &permit)).await;
        let copy = match file.ok().flatten() {
            Some(file) => self.copy(file, keys).await?,
            None => None,
        };
        if copy.is_none() {
            tracing::debug!("a picture of an integration is not to be had");
        }
        let millis = copy.as_ref().map_or(MISSED_MILLIS, |_| KEPT_MILLIS);
        let until = self.core.now().plus_millis(millis);
        Ok(Known { copy, until })
    }

    /// What is at the address, or where that leads to.
    async fn download(&self, address: &str, permit: &Arc<Permit>) -> Option<Bytes> {
        let mut address = address.to_owned();
        for _ in 0..=REDIRECTS {
            let request = request(address.clone(), Arc::clone(permit));
            let answer = self.outbound.send(request).await.ok()?;
            match answer.status {
                StatusCode::OK => return Some(answer.body),
                status if status.is_redirection() => address = led_to(&address, &answer)?,
                _ => return None,
            }
        }
        None
    }

    /// A copy of a file, if that is a picture within the bounds.
    async fn copy(&self, file: Bytes, keys: QuotaKeys) -> Result<Option<OutsidePicture>> {
        let Ok(needed) = eddyline_avatars::memory_needed(&file) else {
            return Ok(None);
        };
        let needed = needed + COPIES * file.len() as u64;
        let reserved = self
            .unpacking
            .reserve(keys, needed)
            .await
            .map_err(|exceeded| exceeded.of(Limit::Pictures))?;
        let copy = aside(reserved, move || eddyline_avatars::shrink(&file, SIDE)).await?;
        Ok(copy.ok().map(|copy| OutsidePicture {
            content_type: copy.content_type,
            bytes: copy.bytes.into(),
        }))
    }
}

/// It tells nothing of the reader. The permit is held until nothing goes on for it any more.
fn request(url: String, permit: Arc<Permit>) -> OutboundRequest {
    let headers = [
        (ACCEPT, HeaderValue::from_static("image/*")),
        (
            USER_AGENT,
            HeaderValue::from_static(concat!("Eddyline/", env!("CARGO_PKG_VERSION"))),
        ),
    ];
    OutboundRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::from_iter(headers),
        body: Bytes::new(),
        held: Some(permit),
    }
}

/// Where a redirect leads.
fn led_to(address: &str, answer: &Response) -> Option<String> {
    let location = answer.headers.get(LOCATION)?.to_str().ok()?;
    let url = Url::parse(address).ok()?.join(location).ok()?;
    Some(url.into())
}

#[cfg(test)]
mod tests;
