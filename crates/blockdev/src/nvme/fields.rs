//! Numbers and texts in structures of bytes, all little-endian.

pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the slice has N bytes")
}

/// A text that ends at its first zero.
pub fn text_at(bytes: &[u8], at: usize, length: usize) -> String {
    let field = &bytes[at..at + length];
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(length);
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// A structure that is filled in field by field.
pub struct Page(Vec<u8>);

impl Page {
    pub fn new(length: usize) -> Self {
        Self(vec![0; length])
    }

    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub fn u8(&mut self, at: usize, value: u8) {
        self.0[at] = value;
    }

    pub fn u16(&mut self, at: usize, value: u16) {
        self.put(at, &value.to_le_bytes());
    }

    pub fn u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub fn u64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// A number of 16 bytes.
    pub fn u128(&mut self, at: usize, value: u64) {
        self.u64(at, value);
    }

    /// A text filled up with `filler`; what does not fit is cut off.
    pub fn text(&mut self, at: usize, length: usize, text: &str, filler: u8) {
        let kept = text.len().min(length);
        self.0[at..at + length].fill(filler);
        self.put(at, &text.as_bytes()[..kept]);
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
