//! A disk that is full or slow when a test says so, for one process: a library, compiled here and
//! loaded before that process's own, stands before the calls that write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use eddyline_testing::postgres::Cluster;
use tempfile::TempDir;

use super::passed_over;

const SOURCE: &str = include_str!("disk.c");

/// What the disk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// What it is asked.
    Fine,
    /// It takes nothing more.
    Full,
    /// Each `fsync` and `fdatasync` takes so much longer, and so do writes to some files.
    Slow(Duration),
}

/// The library and its control.
pub struct FaultyDisk {
    directory: TempDir,
    full: &'static str,
    slow: &'static str,
}

impl FaultyDisk {
    /// Compiles the library; the disk is fine for now. It is ever full only for files whose path
    /// has `full` in it, and slow to write only for those with `slow` in it. `None` when there is
    /// no C compiler, see [`super`].
    ///
    /// # Panics
    /// When the library cannot be compiled, or a C compiler is required and not there.
    fn new(full: &'static str, slow: &'static str) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        // The processes it is for may be another user's.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let source = directory.path().join("disk.c");
        fs::write(&source, SOURCE).unwrap();
        let faulty = Self {
            directory,
            full,
            slow,
        };
        let compiler = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
            .args([faulty.library(), source])
            .arg("-ldl")
            .output();
        match compiler {
            Err(error) => {
                passed_over("cc", &format!("no C compiler: {error}"));
                None
            }
            Ok(output) => {
                assert!(
                    output.status.success(),
                    "{}",
                    String::from_utf8_lossy(&output.stderr)
                );
                faulty.set(Disk::Fine);
                Some(faulty)
            }
        }
    }

    fn library(&self) -> PathBuf {
        self.directory.path().join("disk.so")
    }

    fn control(&self) -> PathBuf {
        self.directory.path().join("control")
    }

    /// A disk for a server with a file.
    ///
    /// # Panics
    /// When the library cannot be made, or a compiler is required and missing.
    pub fn of_sqlite() -> Option<Self> {
        Self::new("/data/", "no file")
    }

    /// A disk for PostgreSQL, and such a PostgreSQL. Only tables and indexes are refused: without
    /// room for its log it ends itself. The log is slow to write too, so that a commit takes time
    /// before and after it is certain.
    ///
    /// Its messages are in this language, once a database has a locale in which messages are
    /// translated.
    ///
    /// # Panics
    /// As [`FaultyDisk::of_sqlite`] and [`Cluster::own`].
    pub fn of_postgres(language: &str) -> Option<(Self, Cluster)> {
        let disk = Self::new("/base/", "/pg_wal/")?;
        let mut environment = disk.environment();
        environment.push(("LANGUAGE".to_owned(), language.to_owned()));
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        let cluster = Cluster::own(&environment)?;
        Some((disk, cluster))
    }

    /// The environment of a process whose disk it is to be.
    pub fn environment(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.display().to_string();
        let variables = [
            ("LD_PRELOAD", text(self.library())),
            ("FAULTY_DISK_CONTROL", text(self.control())),
            ("FAULTY_DISK_FULL", self.full.to_owned()),
            ("FAULTY_DISK_SLOW", self.slow.to_owned()),
        ];
        variables
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// Changes what the disk does, from the next call on.
    pub fn set(&self, disk: Disk) {
        let order = match disk {
            Disk::Fine => "fine".to_owned(),
            Disk::Full => "full".to_owned(),
            Disk::Slow(time) => format!("slow {}", time.as_millis()),
        };
        // Nobody reads half of it.
        let new = self.directory.path().join("control.new");
        fs::write(&new, order).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o644)).unwrap();
        fs::rename(new, self.control()).unwrap();
    }
}
