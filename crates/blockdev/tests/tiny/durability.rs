//! Simulation testing: operations, faults and losses of power from a seed, against a model of what a drive promises.
//!
//! 1. A read gives what was written last, or zeroes after a trim, or an error where the flash has lost it.
//! 2. After a flush nothing that was written before it is lost with the power.
//! 3. After a loss of power each unit that was not flushed has one of the values it had since its last flush.
//! 4. With power-loss protection a unit has its last value, flushed or not.

use crate::tiny::{Model, Reduction, SlcCache, Tiny, UNIT, range};
use ssdlab_blockdev::device::{Device, DeviceError, Durability, punch};
use ssdlab_blockdev::drive::{Command, Options, SimulatedDevice};
use ssdlab_blockdev::nand::FlashFaults;
use ssdlab_engine::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Long enough for all that a drive does in idle time.
const IDLE_NS: u64 = 10_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Write { offset_bytes: u64, length_bytes: u64, contents: u64, is_durable: bool },
    Trim { offset_bytes: u64, length_bytes: u64 },
    Punch { offset_bytes: u64, length_bytes: u64 },
    Read { offset_bytes: u64, length_bytes: u64 },
    Flush,
    CutPower,
    Checkpoint,
    Idle,
}

#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub tiny: Tiny,
    pub power_loss_protection: bool,
    pub faults: FlashFaults,
    pub seed: u64,
    /// A move that the engine forgets: the canary.
    pub forgets_after: Option<u64>,
}

pub fn operations(scenario: &Scenario, count: u64) -> Vec<Operation> {
    let size_bytes = scenario.tiny.user_units * UNIT;
    let mut random = Random::new(scenario.seed);
    let mut one = || {
        let (offset_bytes, length_bytes) = range(&mut random, size_bytes);
        match random.below(1000) {
            0..550 => {
                let is_durable = random.below(20) == 0;
                Operation::Write { offset_bytes, length_bytes, contents: random.bits(), is_durable }
            }
            550..600 => Operation::Trim { offset_bytes, length_bytes },
            600..630 => Operation::Punch { offset_bytes, length_bytes },
            630..950 => Operation::Read { offset_bytes, length_bytes },
            950..990 => Operation::Flush,
            990..997 => Operation::CutPower,
            997..999 => Operation::Checkpoint,
            _ => Operation::Idle,
        }
    };
    (0..count).map(|_| one()).collect()
}

/// What the drive may hold after a loss of power.
#[derive(Default)]
struct Promise {
    now: Model,
    /// Of units written since the last flush: the values since then, the flushed one first.
    since_flush: BTreeMap<u64, Vec<[u8; UNIT as usize]>>,
    /// Units that gave an error; they may do so again.
    lost: BTreeSet<u64>,
    is_read_only: bool,
    was_refused: bool,
}

impl Promise {
    fn change(&mut self, offset_bytes: u64, length_bytes: u64, change: impl FnOnce(&mut Model)) {
        let units = units_of(offset_bytes, length_bytes);
        for unit in units.clone() {
            let before = *self.now.unit(unit);
            self.since_flush.entry(unit).or_insert_with(|| vec![before]);
        }
        change(&mut self.now);
        for unit in units {
            let after = *self.now.unit(unit);
            self.since_flush.entry(unit).and_modify(|values| values.push(after));
        }
    }

    /// Whether a unit of the range gave an error. A request that ended with one may have been carried out in part.
    fn has_lost(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        self.lost.range(units_of(offset_bytes, length_bytes)).next().is_some()
    }

    /// Whole units that are rewritten can be read again.
    fn heal(&mut self, offset_bytes: u64, length_bytes: u64) {
        for unit in offset_bytes.div_ceil(UNIT)..(offset_bytes + length_bytes) / UNIT {
            self.lost.remove(&unit);
        }
    }
}

/// What requests go to, of a drive: itself, or a front of it.
pub type Front = fn(&Arc<SimulatedDevice>) -> Arc<dyn Device>;

/// Runs a sequence. The error says what was not kept, and at which operation.
pub fn run(scenario: &Scenario, operations: &[Operation], front: Front) -> Result<Summary, String> {
    let options = Options {
        seed: scenario.seed,
        faults: scenario.faults,
        power_loss_protection: Some(scenario.power_loss_protection),
        journal_trims: 7,
        ..Options::default()
    };
    let device = SimulatedDevice::new(&scenario.tiny.drive(), &options).map_err(|error| format!("{error:?}"))?;
    let device = Arc::new(device);
    let on = On { front: front(&device), device };
    let device = &on.device;
    if let Some(moves) = scenario.forgets_after {
        device.core().forget_a_move(moves);
    }
    let mut promise = Promise::default();
    let (mut executed, mut refusals) = (0, 0);
    for (index, operation) in operations.iter().enumerate() {
        let at = |wrong: String| format!("operation {index}: {wrong}");
        step(&on, &mut promise, scenario, operation).map_err(at)?;
        executed += 1;
        if std::mem::take(&mut promise.was_refused) {
            // How much of it was carried out is known when it has been looked at.
            verify(&on, &mut promise, &|promise, unit| promise.since_flush.contains_key(&unit)).map_err(at)?;
            refusals += 1;
        }
        if refusals > 20 {
            // A drive that only reads has little more to show.
            break;
        }
    }
    verify(&on, &mut promise, &|_, _| false)?;
    let mut core = device.core();
    core.ftl().check_accounts()?;
    core.ftl().check_map()?;
    Ok(Summary {
        executed,
        erased: core.outcome().ledger.erased_erase_units,
        torn_units: core.recovery().map_or(0, |recovery| recovery.torn_units),
        events: core.events(),
        power_cycles: core.power_cycles(),
        is_read_only: promise.is_read_only,
    })
}

/// What a run met, so that a test knows that it met anything.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Fewer than there are if the drive wore out.
    pub executed: u64,
    pub erased: u64,
    pub torn_units: u64,
    pub events: ssdlab_blockdev::nand::Events,
    pub power_cycles: u64,
    pub is_read_only: bool,
}

/// A drive, and what its requests go to.
struct On {
    front: Arc<dyn Device>,
    device: Arc<SimulatedDevice>,
}

/// Requests go to the drive itself.
pub fn itself(device: &Arc<SimulatedDevice>) -> Arc<dyn Device> {
    device.clone()
}

fn step(on: &On, promise: &mut Promise, scenario: &Scenario, operation: &Operation) -> Result<(), String> {
    let On { device, front } = on;
    match *operation {
        Operation::Write { offset_bytes, length_bytes, contents: seed, is_durable } => {
            let data = scenario.tiny.contents(&mut Random::new(seed), length_bytes);
            let durability = if is_durable { Durability::Durable } else { Durability::Cached };
            let done = front.write(offset_bytes, &data, durability);
            let is_done = changed(on, promise, scenario, offset_bytes, length_bytes, done, |model| {
                model.write(offset_bytes, &data);
            })?;
            if is_done && is_durable && !promise.is_read_only {
                // A flush of all is how this drive forces its unit access; the promise is only for these.
                for unit in units_of(offset_bytes, length_bytes) {
                    promise.since_flush.remove(&unit);
                }
            }
        }
        Operation::Trim { offset_bytes, length_bytes } => {
            let done = front.trim(offset_bytes, length_bytes);
            changed(on, promise, scenario, offset_bytes, length_bytes, done, |model| {
                model.trim(offset_bytes, length_bytes);
            })?;
        }
        Operation::Punch { offset_bytes, length_bytes } => {
            let done = punch(&**front, offset_bytes, length_bytes);
            let zeroes = vec![0; length_bytes as usize];
            changed(on, promise, scenario, offset_bytes, length_bytes, done, |model| {
                model.write(offset_bytes, &zeroes);
            })?;
        }
        Operation::Read { offset_bytes, length_bytes } => {
            let mut read = vec![0xee; length_bytes as usize];
            match front.read(offset_bytes, &mut read) {
                Ok(()) if read == promise.now.read(offset_bytes, length_bytes) => {}
                // What a failed write left behind is known when it has been looked at.
                Ok(()) if promise.is_read_only => {
                    verify(on, promise, &|promise, unit| promise.since_flush.contains_key(&unit))?;
                }
                Ok(()) if promise.has_lost(offset_bytes, length_bytes) => verify(on, promise, &|_, _| false)?,
                Ok(()) => return Err(format!("{length_bytes} bytes at {offset_bytes} are not what was written")),
                Err(error) => {
                    check_allowed(scenario, offset_bytes, length_bytes, &error)?;
                    verify_units(on, promise, units_of(offset_bytes, length_bytes), &|_, _| false)?;
                }
            }
        }
        Operation::Flush => match front.flush() {
            Ok(()) => promise.since_flush.clear(),
            Err(DeviceError::ReadOnly(_)) => promise.is_read_only = true,
            Err(error) => return Err(format!("flush: {error}")),
        },
        Operation::CutPower => {
            device.core().cut_power();
            let protected = scenario.power_loss_protection;
            verify(on, promise, &|promise, unit| !protected && promise.since_flush.contains_key(&unit))?;
            promise.since_flush.clear();
        }
        Operation::Checkpoint => match device.core().checkpoint() {
            Ok(()) => {}
            Err(DeviceError::ReadOnly(_)) => promise.is_read_only = true,
            Err(error) => return Err(format!("checkpoint: {error}")),
        },
        Operation::Idle => match device.carry_out(&Command::Idle { duration_ns: IDLE_NS }) {
            Ok(()) => {}
            Err(DeviceError::ReadOnly(_)) => promise.is_read_only = true,
            Err(error) => return Err(format!("idle: {error}")),
        },
    }
    Ok(())
}

/// Whether a change was carried out whole. One that was refused may have been carried out in part.
fn changed(
    on: &On,
    promise: &mut Promise,
    scenario: &Scenario,
    offset_bytes: u64,
    length_bytes: u64,
    done: Result<(), DeviceError>,
    change: impl FnOnce(&mut Model),
) -> Result<bool, String> {
    match done {
        Ok(()) => {
            promise.change(offset_bytes, length_bytes, change);
            promise.heal(offset_bytes, length_bytes);
            Ok(true)
        }
        Err(DeviceError::ReadOnly(_)) => {
            // Each of its units is old or new, in flash or not.
            let before: Vec<_> =
                units_of(offset_bytes, length_bytes).map(|unit| (unit, *promise.now.unit(unit))).collect();
            promise.change(offset_bytes, length_bytes, change);
            for (unit, value) in before {
                promise.now.write(unit * UNIT, &value);
            }
            (promise.is_read_only, promise.was_refused) = (true, true);
            Ok(false)
        }
        Err(error) => {
            promise.change(offset_bytes, length_bytes, change);
            check_allowed(scenario, offset_bytes, length_bytes, &error)?;
            // Which of its units are lost, and which others are old or new, is known when they have been looked at.
            verify_units(on, promise, units_of(offset_bytes, length_bytes), &|_, _| true)?;
            Ok(false)
        }
    }
}

/// An error is allowed where faults were injected and no parity can help.
fn check_allowed(scenario: &Scenario, offset_bytes: u64, length_bytes: u64, error: &DeviceError) -> Result<(), String> {
    if scenario.faults.uncorrectable_reads == 0.0 || !matches!(error, DeviceError::Unreadable { .. }) {
        return Err(format!("{length_bytes} bytes at {offset_bytes}: {error}"));
    }
    Ok(())
}

/// The units of which a range has a part.
fn units_of(offset_bytes: u64, length_bytes: u64) -> Range<u64> {
    offset_bytes / UNIT..(offset_bytes + length_bytes).div_ceil(UNIT)
}

/// Reads every unit; those that may have changed are taken as they are if the promise allows it.
fn verify(on: &On, promise: &mut Promise, may_have_changed: &dyn Fn(&Promise, u64) -> bool) -> Result<(), String> {
    verify_units(on, promise, 0..on.device.capabilities().size_bytes / UNIT, may_have_changed)
}

fn verify_units(
    on: &On,
    promise: &mut Promise,
    units: Range<u64>,
    may_have_changed: &dyn Fn(&Promise, u64) -> bool,
) -> Result<(), String> {
    let On { device, front } = on;
    let mut read = [0; UNIT as usize];
    for unit in units {
        match front.read(unit * UNIT, &mut read) {
            Ok(()) if read == *promise.now.unit(unit) => {}
            Ok(()) if promise.lost.contains(&unit) => promise.now.write(unit * UNIT, &read),
            Ok(())
                if (promise.is_read_only || may_have_changed(promise, unit)) && {
                    promise.since_flush.get(&unit).is_some_and(|values| values.contains(&read))
                } =>
            {
                promise.now.write(unit * UNIT, &read);
            }
            Ok(()) => return Err(format!("unit {unit} has a value that it must not have")),
            Err(DeviceError::Unreadable { .. }) if promise.lost.contains(&unit) => {}
            Err(DeviceError::Unreadable { .. }) if device.core().events().lost_units > 0 => {
                promise.lost.insert(unit);
            }
            Err(error) => return Err(format!("unit {unit}: {error}")),
        }
    }
    Ok(())
}

/// As `run`, with a panic of the engine as an error too.
pub fn run_caught(scenario: &Scenario, operations: &[Operation], front: Front) -> Result<Summary, String> {
    catch_unwind(AssertUnwindSafe(|| run(scenario, operations, front))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    })
}

/// A shorter sequence that still fails: ever smaller pieces are left out, for as many seconds.
pub fn shrink(scenario: &Scenario, operations: &[Operation], front: Front, seconds: u64) -> Vec<Operation> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut kept = operations.to_vec();
    let mut piece = kept.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < kept.len() && Instant::now() < until {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + piece).min(kept.len()));
            if run_caught(scenario, &fewer, front).is_err() {
                kept = fewer;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    kept
}

impl Scenario {
    /// A drive, its protection and its faults, by the seed.
    pub fn of_seed(seed: u64) -> Self {
        let plain = Tiny::default();
        let tinies = [
            plain,
            Tiny { buffer_units: 0, ..plain },
            Tiny { placement: "single", victim: "fifo", ..plain },
            Tiny { units_per_stripe: 8, user_units: 280, ..plain },
            Tiny { erase_unit: "block", user_units: 500, ..plain },
            Tiny { placement: "frequency-frontiers", user_units: 128, ..plain },
            Tiny::with_slc_cache(SlcCache::Direct),
            Tiny { units_per_stripe: 8, ..Tiny::with_slc_cache(SlcCache::Fold) },
            Tiny { map_cache: Some("page"), ..plain },
            Tiny { map_cache: Some("extent"), buffer_units: 0, ..plain },
            Tiny::reducing(Reduction::Compresses),
            Tiny { buffer_units: 0, ..Tiny::reducing(Reduction::Deduplicates) },
            Tiny::reducing(Reduction::Both),
            Tiny { units_per_stripe: 8, user_units: 220, ..Tiny::reducing(Reduction::Both) },
            Tiny { placement: "single", victim: "fifo", ..Tiny::reducing(Reduction::Compresses) },
            Tiny { erase_unit: "block", user_units: 440, ..Tiny::reducing(Reduction::Both) },
            Tiny::striped(),
            Tiny { devices: 3, chunk_units: 1, user_units: 390, units_per_stripe: 8, ..Tiny::striped() },
        ];
        let kinds = tinies.len() as u64;
        let faults = match seed / (2 * kinds) % 3 {
            0 => FlashFaults::default(),
            1 => FlashFaults { program_failures: 0.0005, erase_failures: 0.002, ..FlashFaults::default() },
            _ => FlashFaults { uncorrectable_reads: 0.0005, ..FlashFaults::default() },
        };
        let tiny = tinies[(seed % kinds) as usize];
        Self { tiny, power_loss_protection: (seed / kinds).is_multiple_of(2), faults, seed, forgets_after: None }
    }
}
