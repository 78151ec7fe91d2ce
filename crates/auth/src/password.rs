//! Hashing and checking of passwords with argon2id.
//!
//! A check costs tens of milliseconds and as many megabytes on purpose. So it runs on tokio's
//! blocking threads, and only a few at once: further ones wait for their [`HashingPermit`].

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::thread::available_parallelism;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// A password as somebody typed it. It never prints itself: `Debug` writes `[redacted]`.
#[derive(Clone)]
pub struct Password(Arc<str>);

impl Password {
    /// The longest password there can be, in bytes. It bounds the work of one check.
    pub const MAX_BYTES: usize = 1024;

    /// Wraps a password. Any text is taken; [`Password::is_acceptable`] tells whether it can be
    /// anybody's.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The password itself. Keep it out of logs and errors.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The form that is hashed, in which the same letters typed on another system are the same
    /// bytes (NFKC, as NIST SP 800-63B, section 3.1.1.2, allows).
    pub(crate) fn normalized(&self) -> Cow<'_, str> {
        match is_nfkc_quick(self.0.chars()) {
            IsNormalized::Yes => Cow::Borrowed(&self.0),
            _ => self.0.nfkc().collect::<String>().into(),
        }
    }

    /// The texts of which a stored hash may have been made: earlier versions hashed passwords as
    /// they were typed.
    fn forms(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let normalized = self.normalized();
        let typed = (*normalized != *self.0).then_some(Cow::Borrowed(&*self.0));
        std::iter::once(normalized).chain(typed)
    }

    /// Whether the password has 1 to [`Password::MAX_BYTES`] bytes. Others are never anybody's.
    #[must_use]
    pub fn is_acceptable(&self) -> bool {
        (1..=Self::MAX_BYTES).contains(&self.0.len())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// What a new password hash costs, and how many may be worked on at once.
///
/// Stored hashes carry their own cost, so a changed policy leaves them valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Memory of one hash in KiB, at least 8 for each lane.
    pub memory_kib: u32,
    /// Passes over that memory, at least 1.
    pub iterations: u32,
    /// Lanes, at least 1. They are computed one after another.
    pub lanes: u32,
    /// Hashes computed at the same time; 0 is taken as 1.
    pub concurrency: usize,
}

impl PasswordPolicy {
    /// The cheapest hash there is. It protects nothing and is for tests only.
    #[must_use]
    pub fn cheapest() -> Self {
        Self {
            memory_kib: Params::MIN_M_COST,
            iterations: 1,
            lanes: 1,
            ..Self::default()
        }
    }
}

/// 19 MiB, two passes, one lane (the first choice of OWASP's password storage cheat sheet), and as
/// many at once as there are cores.
impl Default for PasswordPolicy {
    fn default() -> Self {
        Self {
            memory_kib: 19_456,
            iterations: 2,
            lanes: 1,
            concurrency: available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Why a password could not be hashed.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The password is empty or longer than [`Password::MAX_BYTES`].
    #[error("a password has 1 to {} bytes", Password::MAX_BYTES)]
    Length,
    /// The policy asks for parameters that argon2 does not have.
    #[error("these password hashing parameters are not possible: {0}")]
    Policy(argon2::Error),
    /// The hash was not computed: memory is short, the system gave no randomness, or the runtime
    /// is shutting down.
    #[error("the password could not be hashed")]
    Failed,
}

/// Computes and checks password hashes. Clones share one bound on the work done at once.
#[derive(Clone, Debug)]
pub struct Hasher {
    argon: Argon2<'static>,
    hashing: Arc<Semaphore>,
}

impl Hasher {
    /// A hasher for this policy.
    ///
    /// # Errors
    ///
    /// [`PasswordError::Policy`], when argon2 cannot follow it.
    pub fn new(policy: PasswordPolicy) -> Result<Self, PasswordError> {
        let params = Params::new(policy.memory_kib, policy.iterations, policy.lanes, None)
            .map_err(PasswordError::Policy)?;
        let hashing = policy.concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Ok(Self {
            argon: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            hashing: Arc::new(Semaphore::new(hashing)),
        })
    }

    /// Hashes a new password under a random salt, as a PHC string (`$argon2id$v=19$...`).
    ///
    /// # Errors
    ///
    /// [`PasswordError::Length`], when the password is empty or too long, and
    /// [`PasswordError::Failed`], when the hash was not computed.
    pub async fn hash(&self, password: &Password) -> Result<String, PasswordError> {
        if !password.is_acceptable() {
            return Err(PasswordError::Length);
        }
        let password = password.clone();
        self.acquire()
            .await
            .run(move |argon| new_hash(argon, &password))
            .await
            .ok_or(PasswordError::Failed)?
    }

    /// Waits for a turn and checks the password; see [`HashingPermit::verify`].
    pub async fn verify(&self, password: &Password, phc: &str) -> bool {
        self.acquire().await.verify(password, phc).await
    }

    /// Waits for a turn and does the work of a check in vain; see [`HashingPermit::verify_dummy`].
    pub async fn verify_dummy(&self, password: &Password) -> bool {
        self.acquire().await.verify_dummy(password).await
    }

    /// Waits until one of the few checks that run at once is over, and takes its place.
    ///
    /// Ask for the limits on failed checks while holding the turn, and count the failure before
    /// letting go of it: then no more guesses slip past the limit than there are turns, however
    /// many arrive at the same moment.
    pub async fn acquire(&self) -> HashingPermit {
        let permit = Arc::clone(&self.hashing)
            .acquire_owned()
            .await
            .expect("nobody closes the semaphore of turns");
        HashingPermit {
            argon: self.argon.clone(),
            permit: Arc::new(permit),
        }
    }
}

/// A place among the checks that run at once, given back when dropped.
#[derive(Debug)]
pub struct HashingPermit {
    argon: Argon2<'static>,
    permit: Arc<OwnedSemaphorePermit>,
}

impl HashingPermit {
    /// Whether `password` is the one that `phc` was made from. The cost is the stored hash's own.
    ///
    /// A password of an impossible length, an unreadable hash and a runtime that is shutting down
    /// all count as a wrong password.
    pub async fn verify(&self, password: &Password, phc: &str) -> bool {
        if !password.is_acceptable() {
            return false;
        }
        let (password, phc) = (password.clone(), phc.to_owned());
        self.run(move |argon| fits(argon, &password, &phc))
            .await
            .unwrap_or(false)
    }

    /// Takes as long as [`HashingPermit::verify`] does for a hash of this policy and answers false:
    /// for an account that does not exist, so that the time of the answer does not tell.
    pub async fn verify_dummy(&self, password: &Password) -> bool {
        if !password.is_acceptable() {
            return false;
        }
        let password = password.clone();
        self.run(move |argon| {
            for form in password.forms() {
                let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
                let work = argon.hash_password_into(form.as_bytes(), &[0; 16], &mut output);
                // Nobody reads the hash: without this the compiler may leave the work out.
                std::hint::black_box((work.is_ok(), output));
            }
        })
        .await;
        false
    }

    async fn run<T, F>(&self, work: F) -> Option<T>
    where
        T: Send + 'static,
        F: FnOnce(&Argon2<'static>) -> T + Send + 'static,
    {
        let (argon, permit) = (self.argon.clone(), Arc::clone(&self.permit));
        let running = tokio::task::spawn_blocking(move || {
            let result = work(&argon);
            // Work that has begun goes on when its request is dropped, and so must the turn.
            drop(permit);
            result
        });
        running.await.ok()
    }
}

fn new_hash(argon: &Argon2<'static>, password: &Password) -> Result<String, PasswordError> {
    let hash: Result<PasswordHash, _> = argon.hash_password(password.normalized().as_bytes());
    hash.map(|hash| hash.to_string())
        .map_err(|_| PasswordError::Failed)
}

fn fits(argon: &Argon2<'static>, password: &Password, phc: &str) -> bool {
    PasswordHash::new(phc).is_ok_and(|stored| {
        let is_made_of =
            |form: Cow<'_, str>| argon.verify_password(form.as_bytes(), &stored).is_ok();
        password.forms().any(is_made_of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap_hasher() -> Hasher {
        Hasher::new(PasswordPolicy::cheapest()).expect("a possible policy")
    }

    #[tokio::test]
    async fn a_password_is_the_same_however_its_letters_are_encoded() {
        let hasher = cheap_hasher();
        let (composed, apart) = (Password::new("pâté"), Password::new("pa\u{302}te\u{301}"));
        for (set, typed) in [(&composed, &apart), (&apart, &composed)] {
            let phc = hasher.hash(set).await.expect("a hash");
            assert!(hasher.verify(typed, &phc).await);
            assert!(!hasher.verify(&Password::new("pate"), &phc).await);
        }
        // As an earlier version has hashed it.
        let earlier = hasher.argon.hash_password(apart.expose().as_bytes());
        let earlier: PasswordHash = earlier.expect("a hash");
        assert!(hasher.verify(&apart, &earlier.to_string()).await);
    }

    #[tokio::test]
    async fn a_password_fits_its_own_hash_only() {
        let hasher = cheap_hasher();
        let phc = hasher
            .hash(&Password::new("correct horse"))
            .await
            .expect("a hash");

        assert!(phc.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{phc}");
        assert!(hasher.verify(&Password::new("correct horse"), &phc).await);
        assert!(!hasher.verify(&Password::new("Correct horse"), &phc).await);
        assert!(!hasher.verify_dummy(&Password::new("correct horse")).await);
    }

    #[tokio::test]
    async fn equal_passwords_have_different_hashes() {
        let hasher = cheap_hasher();
        let password = Password::new("correct horse");
        assert_ne!(
            hasher.hash(&password).await.expect("a hash"),
            hasher.hash(&password).await.expect("a hash")
        );
    }

    #[tokio::test]
    async fn a_stored_hash_outlives_a_change_of_policy() {
        let password = Password::new("correct horse");
        let phc = cheap_hasher().hash(&password).await.expect("a hash");
        let dearer = PasswordPolicy {
            iterations: 2,
            ..PasswordPolicy::cheapest()
        };
        assert!(
            Hasher::new(dearer)
                .expect("a possible policy")
                .verify(&password, &phc)
                .await
        );
    }

    #[tokio::test]
    async fn the_default_policy_is_named_in_the_hash() {
        let hasher = Hasher::new(PasswordPolicy::default()).expect("a possible policy");
        let phc = hasher
            .hash(&Password::new("correct horse"))
            .await
            .expect("a hash");
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
    }

    #[tokio::test]
    async fn empty_and_overlong_passwords_are_refused_and_never_fit() {
        let hasher = cheap_hasher();
        let longest = Password::new(&"x".repeat(Password::MAX_BYTES));
        let phc = hasher
            .hash(&longest)
            .await
            .expect("the longest password has a hash");
        assert!(hasher.verify(&longest, &phc).await);

        for text in [String::new(), "x".repeat(Password::MAX_BYTES + 1)] {
            let password = Password::new(&text);
            assert!(matches!(
                hasher.hash(&password).await,
                Err(PasswordError::Length)
            ));
            assert!(!hasher.verify(&password, &phc).await);
            assert!(!hasher.verify_dummy(&password).await);
        }
    }

    #[tokio::test]
    async fn an_unreadable_hash_fits_no_password() {
        let hasher = cheap_hasher();
        for phc in [
            "",
            "correct horse",
            "$argon2id$v=19$m=8,t=1,p=1$",
            "$2b$12$abcdefghijklmnopqrstuv",
            "$argon2id$",
        ] {
            assert!(
                !hasher.verify(&Password::new("correct horse"), phc).await,
                "{phc}"
            );
        }
    }

    #[tokio::test]
    async fn no_more_checks_run_at_once_than_there_are_turns() {
        let policy = PasswordPolicy {
            concurrency: 1,
            ..PasswordPolicy::cheapest()
        };
        let hasher = Hasher::new(policy).expect("a possible policy");

        let first = hasher.acquire().await;
        assert_eq!(hasher.hashing.available_permits(), 0);
        assert!(!first.verify(&Password::new("guess"), "").await);
        assert_eq!(
            hasher.hashing.available_permits(),
            0,
            "a permit is kept until it is dropped"
        );

        drop(first);
        hasher.acquire().await;
        assert_eq!(hasher.hashing.available_permits(), 1);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let policy = PasswordPolicy {
            memory_kib: 0,
            ..PasswordPolicy::default()
        };
        assert!(matches!(Hasher::new(policy), Err(PasswordError::Policy(_))));
    }

    #[test]
    fn a_password_does_not_print() {
        assert_eq!(
            format!("{:?}", Password::new("correct horse")),
            "[redacted]"
        );
    }
}
