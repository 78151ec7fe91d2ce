//! A generator of random numbers and values.

/// Random numbers, the same for the same seed (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap()
    }

    /// True once in so many times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the list, which is not empty.
    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// A number, mostly a small one, often one at an end.
    pub(crate) fn number(&mut self) -> i64 {
        const ENDS: [i64; 12] = [
            0,
            -1,
            1,
            1_000_000,
            1_000_001,
            u32::MAX as i64,
            u32::MAX as i64 / 2,
            u32::MAX as i64 / 2 + 1,
            u32::MAX as i64 + 1,
            i64::MAX,
            i64::MAX - 1,
            i64::MIN,
        ];
        match self.one_in(3) {
            true => self.pick(&ENDS),
            false => i64::try_from(self.below(12)).unwrap(),
        }
    }

    /// A time, mostly of this century.
    pub(crate) fn time(&mut self) -> i64 {
        match self.one_in(5) {
            true => self.number(),
            false => 1_700_000_000_000 + i64::try_from(self.below(1_000_000_000)).unwrap(),
        }
    }

    /// An address, of a user of any tenant or of none, in any spelling.
    pub(crate) fn address(&mut self) -> String {
        let plain = self.pick(&[
            "ada@acme.example",
            "bob@acme.example",
            "mal@acme.example",
            "sam@shared.example",
            "vic@beta.example",
            "wil@beta.example",
            "yan@beta.example",
            "lou@lone.example",
            "ceo@beta.example",
            "new@acme.example",
            "new@nowhere.example",
            "other@nowhere.example",
            "user-1@unproved.invalid",
            "no address",
            "",
        ]);
        match self.below(5) {
            0 => plain.to_uppercase(),
            1 => plain.replace("beta", "BETA"),
            2 => plain.replace('a', "A"),
            _ => plain.to_owned(),
        }
    }

    /// A word that has a meaning in some place.
    pub(crate) fn word(&mut self) -> String {
        let word = self.pick(&[
            "vic",
            "ada",
            "main",
            "room",
            "beta",
            "Tracker",
            "crew",
            "everyone",
            "",
            "\u{202e}x\u{0}",
            "../../x",
            "1-2",
            "4-5",
            "hello @vic @ada @everyone :user:5 #tag",
        ]);
        word.to_owned()
    }
}
