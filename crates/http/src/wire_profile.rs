//! The names of headers and tags, which differ between the profiles.

use eddyline_app::Profile;
use http::{HeaderMap, HeaderName};

/// The names of a profile.
#[derive(Clone, Debug)]
pub(crate) struct WireProfile {
    /// Carries the caller's number (specification, section 4, conventions).
    pub(crate) user: HeaderName,
    /// Request headers that make the server wait for the stored message. The first counts in both
    /// profiles, the second in `classic` only.
    wait: [HeaderName; 2],
    pub(crate) classic: bool,
}

impl WireProfile {
    pub(crate) fn of(profile: Profile) -> Self {
        let classic = profile == Profile::Classic;
        let user = HeaderName::from_static(if classic {
            "flowdock-user"
        } else {
            "service-user"
        });
        let wait = [
            HeaderName::from_static("x-service-wait-for-message"),
            HeaderName::from_static("x-flowdock-wait-for-message"),
        ];
        Self {
            user,
            wait,
            classic,
        }
    }

    /// Whether the request asks to wait for the whole message.
    pub(crate) fn asks_to_wait(&self, headers: &HeaderMap) -> bool {
        let names = if self.classic {
            &self.wait[..]
        } else {
            &self.wait[..1]
        };
        names.iter().any(|name| headers.contains_key(name))
    }

    /// Tags of a request as they are stored. Classic clients write the tag of a comment as it is
    /// shown to them, without its leading colon.
    pub(crate) fn tags(&self, mut tags: Vec<String>) -> Vec<String> {
        if self.classic {
            for tag in &mut tags {
                let parent = tag.strip_prefix("influx:").unwrap_or_default();
                if !parent.is_empty() && parent.bytes().all(|byte| byte.is_ascii_digit()) {
                    tag.insert(0, ':');
                }
            }
        }
        tags
    }
}
