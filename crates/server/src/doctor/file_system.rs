//! What the file system of a path is, and what is free in it.

use std::io;
use std::path::Path;

use rustix::fs::{statfs, statvfs};

/// What is free for users without special rights.
pub(super) struct FreeSpace {
    pub(super) bytes: u64,
    /// How many more files can be made; absent where the file system does not count them.
    pub(super) inodes: Option<u64>,
}

pub(super) fn free(path: &Path) -> io::Result<FreeSpace> {
    let found = statvfs(path)?;
    Ok(FreeSpace {
        bytes: found.f_bavail.saturating_mul(found.f_frsize),
        inodes: (found.f_files > 0).then_some(found.f_favail),
    })
}

/// The numbers by which Linux tells file systems of a network apart (`statfs(2)`).
const NETWORKS: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x517B, "SMB"),
    (0x0102_1997, "9P"),
    (0x00C3_6400, "CephFS"),
    (0x0BD0_0BD0, "Lustre"),
    (0x5346_414F, "AFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
];

/// The name of the network file system that a path is on, if it is on one.
pub(super) fn network(path: &Path) -> io::Result<Option<&'static str>> {
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "the number has 32 bits in a type that the platform chooses"
    )]
    let kind = u64::from(statfs(path)?.f_type as u32);
    Ok(name_of(kind))
}

fn name_of(kind: u64) -> Option<&'static str> {
    let found = NETWORKS.iter().find(|(number, _)| *number == kind);
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_a_network_are_known_and_local_ones_are_none() {
        assert_eq!(name_of(0x6969), Some("NFS"));
        // Also where the number is negative in the platform's type.
        assert_eq!(
            name_of(u64::from(0xFF53_4D42_u32 as i32 as u32)),
            Some("CIFS")
        );
        // ext4, xfs, btrfs and tmpfs.
        for local in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994] {
            assert_eq!(name_of(local), None);
        }
    }

    #[test]
    fn what_is_free_is_read() {
        let free = free(Path::new("/")).unwrap();
        assert!(free.bytes > 0);
    }
}
