//! Scripts in Python, which show that programs of others get along with the server.

use eddyline_client::Json;
use serde::de::DeserializeOwned;
use tokio::process::Command;

use crate::program::converse;

/// A Python that has the modules a script needs.
#[derive(Clone, Copy, Debug)]
pub struct Python(&'static str);

impl Python {
    /// Finds one. Without any, the test is passed over, unless `EDDYLINE_TEST_REQUIRE` names
    /// `part`; see [`eddyline_testing::python`].
    pub fn with(part: &str, modules: &[&str]) -> Option<Self> {
        eddyline_testing::python::with(part, modules).map(Self)
    }

    /// Runs a script, which reads `input` as JSON and must succeed. Gives the JSON that it prints.
    ///
    /// Secrets are for `input`: others on the machine can see a command line.
    pub async fn run<T: DeserializeOwned>(self, script: &str, input: &Json) -> T {
        converse(Command::new(self.0).args(["-c", script]), input).await
    }
}
