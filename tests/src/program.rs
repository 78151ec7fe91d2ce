//! Programs of others, which are told in JSON what to do, and tell in JSON what they did.

use std::process::Stdio;

use eddyline_client::Json;
use serde::de::DeserializeOwned;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Runs a program, which reads `input` as JSON and must succeed. Gives the JSON that it prints.
///
/// Secrets are for `input`: others on the machine can see a command line.
pub async fn converse<T: DeserializeOwned>(command: &mut Command, input: &Json) -> T {
    let printed = run_program(command, &input.to_string()).await;
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// Runs a program with this input, and gives what it prints. It must succeed.
pub async fn run_program(command: &mut Command, input: &str) -> String {
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = running.stdin.take().expect("it is piped");
    // Not every program reads its input.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = running.wait_with_output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{command:?}\n{printed}\n{complaints}"
    );
    printed
}
