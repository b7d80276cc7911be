//! Every counter of a drive, and the identities between them.
//!
//! Programs and reads are counted in mapping units; a drive that reduces data counts in the smaller unit
//! `Capacity::counted_unit_bytes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Sub};

/// Why a mapping unit was programmed. The sum over all causes, divided by the host's writes, is the write
/// amplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// A write of the host.
    Host,
    /// A move by garbage collection.
    Gc,
    /// A move by wear levelling or refresh.
    WearLeveling,
    /// Parity.
    Parity,
    /// Padding of program groups and erase units.
    Padding,
    /// A move from the SLC cache.
    SlcFold,
    /// The rest of a unit partly written by the host.
    ReadModifyWrite,
    /// Pages of the map.
    Metadata,
}

/// Multiplication of every counter: the counters of a drive with that many times more units.
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
        #[allow(missing_docs, reason = "the comment of the type says what is counted, by `Cause` or by event")]
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
        /// The map's journal, written by flushes of a drive without power-loss protection; absent without any. It is
        /// in blocks of its own, whose erases are not simulated.
        #[serde(skip_serializing_if = "is_zero")]
        journal: u64,
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ProgrammedUnits {
    /// The sum over all causes.
    pub fn total(&self) -> u64 {
        self.in_erase_units() + self.journal
    }

    /// Those that are in erase units.
    pub fn in_erase_units(&self) -> u64 {
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
        /// Reads of a unit's old data for a write to a part of it.
        read_modify_write: u64,
        /// Map pages read because they were not in memory.
        metadata: u64,
    }
}

impl ReadUnits {
    /// The sum over all causes.
    pub fn total(&self) -> u64 {
        self.host + self.gc + self.wear_leveling + self.slc_fold + self.read_modify_write + self.metadata
    }
}

counters! {
    /// Counters since the drive was new, or between two points in time.
    Ledger {
        host_written_bytes: u64,
        host_read_bytes: u64,
        host_trimmed_bytes: u64,
        programmed_units: ProgrammedUnits,
        read_units: ReadUnits,
        /// Units of which the host wrote only a part; each is programmed whole.
        read_modify_write_units: u64,
        /// Live units invalidated by a trim.
        trimmed_units: u64,
        erased_erase_units: u64,
        /// Look-ups of map pages, on drives whose memory does not hold the whole map.
        map_page_lookups: u64,
        /// Units written by the host whose contents the drive already stored, in mapping units.
        deduplicated_units: u64,
    }
}

counters! {
    /// Mapping units of a namespace programmed into flash, by cause.
    NamespacePrograms {
        host: u64,
        gc: u64,
        wear_leveling: u64,
        slc_fold: u64,
    }
}

counters! {
    /// Mapping units of a namespace read from flash for its host, by cause.
    NamespaceReads {
        host: u64,
        read_modify_write: u64,
    }
}

counters! {
    /// The counters of one of several namespaces: those of a ledger that belong to an address. Parity, padding and
    /// erases belong to no namespace.
    NamespaceLedger {
        host_written_bytes: u64,
        host_read_bytes: u64,
        host_trimmed_bytes: u64,
        programmed_units: NamespacePrograms,
        read_units: NamespaceReads,
        /// Units of which the host wrote only a part; each is programmed whole.
        read_modify_write_units: u64,
        /// Live units invalidated by a trim.
        trimmed_units: u64,
    }
}

impl NamespaceLedger {
    /// The counters of host requests, without moves of data.
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

    /// The sum over all namespaces of a drive with this ledger.
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

    /// A live unit was moved: read, and programmed elsewhere.
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
    /// The ledger of a drive with erase units `times` as large: the same number of erases, and `times` as much of
    /// everything else.
    pub fn magnified(self, times: u64) -> Self {
        Self { erased_erase_units: self.erased_erase_units, ..self.times(times) }
    }
}
