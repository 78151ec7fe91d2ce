//! A small file system of a test's own.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::passed_over;

/// A file system in memory, unmounted with this value.
pub struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// Mounts one of so many bytes, or gives `None` where that is not allowed, see [`super`].
    ///
    /// # Panics
    /// When mounting is required and not allowed.
    pub fn mount(bytes: u64) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        let mut mount = Command::new("mount");
        mount
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={bytes},mode=755"),
                "none",
            ])
            .arg(directory.path());
        let said = match mount.output() {
            Ok(output) if output.status.success() => return Some(Self { directory }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        passed_over("mount", &format!("no file system can be mounted: {said}"));
        None
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Fills so many bytes of it.
    pub fn put_ballast(&self, bytes: usize) {
        File::create(self.ballast())
            .unwrap()
            .write_all(&vec![b'.'; bytes])
            .unwrap();
    }

    /// Makes room again.
    pub fn drop_ballast(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that still has a file open there is about to end.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.directory.path())
            .status();
    }
}
