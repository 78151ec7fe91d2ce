//! What a server tells the service manager that runs it.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use eddyline_tests::{Server, Setting};
use tempfile::TempDir;

#[test]
fn the_service_manager_is_told_when_a_server_is_ready_reloads_and_ends() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let patience = Some(Duration::from_secs(60));
    manager.set_read_timeout(patience).unwrap();
    let told = || {
        let mut state = [0; 256];
        let length = manager.recv(&mut state).unwrap();
        let state = String::from_utf8(state[..length].to_vec()).unwrap();
        let (first, rest) = state.split_once('\n').unwrap_or((&state, ""));
        (first.to_owned(), rest.starts_with("MONOTONIC_USEC="))
    };
    let setting = Setting {
        environment: vec![("NOTIFY_SOCKET".to_owned(), path.display().to_string())],
        ..Setting::default()
    };
    let mut server = Server::start_in(setting, &[]);
    assert_eq!(told(), ("READY=1".to_owned(), false));
    let id = server.process_id().to_string();
    assert!(
        Command::new("kill")
            .args(["-HUP", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(told(), ("RELOADING=1".to_owned(), true));
    assert_eq!(told(), ("READY=1".to_owned(), false));
    assert!(server.terminate().success());
    assert_eq!(told(), ("STOPPING=1".to_owned(), false));
}
