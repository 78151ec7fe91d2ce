//! Scripts in Python, which show that programs of others get along with the server.

use std::process::Stdio;

use eddyline_client::Json;
use serde::de::DeserializeOwned;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A Python that has the modules a script needs.
#[derive(Clone, Copy, Debug)]
pub struct Python(&'static str);

impl Python {
    /// Finds one. Without any, the test is passed over, unless `EDDYLINE_TEST_REQUIRE` names `part`; see
    /// [`eddyline_testing::python`].
    pub fn with(part: &str, modules: &[&str]) -> Option<Self> {
        eddyline_testing::python::with(part, modules).map(Self)
    }

    /// Runs a script, which reads `input` as JSON and must succeed. Gives the JSON that it prints.
    ///
    /// Secrets are for `input`: others on the machine can see a command line.
    pub async fn run<T: DeserializeOwned>(self, script: &str, input: &Json) -> T {
        let mut running = Command::new(self.0)
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it was there just now");
        let mut stdin = running.stdin.take().expect("it is piped");
        stdin.write_all(input.to_string().as_bytes()).await.unwrap();
        drop(stdin);
        let output = running.wait_with_output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
