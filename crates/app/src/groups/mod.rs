//! Groups of users within an organization.

mod mentions;

pub(crate) use self::mentions::Groups;
