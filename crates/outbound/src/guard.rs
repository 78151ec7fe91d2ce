//! Which addresses belong to the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks that are not for the public, after the registry of special-purpose addresses (RFC 6890).
const PRIVATE_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by the customers of a carrier
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, and where clouds tell secrets
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // relays of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, and broadcast
];

/// What is not for the public within [`GLOBAL_V6`].
const PRIVATE_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, with any IPv4 address inside
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// All that is given out as global unicast. Loopback, unique local, link-local, multicast and
/// mapped IPv4 addresses lie outside.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// IPv4 behind a translator (RFC 6052): networks without IPv4 see all its hosts there.
const TRANSLATED: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Whether an address belongs to the public Internet, where no network is more trusted than
/// another.
///
/// An IPv4 address inside of a NAT64 address is judged as itself. Mapped IPv4 addresses
/// (`::ffff:1.2.3.4`) and those of 6to4 and Teredo are not public, whatever is in them: no host
/// needs to be asked there.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !PRIVATE_V4.iter().any(|block| holds_v4(*block, address)),
        IpAddr::V6(address) if holds_v6(TRANSLATED, address) => {
            let [.., a, b, c, d] = address.octets();
            is_public(Ipv4Addr::new(a, b, c, d).into())
        }
        IpAddr::V6(address) => {
            holds_v6(GLOBAL_V6, address)
                && !PRIVATE_V6.iter().any(|block| holds_v6(*block, address))
        }
    }
}

fn holds_v4((block, length): (Ipv4Addr, u32), address: Ipv4Addr) -> bool {
    (block.to_bits() ^ address.to_bits()) >> (Ipv4Addr::BITS - length) == 0
}

fn holds_v6((block, length): (Ipv6Addr, u32), address: Ipv6Addr) -> bool {
    (block.to_bits() ^ address.to_bits()) >> (Ipv6Addr::BITS - length) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last address of each block, and the public neighbours, if they are.
    const BLOCKS: &[(&str, &str, &[&str])] = &[
        ("0.0.0.0", "0.255.255.255", &["1.0.0.0"]),
        ("10.0.0.0", "10.255.255.255", &["9.255.255.255", "11.0.0.0"]),
        (
            "100.64.0.0",
            "100.127.255.255",
            &["100.63.255.255", "100.128.0.0"],
        ),
        (
            "127.0.0.0",
            "127.255.255.255",
            &["126.255.255.255", "128.0.0.0"],
        ),
        (
            "169.254.0.0",
            "169.254.255.255",
            &["169.253.255.255", "169.255.0.0"],
        ),
        (
            "172.16.0.0",
            "172.31.255.255",
            &["172.15.255.255", "172.32.0.0"],
        ),
        (
            "192.0.0.0",
            "192.0.0.255",
            &["191.255.255.255", "192.0.1.0"],
        ),
        ("192.0.2.0", "192.0.2.255", &["192.0.1.255", "192.0.3.0"]),
        (
            "192.88.99.0",
            "192.88.99.255",
            &["192.88.98.255", "192.88.100.0"],
        ),
        (
            "192.168.0.0",
            "192.168.255.255",
            &["192.167.255.255", "192.169.0.0"],
        ),
        (
            "198.18.0.0",
            "198.19.255.255",
            &["198.17.255.255", "198.20.0.0"],
        ),
        (
            "198.51.100.0",
            "198.51.100.255",
            &["198.51.99.255", "198.51.101.0"],
        ),
        (
            "203.0.113.0",
            "203.0.113.255",
            &["203.0.112.255", "203.0.114.0"],
        ),
        ("224.0.0.0", "255.255.255.255", &["223.255.255.255"]),
        // Unspecified, loopback, compatible IPv4, discard-only: nothing below 2000:: is public …
        ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", &["2000::"]),
        ("::1", "::1.2.3.4", &[]),
        ("::ffff:127.0.0.1", "::ffff:8.8.8.8", &[]),
        ("::ffff:0:10.0.0.1", "100::1", &[]),
        // … except for what a translator makes of public IPv4 addresses.
        ("64:ff9b::", "64:ff9b::0.255.255.255", &["64:ff9b::1.0.0.0"]),
        (
            "64:ff9b::10.0.0.0",
            "64:ff9b::10.255.255.255",
            &["64:ff9b::9.255.255.255", "64:ff9b::8.8.8.8"],
        ),
        (
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254",
            &["64:ff9b::128.0.0.0"],
        ),
        ("64:ff9b::1:8.8.8.8", "64:ff9b:1::8.8.8.8", &[]),
        (
            "2001::",
            "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            &["2000:ffff::", "2001:200::"],
        ),
        (
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            &["2001:db7:ffff::", "2001:db9::"],
        ),
        (
            "2002::",
            "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            &["2001:ffff::", "2003::"],
        ),
        (
            "3fff::",
            "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            &["3ffe:ffff::", "3fff:1000::"],
        ),
        // Above the global ones: segments, unique local, link-local, site-local, multicast.
        (
            "4000::",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            &["3fff:ffff::"],
        ),
        ("5f00::1", "fc00::1", &[]),
        ("fd00:ec2::254", "fe80::1", &[]),
        ("fec0::1", "ff02::1", &[]),
    ];

    fn judged(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn the_table_of_blocks_holds() {
        for (first, last, neighbours) in BLOCKS {
            assert!(!judged(first), "{first}");
            assert!(!judged(last), "{last}");
            for neighbour in *neighbours {
                assert!(judged(neighbour), "{neighbour}");
            }
        }
    }

    #[test]
    fn addresses_of_well_known_hosts_are_public() {
        for address in [
            "8.8.8.8",
            "1.1.1.1",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "2001:4860:4860::8888",
        ] {
            assert!(judged(address), "{address}");
        }
    }
}
