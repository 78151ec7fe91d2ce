//! The colours behind the initials.

/// Colours of about the same lightness all around the wheel. White text on any of them has a
/// contrast of at least 4.5 to 1, as level AA of the Web Content Accessibility Guidelines asks.
const PALETTE: [u32; 24] = [
    0xb24f63, 0xb4514c, 0xb25634, 0xad5c15, 0xa06604, 0x916c00, 0x817201, 0x6e7800, 0x567e1f,
    0x34823b, 0x048254, 0x00826b, 0x077f7a, 0x067f8a, 0x067d97, 0x0079a9, 0x2b76bb, 0x4d6fbf,
    0x6769bf, 0x7b62b8, 0x8c5cad, 0x9a579e, 0xa5538c, 0xad5078,
];

/// The colour that belongs to a key, as 0xRRGGBB; always the same, on every machine.
pub(crate) fn of(key: &str) -> u32 {
    // FNV-1a: keys need not be hexadecimal digits, and the standard library's hash may change.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The last letters have hardly reached the high bits, nor the first ones left the low bits.
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let place = mixed % PALETTE.len() as u64;
    PALETTE[place as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let value = f64::from(colour >> shift & 0xff) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    #[test]
    fn white_text_is_legible_on_every_colour() {
        for colour in PALETTE {
            let contrast = 1.05 / (luminance(colour) + 0.05);
            assert!(contrast >= 4.5, "#{colour:06x}: {contrast:.2}");
        }
    }

    #[test]
    fn every_colour_is_somebodys() {
        let mut seen: Vec<u32> = (0..1_000_u128)
            .map(|user| of(&format!("{user:032x}")))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), PALETTE.len());
    }

    #[test]
    fn a_key_keeps_its_colour() {
        assert_eq!(of("5f3a1c0b9d7e4f62a1b2c3d4e5f60718"), 0x7b62b8);
        assert_eq!(of(""), 0x077f7a);
    }
}
