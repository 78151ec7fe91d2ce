//! What happens next, by chance.

use eddyline_tests::Dice;

use super::deeds::{APPLICATIONS, Deed, Pair, USERS};
use super::world::{CodeState, World};

/// What deeds are about, so that they meet.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A code that was not exchanged.
    Code(String),
    /// A family, by its name.
    Family(String),
}

/// Something new.
pub(super) fn beginning(dice: &mut Dice) -> Deed {
    let pair = Pair {
        user: dice.below(USERS),
        application: dice.below(APPLICATIONS),
    };
    permission(dice, pair)
}

fn permission(dice: &mut Dice, pair: Pair) -> Deed {
    let offline = !dice.one_in(4);
    if dice.one_in(2) {
        Deed::Password { pair, offline }
    } else {
        Deed::Consent { pair, offline }
    }
}

/// Something that is there, mostly something that lives.
pub(super) fn subject(dice: &mut Dice, world: &World) -> Option<Subject> {
    let codes = world
        .codes
        .iter()
        .filter(|(_, code)| code.state == CodeState::Fresh);
    let codes: Vec<_> = codes.map(|(name, _)| Subject::Code(name.clone())).collect();
    let families = |lives| {
        let found = world
            .families
            .iter()
            .filter(move |(_, family)| family.lives == lives);
        found
            .map(|(name, _)| Subject::Family(name.clone()))
            .collect::<Vec<_>>()
    };
    let order = match dice.below(12) {
        0..=3 => [codes, families(true), families(false)],
        4..=10 => [families(true), codes, families(false)],
        _ => [families(false), families(true), codes],
    };
    let found = order.into_iter().find(|list| !list.is_empty())?;
    Some(dice.pick(&found))
}

/// Something that may be done about it.
pub(super) fn deed_about(dice: &mut Dice, world: &World, subject: &Subject) -> Deed {
    match subject {
        Subject::Code(code) => {
            let pair = world.codes[code].pair;
            match dice.below(8) {
                0 => Deed::TakeBack { pair },
                1 => Deed::Exchange {
                    client: other(pair.application),
                    code: code.clone(),
                },
                _ => Deed::Exchange {
                    client: pair.application,
                    code: code.clone(),
                },
            }
        }
        Subject::Family(name) => about_family(dice, world, name),
    }
}

fn other(application: usize) -> usize {
    (application + 1) % APPLICATIONS
}

fn about_family(dice: &mut Dice, world: &World, name: &str) -> Deed {
    let pair = world.families[name].pair;
    let own = pair.application;
    // Another client that got hold of a token.
    let client = if dice.one_in(12) { other(own) } else { own };
    let access: Vec<&String> = world
        .access
        .iter()
        .filter(|(_, token)| token.family == name)
        .map(|(token, _)| token)
        .collect();
    let mut refresh: Vec<_> = world
        .refresh
        .iter()
        .filter(|(_, token)| token.family == name)
        .collect();
    refresh.sort_by_key(|(_, token)| token.generation);
    let refresh: Vec<&String> = refresh.into_iter().map(|(token, _)| token).collect();
    let token = |token: &String| token.clone();
    match dice.below(17) {
        0..=6 if !refresh.is_empty() => Deed::Refresh {
            client,
            token: token(refresh[refresh.len() - 1]),
        },
        7 | 8 if !refresh.is_empty() => Deed::Refresh {
            client,
            token: token(dice.pick(&refresh)),
        },
        9 if !refresh.is_empty() => Deed::Revoke {
            client,
            token: token(dice.pick(&refresh)),
        },
        10 | 11 if world.codes.contains_key(name) => Deed::Exchange {
            client,
            code: name.to_owned(),
        },
        12 => permission(dice, pair),
        13 if dice.one_in(3) => Deed::Remove { application: own },
        13 => Deed::TakeBack { pair },
        // A family without any: the answer that would have brought them was lost.
        _ if access.is_empty() => Deed::Exchange {
            client,
            code: name.to_owned(),
        },
        _ => Deed::Revoke {
            client,
            token: token(dice.pick(&access)),
        },
    }
}

/// An access token that may be used, of this family or of any; `None` when there is none.
pub(super) fn usable(dice: &mut Dice, world: &World, family: Option<&str>) -> Option<String> {
    let all = world.access.iter().filter(|(token, access)| {
        world.is_usable(token) && family.is_none_or(|family| access.family == family)
    });
    let all: Vec<String> = all.map(|(token, _)| token.clone()).collect();
    (!all.is_empty()).then(|| dice.pick(&all))
}
