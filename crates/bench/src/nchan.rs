//! nchan, a module of nginx that does nothing but deliver messages, and that well. It keeps them in
//! memory only.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::Result;
use crate::child::Running;
use crate::process::Family;

const MODULE: &str = "ngx_nchan_module.so";
/// Where systems keep the modules of nginx.
const MODULES: [&str; 3] = [
    "/usr/lib/nginx/modules",
    "/usr/lib64/nginx/modules",
    "/etc/nginx/modules",
];
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Where messages are published.
pub(crate) const PUBLISH: &str = "/publish";
/// Where they are heard.
pub(crate) const LISTEN: &str = "/listen";
/// What is answered at once, with nothing.
pub(crate) const READY: &str = "/ready";

/// An nginx of our own, with one worker.
pub(crate) struct Nchan {
    running: Running,
    /// Its processes.
    pub(crate) family: Family,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

/// Fails when it is not installed.
pub(crate) fn find_module() -> Result<PathBuf> {
    let module = MODULES
        .iter()
        .map(|directory| Path::new(directory).join(MODULE))
        .find(|path| path.is_file());
    let nginx = Command::new("nginx")
        .arg("-v")
        .stderr(Stdio::null())
        .status();
    match (module, nginx) {
        (Some(module), Ok(status)) if status.success() => Ok(module),
        _ => Err(
            "--peers needs nginx with nchan (Debian: nginx-light and libnginx-mod-nchan)".into(),
        ),
    }
}

impl Nchan {
    /// Starts it with its files in a directory that is made for it.
    pub(crate) async fn start(module: &Path, directory: &Path) -> Result<Self> {
        std::fs::create_dir_all(directory)?;
        // It cannot tell which port it was given, so one is looked for that is free.
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let file = directory.join("nginx.conf");
        std::fs::write(&file, configuration(module, directory, address))?;
        let log = std::fs::File::create(directory.join("start.log"))?;
        let running = Running::start(
            Command::new("nginx")
                .arg("-p")
                .arg(directory)
                .arg("-c")
                .arg(&file)
                .stdout(Stdio::null())
                .stderr(log),
        )?;
        let started = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            if started.elapsed() > PATIENCE {
                let said = std::fs::read_to_string(directory.join("start.log")).unwrap_or_default();
                return Err(format!("nginx did not start: {said}").into());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(Self {
            family: running.family()?,
            running,
            address,
        })
    }

    /// Ends it.
    pub(crate) async fn stop(self) -> Result<()> {
        self.running.stop().await
    }
}

fn configuration(module: &Path, directory: &Path, address: SocketAddr) -> String {
    let (module, directory) = (module.display(), directory.display());
    format!(
        "daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
load_module {module};
pid {directory}/nginx.pid;
error_log {directory}/error.log error;
events {{
    worker_connections 32768;
}}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    keepalive_requests 1000000000;
    nchan_shared_memory_size 256M;
    server {{
        listen {address} backlog=4096;
        location = {READY} {{
            return 204;
        }}
        location = {PUBLISH} {{
            nchan_publisher http;
            nchan_channel_id room;
            nchan_message_buffer_length 64;
        }}
        location = {LISTEN} {{
            nchan_subscriber eventsource;
            nchan_channel_id room;
            nchan_subscriber_first_message newest;
        }}
    }}
}}
"
    )
}
