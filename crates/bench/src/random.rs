//! Numbers that look like chance and are the same in every run.

/// The generator known as `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    pub(crate) fn fraction(&mut self) -> f64 {
        const STEPS: f64 = (1u64 << 53) as f64;
        (self.next() >> 11) as f64 / STEPS
    }

    /// A number in `range`, which is not empty.
    pub(crate) fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + (self.next() % range.len() as u64) as usize
    }
}
