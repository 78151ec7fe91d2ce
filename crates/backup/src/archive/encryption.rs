//! Encryption of archives, with age.

use std::io::{self, Read, Write};
use std::path::Path;

use age::secrecy::{ExposeSecret as _, SecretString};
use age::x25519::{Identity, Recipient};
use age::{Decryptor, Encryptor};

use crate::{Error, Result};

/// How an encrypted archive begins.
const MAGIC: &[u8] = b"age-encryption.org/";

/// Whether an archive is encrypted, and with which public keys.
#[derive(Clone)]
pub enum Encryption {
    /// Encrypted for these public keys. Each of the private keys decrypts it.
    Recipients(Vec<Recipient>),
    /// Not encrypted.
    Unencrypted,
}

impl Encryption {
    /// Encrypts for public keys as `age-keygen` writes them (`age1…`).
    ///
    /// # Errors
    ///
    /// [`Error::Key`] for what is none.
    pub fn recipients<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let keys = keys.into_iter().map(|key| {
            key.parse::<Recipient>()
                .map_err(|reason| Error::Key(format!("the public key {key}: {reason}")))
        });
        Ok(Self::Recipients(keys.collect::<Result<_>>()?))
    }

    /// A text that is the same for the same public keys, in whatever order.
    pub(crate) fn recipients_text(&self) -> String {
        let keys = match self {
            Self::Recipients(recipients) => recipients.iter().map(ToString::to_string),
            Self::Unencrypted => return String::new(),
        };
        let mut keys: Vec<_> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        keys.join(" ")
    }

    pub(super) fn encrypt<W: Write>(&self, out: W) -> Result<EncryptedWriter<W>> {
        let recipients = match self {
            Self::Recipients(recipients) => recipients,
            Self::Unencrypted => return Ok(EncryptedWriter::Plain(out)),
        };
        let each = recipients.iter().map(|key| key as &dyn age::Recipient);
        let encryptor =
            Encryptor::with_recipients(each).map_err(|error| Error::Key(error.to_string()))?;
        Ok(EncryptedWriter::Age(Box::new(encryptor.wrap_output(out)?)))
    }
}

impl std::fmt::Debug for Encryption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recipients(keys) => write!(f, "Encryption({} recipients)", keys.len()),
            Self::Unencrypted => f.write_str("Encryption(unencrypted)"),
        }
    }
}

/// What is written to an archive, encrypted or not.
pub(crate) enum EncryptedWriter<W: Write> {
    Age(Box<age::stream::StreamWriter<W>>),
    Plain(W),
}

impl<W: Write> EncryptedWriter<W> {
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Age(stream) => stream.finish(),
            Self::Plain(out) => Ok(out),
        }
    }
}

impl<W: Write> Write for EncryptedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Age(stream) => stream.write(bytes),
            Self::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Age(stream) => stream.flush(),
            Self::Plain(out) => out.flush(),
        }
    }
}

/// A new key pair.
pub struct KeyPair {
    public_key: String,
    private_key: SecretString,
}

impl KeyPair {
    /// Makes one of random bytes.
    #[must_use]
    pub fn generate() -> Self {
        let identity = Identity::generate();
        Self {
            public_key: identity.to_public().to_string(),
            private_key: identity.to_string(),
        }
    }

    /// The key that archives are encrypted for, `age1…`.
    #[must_use]
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// The key that decrypts them, as a line of an identity file.
    #[must_use]
    pub fn private_key(&self) -> &str {
        self.private_key.expose_secret()
    }
}

impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyPair({})", self.public_key)
    }
}

/// The private keys that may decrypt an archive.
#[derive(Default)]
pub struct Identities(Vec<Identity>);

impl Identities {
    /// Reads a file as `age-keygen` writes it.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] when it cannot be read or has none.
    pub fn from_file(path: &Path) -> Result<Self> {
        let named =
            |reason: String| Error::Key(format!("the identity file {}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        let lines = text.lines().map(str::trim);
        let keys = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        // The line is not repeated: it may be nearly a private key.
        let keys = keys.map(|key| {
            key.parse::<Identity>()
                .map_err(|reason| named(reason.to_owned()))
        });
        let found = keys.collect::<Result<Vec<_>>>()?;
        if found.is_empty() {
            return Err(named("it has no identity".to_owned()));
        }
        Ok(Self(found))
    }

    /// What can be read of an archive, and whether it was encrypted.
    pub(super) fn open<'r>(
        &self,
        mut source: impl Read + 'r,
    ) -> Result<(Box<dyn Read + 'r>, bool)> {
        let mut begin = Vec::new();
        source
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut begin)?;
        let is_encrypted = begin == MAGIC;
        let whole = io::Cursor::new(begin).chain(source);
        if !is_encrypted {
            return Ok((Box::new(whole), false));
        }
        if self.0.is_empty() {
            return Err(Error::NeedsIdentity);
        }
        let decryptor = Decryptor::new(whole).map_err(failed)?;
        let each = self.0.iter().map(|key| key as &dyn age::Identity);
        let opened = decryptor.decrypt(each).map_err(failed)?;
        Ok((Box::new(opened), true))
    }
}

fn failed(error: age::DecryptError) -> Error {
    match error {
        age::DecryptError::NoMatchingKeys => Error::WrongIdentity,
        age::DecryptError::Io(error) => Error::of_reading(error),
        other => Error::Damaged(other.to_string()),
    }
}

impl std::fmt::Debug for Identities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identities({})", self.0.len())
    }
}
