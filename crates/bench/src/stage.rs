//! What all parts need.

use std::path::Path;

use crate::arguments::Arguments;
use crate::fill::Homes;
use crate::plan::Plan;
use crate::server::Binary;

/// What all parts need.
pub(crate) struct Stage<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) plan: Plan,
    pub(crate) binary: Binary,
    pub(crate) homes: Homes,
    /// A directory for files that are not kept.
    pub(crate) scratch: &'a Path,
    /// Where nchan is, when it is to be measured.
    pub(crate) nchan: Option<std::path::PathBuf>,
}
