//! Reads numbers and words off the front of a byte slice, without allocation or UTF-8 checks.

pub(crate) const NS_PER_US: u64 = 1_000;
pub(crate) const NS_PER_MS: u64 = 1_000_000;
pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// Any number of at most this many decimal digits fits a `u64`.
const SAFE_DIGITS_MAX: usize = 19;

pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// A run of decimal digits; `None` when there is none or it does not fit.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let (value, digits) = leading_digits(self.rest)?;
        self.rest = &self.rest[digits..];
        Some(value)
    }

    /// A decimal fraction such as `12.000345` in whole units of a `unit_ns`-nanosecond unit, as nanoseconds.
    /// `unit_ns` is a power of ten; what is finer than a nanosecond is cut off.
    #[inline]
    pub fn decimal_ns(&mut self, unit_ns: u64) -> Option<u64> {
        let mut time_ns = self.number()?.checked_mul(unit_ns)?;
        if self.byte(b'.') {
            let mut place_ns = unit_ns / 10;
            let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            for &digit in &self.rest[..digits] {
                time_ns = time_ns.checked_add(u64::from(digit - b'0') * place_ns)?;
                place_ns /= 10;
            }
            self.rest = &self.rest[digits..];
        }
        Some(time_ns)
    }

    /// A run of hexadecimal digits, with or without `0x`.
    pub fn hexadecimal(&mut self) -> Option<u64> {
        let digits_from = if self.rest.starts_with(b"0x") || self.rest.starts_with(b"0X") { 2 } else { 0 };
        let digits = self.rest[digits_from..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits == 0 {
            return None;
        }
        let mut value: u64 = 0;
        for &digit in &self.rest[digits_from..digits_from + digits] {
            let nibble = (digit as char).to_digit(16)?;
            value = value.checked_mul(16)? | u64::from(nibble);
        }
        self.rest = &self.rest[digits_from + digits..];
        Some(value)
    }

    /// Takes this byte if it comes next.
    #[inline]
    pub fn byte(&mut self, wanted: u8) -> bool {
        match self.rest.split_first() {
            Some((&byte, rest)) if byte == wanted => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Takes a comma and the blanks behind it; false when no comma comes next.
    #[inline]
    pub fn comma(&mut self) -> bool {
        let is_there = self.byte(b',');
        if is_there {
            self.spaces();
        }
        is_there
    }

    /// Takes spaces and tabs; false when there is none.
    #[inline]
    pub fn spaces(&mut self) -> bool {
        let count = self.rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        self.rest = &self.rest[count..];
        count > 0
    }

    /// What comes before the next space, tab or the end; may be empty.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        let length = self.rest.iter().take_while(|&&byte| byte != b' ' && byte != b'\t').count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    /// What comes before the next `delimiter`, which is taken too; `None` when there is no such delimiter.
    #[inline]
    pub fn until(&mut self, delimiter: u8) -> Option<&'a [u8]> {
        let length = self.rest.iter().position(|&byte| byte == delimiter)?;
        let field = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        Some(field)
    }
}

#[inline]
fn leading_digits(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    let mut digits = 0;
    while let Some(&byte) = bytes.get(digits) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    match digits {
        0 => None,
        1..=SAFE_DIGITS_MAX => Some((value, digits)),
        // Only here can the value have wrapped: parse again with the check.
        _ => std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok().map(|value| (value, digits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(Cursor::new(b"18446744073709551615,").number(), Some(u64::MAX));
        assert_eq!(Cursor::new(b"18446744073709551616").number(), None);
        assert_eq!(Cursor::new(b"000000000000000000000000007").number(), Some(7));
        assert_eq!(Cursor::new(b"-1").number(), None);
        assert_eq!(Cursor::new(b"").number(), None);
    }

    #[test]
    fn decimals_keep_nanoseconds_and_drop_what_is_finer() {
        assert_eq!(Cursor::new(b"1455591601.000072956").decimal_ns(NS_PER_S), Some(1_455_591_601_000_072_956));
        assert_eq!(Cursor::new(b"0.0000000019").decimal_ns(NS_PER_S), Some(1));
        assert_eq!(Cursor::new(b"13.191135").decimal_ns(NS_PER_MS), Some(13_191_135));
        assert_eq!(Cursor::new(b"7").decimal_ns(NS_PER_S), Some(7_000_000_000));
        assert_eq!(Cursor::new(b"7.").decimal_ns(NS_PER_S), Some(7_000_000_000));
        assert_eq!(Cursor::new(b".5").decimal_ns(NS_PER_S), None);
        assert_eq!(Cursor::new(b"18446744074").decimal_ns(NS_PER_S), None);
    }

    #[test]
    fn hexadecimal_takes_the_prefix_and_checks_the_width() {
        assert_eq!(Cursor::new(b"0x1f ").hexadecimal(), Some(31));
        assert_eq!(Cursor::new(b"ffffffffffffffff").hexadecimal(), Some(u64::MAX));
        assert_eq!(Cursor::new(b"10000000000000000").hexadecimal(), None);
        assert_eq!(Cursor::new(b"xyz").hexadecimal(), None);
    }

    proptest! {
        /// The standard library's parser is the slow twin.
        #[test]
        fn numbers_agree_with_the_standard_parser(text in "[0-9]{0,24}[,a-z]?") {
            let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
            prop_assert_eq!(Cursor::new(text.as_bytes()).number(), digits.parse::<u64>().ok());
        }
    }
}
