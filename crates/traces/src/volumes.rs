//! Maps volume names (hosts and disks, device numbers, files) to small numbers.

use std::collections::HashMap;

/// A damaged file must not fill the memory with names; the largest public traces have some thousand volumes.
const VOLUMES_MAX: usize = 1 << 20;

#[derive(Default)]
pub struct Volumes {
    names: Vec<String>,
    ids: HashMap<Box<[u8]>, u32>,
    /// Runs of requests to one volume are common: the last key is compared before anything is hashed.
    last_key: Vec<u8>,
    last_id: u32,
}

impl Volumes {
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the volume that `key` names; a new volume's name is the key as text.
    #[inline]
    pub(crate) fn intern(&mut self, key: &[u8]) -> Result<u32, &'static str> {
        self.intern_named(key, || String::from_utf8_lossy(key).into_owned())
    }

    /// The same with a separate name for a new volume.
    #[inline]
    pub(crate) fn intern_named(&mut self, key: &[u8], name: impl FnOnce() -> String) -> Result<u32, &'static str> {
        if self.last_key == key && !self.names.is_empty() {
            return Ok(self.last_id);
        }
        let id = match self.ids.get(key) {
            Some(&id) => id,
            None if self.names.len() == VOLUMES_MAX => return Err("at most 1048576 volumes in a trace"),
            None => {
                let id = self.names.len() as u32;
                self.names.push(name());
                self.ids.insert(key.into(), id);
                id
            }
        };
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.last_id = id;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut volumes = Volumes::default();
        let ids: Vec<u32> =
            [&b""[..], b"a", b"b", b"b", b"a", b"", b"c"].iter().map(|key| volumes.intern(key).unwrap()).collect();
        assert_eq!(ids, [0, 1, 2, 2, 1, 0, 3]);
        assert_eq!(volumes.names(), ["", "a", "b", "c"]);
    }
}
