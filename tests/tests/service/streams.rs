//! The live stream (specification, section 4, "Streaming", and section 6).

mod events;
mod filters;
mod framing;
mod joined;
mod order;
mod python_requests;
mod reconnecting;
mod rights;
mod slow_readers;
