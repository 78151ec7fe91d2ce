//! A caller whose credential ends during the request is refused, and nothing of the request is
//! done: a request is sent but for its last byte, the credential ends, and the last byte follows.

mod endpoints;
mod pages;
