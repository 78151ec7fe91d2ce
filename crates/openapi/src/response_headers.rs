//! Headers of answers, as the document describes them.

/// A header of an answer: its name, and what it says.
pub type AnswerHeader = (&'static str, &'static str);

/// `Link` of a list that goes on.
pub const NEXT: AnswerHeader = (
    "Link",
    "Where the list goes on, as rel=\"next\" (RFC 8288); it is not there at the end of the list",
);

/// `Link` of a message with comments.
pub const COMMENTS: AnswerHeader = (
    "Link",
    "Where the comments are, as rel=\"comments\" (RFC 8288)",
);

/// `Event-Id` of a stream.
pub const EVENT_ID: AnswerHeader = (
    "Event-Id",
    "The event after which the stream began; Last-Event-ID if it breaks before it brings one",
);

/// `Stream-Id` of a stream that shows its user.
pub const STREAM_ID: AnswerHeader = (
    "Stream-Id",
    "The name of the stream, by which you change what it shows of you; only with active",
);

/// `Location` of what was created, or of where to go on.
pub const LOCATION: AnswerHeader = ("Location", "Where it is");

/// `ETag` of what can be asked for again.
pub const ETAG: AnswerHeader = ("ETag", "The version (RFC 9110, section 8.8.3)");
