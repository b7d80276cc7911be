//! Every counter of a drive, and the identities between them.

use serde::Serialize;
use std::ops::{AddAssign, Sub};

/// Why a mapping unit was programmed. Their sum over bytes written by the host is write amplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Host,
    Gc,
    WearLeveling,
    Parity,
    Padding,
    ReadModifyWrite,
}

macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),+ }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field),+ }
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

counters! {
    /// Mapping units programmed into flash, by cause.
    ProgrammedUnits {
        host: u64,
        gc: u64,
        wear_leveling: u64,
        metadata: u64,
        parity: u64,
        padding: u64,
        slc_fold: u64,
    }
}

impl ProgrammedUnits {
    pub fn total(&self) -> u64 {
        self.host + self.gc + self.wear_leveling + self.metadata + self.parity + self.padding + self.slc_fold
    }
}

counters! {
    /// Mapping units read from flash, by cause.
    ReadUnits {
        host: u64,
        gc: u64,
        wear_leveling: u64,
        /// Read to fill up a unit of which the host wrote a part.
        read_modify_write: u64,
    }
}

counters! {
    /// Counters since the drive was new, or between two moments.
    Ledger {
        host_written_bytes: u64,
        host_read_bytes: u64,
        host_trimmed_bytes: u64,
        programmed_units: ProgrammedUnits,
        read_units: ReadUnits,
        /// Units of which the host wrote a part only; each is programmed whole.
        read_modify_write_units: u64,
        /// Live units that a trim made stale.
        trimmed_units: u64,
        erased_erase_units: u64,
    }
}
