//! Keys that were removed: specifications of the last release give them at their default, which this release accepts.

use serde::{Deserialize, Deserializer, de::Error};

/// The place of a removed key that is true or false, false by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedSwitch;

impl<'de> Deserialize<'de> for RemovedSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if bool::deserialize(deserializer)? {
            return Err(D::Error::custom("the key was removed after release 0.1 and can only be false"));
        }
        Ok(Self)
    }
}
