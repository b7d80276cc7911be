//! Every counter of a drive, and the identities between them.
//!
//! Programmed and read units are mapping units; a drive that reduces data counts them finer, in units of
//! `Capacity::counted_unit_bytes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Sub};

/// Why a mapping unit was programmed. Their sum over bytes written by the host is write amplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    Host,
    Gc,
    WearLeveling,
    Parity,
    Padding,
    SlcFold,
    ReadModifyWrite,
    /// Map pages.
    Metadata,
}

/// Every counter so many times: what a drive of so many times more units would have counted.
trait Times {
    fn times(self, times: u64) -> Self;
}

impl Times for u64 {
    fn times(self, times: u64) -> Self {
        self * times
    }
}

macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),+ }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field),+ }
            }
        }

        impl Times for $name {
            fn times(self, times: u64) -> Self {
                Self { $($field: self.$field.times(times)),+ }
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
        slc_fold: u64,
        /// Read to fill up a unit of which the host wrote a part.
        read_modify_write: u64,
        /// Map pages that were not in memory.
        metadata: u64,
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
        /// Look-ups of map pages, by drives that do not hold the whole map in memory.
        map_page_lookups: u64,
        /// Units that the host has written and the drive had stored already; counted in mapping units.
        deduplicated_units: u64,
    }
}

counters! {
    /// Mapping units of a namespace that were programmed into flash, by cause.
    NamespacePrograms {
        host: u64,
        gc: u64,
        wear_leveling: u64,
        slc_fold: u64,
    }
}

counters! {
    /// Mapping units of a namespace that were read from flash for its host, by cause.
    NamespaceReads {
        host: u64,
        read_modify_write: u64,
    }
}

counters! {
    /// What a ledger counts and an address has caused: the counters of one of several namespaces. Parity, padding and
    /// erases belong to none.
    NamespaceLedger {
        host_written_bytes: u64,
        host_read_bytes: u64,
        host_trimmed_bytes: u64,
        programmed_units: NamespacePrograms,
        read_units: NamespaceReads,
        /// Units of which the host wrote a part only; each is programmed whole.
        read_modify_write_units: u64,
        /// Live units that a trim made stale.
        trimmed_units: u64,
    }
}

impl NamespaceLedger {
    /// What requests count, without what is moved meanwhile.
    pub fn of_requests(ledger: &Ledger) -> Self {
        Self {
            host_written_bytes: ledger.host_written_bytes,
            host_read_bytes: ledger.host_read_bytes,
            host_trimmed_bytes: ledger.host_trimmed_bytes,
            programmed_units: NamespacePrograms { host: ledger.programmed_units.host, ..NamespacePrograms::default() },
            read_units: NamespaceReads {
                host: ledger.read_units.host,
                read_modify_write: ledger.read_units.read_modify_write,
            },
            read_modify_write_units: ledger.read_modify_write_units,
            trimmed_units: ledger.trimmed_units,
        }
    }

    /// What all namespaces of a drive with such a ledger count together.
    pub fn of_all(ledger: &Ledger) -> Self {
        let programs = ledger.programmed_units;
        let programmed_units = NamespacePrograms {
            host: programs.host,
            gc: programs.gc,
            wear_leveling: programs.wear_leveling,
            slc_fold: programs.slc_fold,
        };
        Self { programmed_units, ..Self::of_requests(ledger) }
    }

    /// A live unit was programmed elsewhere.
    pub fn moved(&mut self, cause: Cause) {
        let programs = &mut self.programmed_units;
        match cause {
            Cause::WearLeveling => programs.wear_leveling += 1,
            Cause::SlcFold => programs.slc_fold += 1,
            _ => programs.gc += 1,
        }
    }
}

impl Ledger {
    /// That of a drive whose erase units are so many times larger: as many erases, so many times the rest.
    pub fn magnified(self, times: u64) -> Self {
        Self { erased_erase_units: self.erased_erase_units, ..self.times(times) }
    }
}
