//! nginx in front of a server, well set up or not.

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use eddyline_tests::Patience;
use tempfile::TempDir;

use crate::mail::dead_port;

/// What a proxy does to streams.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffering {
    /// It passes them on as they come.
    Off,
    /// It holds them back, whatever the server asks for.
    On,
}

/// An nginx on a port of loopback, stopped when this is dropped.
pub(super) struct Nginx {
    process: Child,
    _directory: TempDir,
}

/// A port for an nginx that is started later.
pub(super) fn port() -> u16 {
    dead_port()
}

impl Nginx {
    /// Starts one that passes everything on to a server.
    pub(super) async fn start(port: u16, server: &str, buffering: Buffering) -> Self {
        let directory = TempDir::new().unwrap();
        let at = directory.path().display();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};"))
            .join(" ");
        let buffering = match buffering {
            Buffering::Off => "proxy_http_version 1.1;",
            // By HTTP/1.1, nginx passes each chunk on that is whole, also with buffers.
            Buffering::On => {
                "proxy_http_version 1.0; proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;"
            }
        };
        let text = format!(
            "daemon off; master_process off; pid {at}/nginx.pid; error_log stderr; events {{}}\n\
             http {{ access_log off; {temporary}\n\
             server {{ listen 127.0.0.1:{port}; client_max_body_size 102m;\n\
             location / {{ proxy_pass http://{server}; {buffering}\n\
             proxy_set_header Connection \"\"; proxy_set_header Host $host;\n\
             proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n\
             proxy_set_header X-Forwarded-Proto $scheme; }} }} }}"
        );
        let file = directory.path().join("nginx.conf");
        fs::write(&file, text).unwrap();
        let process = Command::new("nginx")
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Patience::until("nginx listens");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            patience.goes_on().await;
        }
        Self {
            process,
            _directory: directory,
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
