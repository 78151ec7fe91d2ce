//! The Rust of the documents compiles. It is not run: it needs a server at its usual port.

#![expect(dead_code, unused_variables, reason = "compiled only")]

include!(concat!(env!("OUT_DIR"), "/documents.rs"));
