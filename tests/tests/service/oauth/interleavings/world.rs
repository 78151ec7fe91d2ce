//! What must be true: how deeds are to be answered, and which tokens hold after them.
//!
//! Where an answer was lost, or where deeds met, several worlds are possible; looking at the
//! servers tells which of them it is.

use std::collections::{BTreeMap, BTreeSet};

use super::deeds::{Answer, Deed, Pair};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct World {
    /// By the secret that they began with: a code, or the first access token.
    pub(super) families: BTreeMap<String, Family>,
    pub(super) codes: BTreeMap<String, Code>,
    pub(super) access: BTreeMap<String, Access>,
    pub(super) refresh: BTreeMap<String, Refresh>,
    /// Applications that are no more.
    pub(super) removed: BTreeSet<usize>,
}

/// All that came of one consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) pair: Pair,
    pub(super) offline: bool,
    pub(super) lives: bool,
    /// Which refresh token is the present one.
    pub(super) generation: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) pair: Pair,
    pub(super) offline: bool,
    pub(super) state: CodeState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeState {
    Fresh,
    /// The family bears its name.
    Used,
    TakenBack,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) family: String,
    /// It was revoked by itself.
    pub(super) revoked: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refresh {
    pub(super) family: String,
    pub(super) generation: usize,
}

/// What a deed must be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Tokens {
        refresh: bool,
    },
    Code,
    Done,
    Refused(&'static str),
    /// Some refusal, or that there was nothing left to do: the application is gone, or is about to
    /// be.
    Nothing,
}

const BAD_GRANT: Expected = Expected::Refused("invalid_grant");

impl Expected {
    fn is(self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Tokens { refresh: expected }, Answer::Tokens { refresh, .. }) => {
                expected == refresh.is_some()
            }
            (Self::Code, Answer::Code(_)) | (Self::Done, Answer::Done) => true,
            (Self::Refused(expected), Answer::Refused(error)) => expected == error,
            (Self::Nothing, Answer::Refused(_) | Answer::Done) => true,
            _ => false,
        }
    }
}

impl World {
    /// Whether an access token may be used.
    pub(super) fn is_usable(&self, access: &str) -> bool {
        let token = &self.access[access];
        !token.revoked && self.families[&token.family].lives
    }

    /// Whether a refresh token is the one that its family has.
    pub(super) fn is_present(&self, refresh: &str) -> bool {
        let token = &self.refresh[refresh];
        let family = &self.families[&token.family];
        family.lives && family.generation == token.generation
    }

    /// The worlds that there may be after deeds that were done at the same time; none when no order
    /// of them explains the answers.
    pub(super) fn after_all(&self, done: &[(Deed, Answer)]) -> Vec<Self> {
        if done.is_empty() {
            return vec![self.clone()];
        }
        let mut worlds = Vec::new();
        for first in 0..done.len() {
            let mut rest = done.to_vec();
            let (deed, answer) = rest.remove(first);
            for world in self.after(&deed, &answer) {
                for world in world.after_all(&rest) {
                    if !worlds.contains(&world) {
                        worlds.push(world);
                    }
                }
            }
        }
        worlds
    }

    fn after(&self, deed: &Deed, answer: &Answer) -> Vec<Self> {
        let mut after = self.clone();
        let expected = after.take(deed, answer);
        match answer {
            Answer::Lost => vec![self.clone(), after],
            answer if expected.is(answer) => vec![after],
            _ => Vec::new(),
        }
    }

    /// What of this would be dead after a deed.
    pub(super) fn ended_by(&self, deed: &Deed) -> Vec<String> {
        let mut after = self.clone();
        after.take(deed, &Answer::Lost);
        let dies = |token: &&String| self.is_usable(token) && !after.is_usable(token);
        self.access.keys().filter(dies).cloned().collect()
    }

    fn take(&mut self, deed: &Deed, answer: &Answer) -> Expected {
        if self.removed.contains(&deed.application()) {
            return Expected::Nothing;
        }
        match deed {
            Deed::Password { pair, offline } => {
                // Of a family whose first answer was lost nobody knows anything.
                if let Answer::Tokens { access, .. } = answer {
                    self.begin(access, *pair, *offline, answer);
                }
                Expected::Tokens { refresh: *offline }
            }
            Deed::Consent { pair, offline } => {
                if let Answer::Code(code) = answer {
                    let state = CodeState::Fresh;
                    self.codes.insert(
                        code.clone(),
                        Code {
                            pair: *pair,
                            offline: *offline,
                            state,
                        },
                    );
                }
                Expected::Code
            }
            Deed::Exchange { client, code } => self.exchange(*client, code, answer),
            Deed::Refresh { client, token } => self.refresh(*client, token, answer),
            Deed::Revoke { client, token } => self.revoke(*client, token),
            Deed::TakeBack { pair } => self.end_all(|other| other == *pair),
            Deed::Remove { application } => {
                self.removed.insert(*application);
                self.end_all(|pair| pair.application == *application)
            }
        }
    }

    fn end_all(&mut self, whose: impl Fn(Pair) -> bool) -> Expected {
        for family in self
            .families
            .values_mut()
            .filter(|family| whose(family.pair))
        {
            family.lives = false;
        }
        for code in self.codes.values_mut().filter(|code| whose(code.pair)) {
            code.state = CodeState::TakenBack;
        }
        Expected::Done
    }

    fn begin(&mut self, name: &str, pair: Pair, offline: bool, answer: &Answer) {
        self.families.insert(
            name.to_owned(),
            Family {
                pair,
                offline,
                lives: true,
                generation: 0,
            },
        );
        self.keep(name, 0, answer);
    }

    fn keep(&mut self, family: &str, generation: usize, answer: &Answer) {
        let Answer::Tokens { access, refresh } = answer else {
            return;
        };
        let family = family.to_owned();
        self.access.insert(
            access.clone(),
            Access {
                family: family.clone(),
                revoked: false,
            },
        );
        if let Some(refresh) = refresh {
            self.refresh
                .insert(refresh.clone(), Refresh { family, generation });
        }
    }

    fn exchange(&mut self, client: usize, name: &str, answer: &Answer) -> Expected {
        let Some(code) = self
            .codes
            .get_mut(name)
            .filter(|code| code.pair.application == client)
        else {
            return BAD_GRANT;
        };
        match code.state {
            CodeState::Fresh => {
                code.state = CodeState::Used;
                let (pair, offline) = (code.pair, code.offline);
                self.begin(name, pair, offline, answer);
                Expected::Tokens { refresh: offline }
            }
            CodeState::Used => {
                self.families
                    .get_mut(name)
                    .expect("a used code gave something")
                    .lives = false;
                BAD_GRANT
            }
            CodeState::TakenBack => BAD_GRANT,
        }
    }

    fn refresh(&mut self, client: usize, token: &str, answer: &Answer) -> Expected {
        let Refresh {
            family: name,
            generation,
        } = self.refresh[token].clone();
        let family = self.families.get_mut(&name).expect("a token has a family");
        if !family.lives || family.pair.application != client {
            return BAD_GRANT;
        }
        match family.generation - generation {
            0 => {
                family.generation += 1;
                let next = family.generation;
                self.keep(&name, next, answer);
                Expected::Tokens { refresh: true }
            }
            // It may be asked again since the answer was lost.
            1 => BAD_GRANT,
            _ => {
                family.lives = false;
                BAD_GRANT
            }
        }
    }

    fn revoke(&mut self, client: usize, token: &str) -> Expected {
        const NOT_YOURS: Expected = Expected::Refused("unauthorized_client");
        let refresh = self.refresh.get(token).map(|token| token.family.clone());
        let name = refresh
            .clone()
            .unwrap_or_else(|| self.access[token].family.clone());
        let known =
            self.families[&name].lives && (refresh.is_some() || !self.access[token].revoked);
        let family = self.families.get_mut(&name).expect("a token has a family");
        match (known, family.pair.application == client) {
            (false, _) => return Expected::Done,
            (true, false) => return NOT_YOURS,
            (true, true) => {}
        }
        if refresh.is_some() {
            family.lives = false;
        } else {
            self.access
                .get_mut(token)
                .expect("it is an access token")
                .revoked = true;
        }
        Expected::Done
    }
}
