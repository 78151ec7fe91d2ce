//! Messages of all rooms of the caller: searches, and what mentions the caller.

use eddyline_model::messages::MessageCursor;
use eddyline_wire::Message;
use eddyline_wire::requests::{ListMentions, SearchEverywhere};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::request::RequestBuilder;

/// A part of a list over several rooms.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundMessages {
    /// The messages, the newest first.
    pub messages: Vec<Message>,
    /// Where the list goes on: the `before` of the next call. `None` at its end.
    pub next: Option<MessageCursor>,
}

impl Client {
    /// Searches the flows and private conversations of the caller, by words, tags or both.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn search(&self, wanted: &SearchEverywhere) -> Result<FoundMessages, Error> {
        found(self.request(Method::GET, "/search").query_of(wanted)).await
    }

    /// Messages of others that mention the caller, by name, as a member of a group or with
    /// everyone.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn mentions(&self, wanted: &ListMentions) -> Result<FoundMessages, Error> {
        found(self.request(Method::GET, "/mentions").query_of(wanted)).await
    }
}

async fn found(request: RequestBuilder) -> Result<FoundMessages, Error> {
    let answer = request.send().await?.success()?;
    Ok(FoundMessages {
        messages: answer.decode()?,
        next: answer.header("link").and_then(next_place),
    })
}

/// The parameter `before` of the address in a header `Link`.
fn next_place(link: &str) -> Option<MessageCursor> {
    let (address, _) = link.strip_prefix('<')?.split_once('>')?;
    let (_, query) = address.split_once('?')?;
    let before = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("before="))?;
    before.parse().ok()
}

#[cfg(test)]
mod tests {
    use eddyline_model::{MessageId, RoomId, Timestamp};

    use super::*;

    #[test]
    fn the_next_place_stands_in_the_link() {
        let link = "<http://h/search?search=a&limit=2&before=17-3-9>; rel=\"next\"";
        let place = MessageCursor {
            sent: Timestamp(17),
            room: RoomId(3),
            id: MessageId(9),
        };
        assert_eq!(next_place(link), Some(place));
        assert_eq!(next_place("<http://h/search>; rel=\"next\""), None);
    }
}
