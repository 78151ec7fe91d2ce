//! One of the hosts of an address.

/// One of the servers that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// The name in its certificate.
    pub(crate) name: String,
    /// Where it is reached, if that is not its name.
    pub(crate) address: Option<String>,
    pub(crate) port: u16,
}

impl Host {
    /// Whether this is the folder of a Unix socket, which needs no TLS.
    pub(crate) fn is_socket(&self) -> bool {
        self.address.is_none() && self.name.starts_with(['/', '@'])
    }

    /// Whether what is sent there stays on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let target = self.address.as_ref().unwrap_or(&self.name);
        let ip = target.parse::<std::net::IpAddr>();
        self.is_socket()
            || target.is_empty()
            || target == "localhost"
            || ip.is_ok_and(|ip| ip.is_loopback())
    }
}
