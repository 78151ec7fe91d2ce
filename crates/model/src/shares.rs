//! Shares of a resource that leave room for others.

/// The amount of a resource that is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// By all together.
    pub all: u64,
    /// By the group of a caller: its organization.
    pub group: u64,
    /// By the caller.
    pub caller: u64,
}

/// The reason for which a caller gets no more of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Nothing is left.
    All,
    /// The rest is for others.
    Share,
}

/// Admits a caller to `amount` more of a resource of which there is `bound` in all. A group may use
/// as much as it leaves to all other groups, and a caller as much as it leaves to the other callers
/// of half of the resource. So a caller who is alone has a quarter, a group almost a half, and the
/// next one can begin at once. A resource that is not in use is given to the first caller that asks
/// for it, whatever the amount.
///
/// # Errors
///
/// [`NoRoom`].
pub const fn leaves_room(bound: u64, in_use: InUse, amount: u64) -> Result<(), NoRoom> {
    if in_use.all == 0 {
        return Ok(());
    }
    let left = bound.saturating_sub(in_use.all);
    let left_in_group = (bound / 2).saturating_sub(in_use.group);
    if amount > left {
        Err(NoRoom::All)
    } else if in_use.group + amount > left || in_use.caller + amount > left_in_group {
        Err(NoRoom::Share)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the amount that each caller of a group gets, one after the other, if all take what
    /// they can. The others use `all`.
    fn take(callers: usize, all: &mut u64) -> Vec<u64> {
        let mut group = 0;
        let mut take_one = || {
            let mut caller = 0;
            while leaves_room(
                64,
                InUse {
                    all: *all,
                    group,
                    caller,
                },
                1,
            )
            .is_ok()
            {
                (caller, group, *all) = (caller + 1, group + 1, *all + 1);
            }
            caller
        };
        (0..callers).map(|_| take_one()).collect()
    }

    #[test]
    fn who_is_alone_leaves_as_much_as_they_use() {
        assert_eq!(take(1, &mut 0), [16]);
        assert_eq!(take(7, &mut 0), [16, 8, 4, 2, 1, 1, 0]);
    }

    #[test]
    fn each_group_leaves_room_for_the_next() {
        let mut all = 0;
        let groups: Vec<u64> = (0..7).map(|_| take(5, &mut all).iter().sum()).collect();
        assert_eq!(groups, [31, 17, 8, 4, 2, 1, 1]);
    }

    #[test]
    fn what_nobody_uses_is_given_whatever_its_size() {
        let nothing = InUse::default();
        assert_eq!(leaves_room(2, nothing, 64), Ok(()));
        let something = InUse { all: 1, ..nothing };
        assert_eq!(leaves_room(2, something, 64), Err(NoRoom::All));
        assert_eq!(leaves_room(2, something, 1), Ok(()));
    }
}
