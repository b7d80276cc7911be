//! A controller: what one host has attached. Its properties, its features, the events that it waits for. NVM Express
//! Base Specification 2.0, sections 3.1.4, 5.27 and 5.2; for the states see `session`.

use super::fields::u64_at;
use super::limits;
use super::pdu::Command;
use super::status::Status;
use super::subject::Identity;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The subsystem that every host knows, and that names the others.
pub const DISCOVERY: &str = "nqn.2014-08.org.nvmexpress.discovery";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Discovery,
    Drive,
}

pub struct Controller {
    pub id: u16,
    pub kind: Kind,
    pub host: String,
    pub admin: usize,
    /// The connections of its I/O queues.
    pub queues: BTreeMap<u16, usize>,
    pub queues_granted: u16,
    configuration: u32,
    is_shut_down: bool,
    pub keep_alive: Duration,
    pub heard: Instant,
    features: Features,
    pub events: Events,
}

/// What a change of a property leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Nothing,
    /// The I/O queues end, and waiting event requests are forgotten.
    Disabled,
}

const CAPABILITIES: u32 = 0x00;
const VERSION: u32 = 0x08;
const CONFIGURATION: u32 = 0x14;
const CSTS: u32 = 0x1c;

const ENABLE: u32 = 1;
const READY: u64 = 1;
const SHUTDOWN: u32 = 3 << 14;
const SHUTDOWN_COMPLETE: u64 = 2 << 2;

impl Controller {
    pub fn new(id: u16, kind: Kind, host: String, admin: usize, keep_alive: Duration, now: Instant) -> Self {
        Self {
            id,
            kind,
            host,
            admin,
            queues: BTreeMap::new(),
            queues_granted: limits::QUEUES,
            configuration: 0,
            is_shut_down: false,
            keep_alive,
            heard: now,
            features: Features::new(now),
            events: Events::default(),
        }
    }

    pub fn subsystem(&self, identity: &Identity) -> String {
        match self.kind {
            Kind::Discovery => DISCOVERY.to_owned(),
            Kind::Drive => identity.nqn(),
        }
    }

    pub fn is_ready(&self) -> bool {
        self.configuration & ENABLE != 0 && !self.is_shut_down
    }

    pub fn is_lost(&self, now: Instant) -> bool {
        !self.keep_alive.is_zero() && now.saturating_duration_since(self.heard) > self.keep_alive
    }

    /// `has_sets`: whether there are other command sets than NVM's.
    pub fn property(&self, offset: u32, has_sets: bool) -> Result<u64, Status> {
        match offset {
            // Entries from 0; queues are contiguous (they always are); ready within 10 s, in steps of 500 ms; the NVM
            // command set, and whether there are others, which Identify lists.
            CAPABILITIES => {
                Ok(u64::from(limits::QUEUE_ENTRIES - 1) | 1 << 16 | 20 << 24 | 1 << 37 | u64::from(has_sets) << 43)
            }
            VERSION => Ok(u64::from(super::identify::VERSION)),
            CONFIGURATION => Ok(u64::from(self.configuration)),
            CSTS if self.is_shut_down => Ok(u64::from(self.configuration & ENABLE) | SHUTDOWN_COMPLETE),
            CSTS => Ok(if self.is_ready() { READY } else { 0 }),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    pub fn set_property(&mut self, offset: u32, value: u32) -> Result<Change, Status> {
        if offset != CONFIGURATION {
            return Err(Status::INVALID_FIELD);
        }
        let was_enabled = self.configuration & ENABLE != 0;
        let is_enabled = value & ENABLE != 0;
        self.configuration = value;
        if value & SHUTDOWN != 0 {
            self.is_shut_down = true;
        } else if is_enabled && !was_enabled {
            self.is_shut_down = false;
        }
        if was_enabled && !is_enabled {
            self.is_shut_down = false;
            self.events = Events::default();
            return Ok(Change::Disabled);
        }
        Ok(Change::Nothing)
    }

    /// Whether written data has to be safe before a write is answered, because the host disabled the cache.
    pub fn writes_through(&self) -> bool {
        !self.features.write_cache
    }

    pub fn feature(&self, command: &Command, has_cache: bool, now: Instant) -> Result<(u32, Vec<u8>), Status> {
        let number = command.dword(10) as u8;
        let features = &self.features;
        let fresh = Features::new(features.timestamp.1);
        let shown = match command.dword(10) >> 8 & 7 {
            0 => features,
            1 | 2 => &fresh,
            // What is supported: all can be changed, none is saved.
            3 if feature_exists(number, has_cache) => return Ok((1 << 2, Vec::new())),
            _ => return Err(Status::INVALID_FIELD),
        };
        let (value, data) = match number {
            feature::QUEUES => (u32::from(self.queues_granted - 1) * 0x1_0001, Vec::new()),
            feature::KEEP_ALIVE => (self.keep_alive.as_millis() as u32, Vec::new()),
            feature::WRITE_CACHE if has_cache => (u32::from(shown.write_cache), Vec::new()),
            feature::TIMESTAMP => (0, shown.timestamp_now(now).to_vec()),
            feature::HOST_BEHAVIOUR => (0, shown.host_behaviour.clone()),
            feature::TEMPERATURE => (TEMPERATURE_NEVER, Vec::new()),
            _ => (*shown.values.get(&number).ok_or(Status::INVALID_FIELD)?, Vec::new()),
        };
        Ok((value, data))
    }

    /// Sets a feature. Returns the result in the completion.
    pub fn set_feature(
        &mut self,
        command: &Command,
        data: &[u8],
        has_cache: bool,
        now: Instant,
    ) -> Result<u32, Status> {
        let (number, value) = (command.dword(10) as u8, command.dword(11));
        if command.dword(10) >> 31 != 0 {
            return Err(Status::NOT_SAVEABLE);
        }
        match number {
            feature::QUEUES => {
                // Once there are I/O queues their number is fixed.
                if !self.queues.is_empty() {
                    return Err(Status::COMMAND_SEQUENCE);
                }
                let (submission, completion) = (value as u16, (value >> 16) as u16);
                if submission == u16::MAX || completion == u16::MAX {
                    return Err(Status::INVALID_FIELD);
                }
                self.queues_granted = submission.min(completion).saturating_add(1).min(limits::QUEUES);
                return Ok(u32::from(self.queues_granted - 1) * 0x1_0001);
            }
            feature::KEEP_ALIVE => self.keep_alive = Duration::from_millis(u64::from(value)),
            feature::WRITE_CACHE if has_cache => self.features.write_cache = value & 1 != 0,
            feature::TIMESTAMP if data.len() >= 8 => self.features.timestamp = (u64_at(data, 0) & TIMESTAMP_MASK, now),
            feature::HOST_BEHAVIOUR if data.len() >= HOST_BEHAVIOUR_BYTES => {
                self.features.host_behaviour = data[..HOST_BEHAVIOUR_BYTES].to_vec();
            }
            // There is no temperature that could pass a threshold.
            feature::TEMPERATURE => {}
            feature::POWER if value & 0x1f != 0 => return Err(Status::INVALID_FIELD),
            _ => *self.features.values.get_mut(&number).ok_or(Status::INVALID_FIELD)? = value,
        }
        Ok(0)
    }

    /// Which critical warnings the host wants to hear of, as in byte 0 of the health log.
    pub fn warnings_wanted(&self) -> u8 {
        self.features.values[&feature::EVENTS] as u8
    }
}

mod feature {
    pub const ARBITRATION: u8 = 0x01;
    pub const POWER: u8 = 0x02;
    pub const TEMPERATURE: u8 = 0x04;
    pub const ERROR_RECOVERY: u8 = 0x05;
    pub const WRITE_CACHE: u8 = 0x06;
    pub const QUEUES: u8 = 0x07;
    pub const ATOMICITY: u8 = 0x0a;
    pub const EVENTS: u8 = 0x0b;
    pub const TIMESTAMP: u8 = 0x0e;
    pub const KEEP_ALIVE: u8 = 0x0f;
    pub const HOST_BEHAVIOUR: u8 = 0x16;
}

const TEMPERATURE_NEVER: u32 = 0xffff;
const HOST_BEHAVIOUR_BYTES: usize = 512;
/// Milliseconds in 48 bits.
const TIMESTAMP_MASK: u64 = (1 << 48) - 1;

fn feature_exists(number: u8, has_cache: bool) -> bool {
    use feature::{HOST_BEHAVIOUR, KEEP_ALIVE, QUEUES, TEMPERATURE, TIMESTAMP, WRITE_CACHE};
    match number {
        WRITE_CACHE => has_cache,
        QUEUES | KEEP_ALIVE | TIMESTAMP | HOST_BEHAVIOUR | TEMPERATURE => true,
        _ => PLAIN.contains(&number),
    }
}

/// Features that are stored and do nothing, and the configuration of events.
const PLAIN: [u8; 5] =
    [feature::ARBITRATION, feature::POWER, feature::ERROR_RECOVERY, feature::ATOMICITY, feature::EVENTS];

struct Features {
    values: BTreeMap<u8, u32>,
    write_cache: bool,
    /// As the host set it, and when.
    timestamp: (u64, Instant),
    host_behaviour: Vec<u8>,
}

impl Features {
    fn new(now: Instant) -> Self {
        Self {
            values: PLAIN.into_iter().map(|number| (number, 0)).collect(),
            write_cache: true,
            timestamp: (0, now),
            host_behaviour: vec![0; HOST_BEHAVIOUR_BYTES],
        }
    }

    fn timestamp_now(&self, now: Instant) -> [u8; 8] {
        let (set, when) = self.timestamp;
        let elapsed = now.saturating_duration_since(when).as_millis() as u64;
        // Byte 6: set by the host, unless it starts at 0.
        let origin = u64::from(set != 0) << 1;
        (set.wrapping_add(elapsed) & TIMESTAMP_MASK | origin << 48).to_le_bytes()
    }
}

/// Event requests of the host, and events that wait for one. After an event the host hears no other of its kind until
/// it has read the log.
#[derive(Default)]
pub struct Events {
    waiting: VecDeque<u16>,
    pending: VecDeque<Event>,
    masked: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: u8,
    pub information: u8,
    pub log: u8,
}

/// The kind of events of the health log.
pub const HEALTH_EVENT: u8 = 1;

impl Events {
    pub fn wait(&mut self, command: u16) -> Result<(), Status> {
        if self.waiting.len() >= usize::from(limits::EVENTS) {
            return Err(Status::EVENT_LIMIT);
        }
        self.waiting.push_back(command);
        Ok(())
    }

    pub fn raise(&mut self, event: Event) {
        if !self.masked.contains(&event.kind) && !self.pending.contains(&event) {
            self.pending.push_back(event);
        }
    }

    /// An event for a request that waits, with the command to complete.
    pub fn take(&mut self) -> Option<(u16, u64)> {
        if self.waiting.is_empty() {
            return None;
        }
        let event = self.pending.pop_front()?;
        self.masked.push(event.kind);
        let result = u64::from(event.kind) | u64::from(event.information) << 8 | u64::from(event.log) << 16;
        self.waiting.pop_front().map(|command| (command, result))
    }

    /// The host has read the log of a kind of event.
    pub fn clear(&mut self, kind: u8) {
        self.masked.retain(|&masked| masked != kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_reported_once_until_its_log_is_read() {
        let mut events = Events::default();
        let event = Event { kind: HEALTH_EVENT, information: 0, log: 2 };
        events.raise(event);
        assert_eq!(events.take(), None);
        for command in 1..=4 {
            events.wait(command).unwrap();
        }
        assert_eq!(events.wait(5), Err(Status::EVENT_LIMIT));
        assert_eq!(events.take(), Some((1, 0x02_0001)));
        events.raise(event);
        assert_eq!(events.take(), None);
        events.clear(HEALTH_EVENT);
        events.raise(event);
        assert_eq!(events.take(), Some((2, 0x02_0001)));
    }

    #[test]
    fn a_controller_is_ready_between_its_enabling_and_its_end() {
        let mut controller = Controller::new(1, Kind::Drive, String::new(), 0, Duration::from_secs(5), Instant::now());
        assert_eq!(controller.property(CSTS, false), Ok(0));
        assert_eq!(controller.set_property(CONFIGURATION, 0x46_0001), Ok(Change::Nothing));
        assert_eq!(controller.property(CSTS, false), Ok(1));
        assert_eq!(controller.set_property(CONFIGURATION, 0x46_4001), Ok(Change::Nothing));
        assert_eq!(controller.property(CSTS, false), Ok(1 | SHUTDOWN_COMPLETE));
        assert!(!controller.is_ready());
        assert_eq!(controller.set_property(CONFIGURATION, 0x46_0000), Ok(Change::Disabled));
        assert_eq!(controller.property(CSTS, false), Ok(0));
        assert_eq!(controller.set_property(CSTS, 1), Err(Status::INVALID_FIELD));
        assert!(controller.is_lost(Instant::now() + Duration::from_secs(6)));
    }
}
