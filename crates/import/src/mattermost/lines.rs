//! Lines of a file of a stranger.

use std::io::{BufRead, Read as _};

use crate::Result;

/// The most bytes of a line.
const MAX_LINE: u64 = 8 << 20;

/// A line.
pub(super) enum Line<'l> {
    /// Its bytes.
    Whole(&'l [u8]),
    /// It has more bytes than are read.
    TooLong,
}

/// Gives the lines that are not empty, with their numbers.
pub(super) fn each_line(
    mut lines: impl BufRead,
    each: &mut dyn FnMut(u64, Line<'_>) -> Result<()>,
) -> Result<()> {
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        if read as u64 == MAX_LINE && !line.ends_with(b"\n") {
            lines.skip_until(b'\n')?;
            each(number, Line::TooLong)?;
        } else if !line.trim_ascii().is_empty() {
            each(number, Line::Whole(&line))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = vec![b'x'; MAX_LINE as usize + 7];
        let text = [b"a\n\n".as_slice(), &long, b"\nb"].concat();
        let mut found = Vec::new();
        each_line(&text[..], &mut |number, line| {
            found.push((number, matches!(line, Line::TooLong)));
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [(1, false), (3, true), (4, false)]);
    }
}
