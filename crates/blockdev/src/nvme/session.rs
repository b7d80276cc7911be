//! The target: one thread for all connections, commands and deadlines.
//!
//! A connection is new, then opened, then a queue of a controller. Connect on queue 0 makes a controller; it is gone
//! with that connection, or when its host has not been heard of for its keep-alive time, and then its other
//! connections end too. A connection that breaks the rules is told why, and ends alone.

use super::connection::{Connection, State};
use super::controller::{Change, Controller, DISCOVERY, Event, HEALTH_EVENT, Kind};
use super::fields::{text_at, u16_at};
use super::identify;
use super::io::{self, Request};
use super::limits;
use super::logs::{self, Errors, Failure};
use super::pdu::{self, Command, Completion, Opening, Place, Unit, Violation};
use super::placement;
use super::status::Status;
use super::subject::Subject;
use super::works::{What, Work, Works};
use super::zones;
use crate::device::DeviceError;
use crate::queue::{Asked, Completed, GATHERED, Queue, sleep_exactly};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

mod admin {
    pub const GET_LOG: u8 = 0x02;
    pub const IDENTIFY: u8 = 0x06;
    pub const ABORT: u8 = 0x08;
    pub const SET_FEATURES: u8 = 0x09;
    pub const GET_FEATURES: u8 = 0x0a;
    pub const EVENT_REQUEST: u8 = 0x0c;
    pub const KEEP_ALIVE: u8 = 0x18;
    pub const DIRECTIVE_SEND: u8 = 0x19;
    pub const DIRECTIVE_RECEIVE: u8 = 0x1a;
}
pub const FORMAT: u8 = 0x80;
const FABRICS: u8 = 0x7f;

/// Except Format, which changes contents; without those of drives with placement handles.
const ADMIN_COMMANDS: [u8; 7] = [
    admin::GET_LOG,
    admin::IDENTIFY,
    admin::ABORT,
    admin::SET_FEATURES,
    admin::GET_FEATURES,
    admin::EVENT_REQUEST,
    admin::KEEP_ALIVE,
];

/// The commands that a drive knows, except Format, which changes contents.
pub fn admin_commands(subject: &Subject) -> impl Iterator<Item = u8> + '_ {
    let of_placement = [admin::DIRECTIVE_SEND, admin::DIRECTIVE_RECEIVE].into_iter();
    ADMIN_COMMANDS.into_iter().chain(of_placement.filter(|_| subject.placement.is_some()))
}

mod fabrics {
    pub const PROPERTY_SET: u8 = 0x00;
    pub const CONNECT: u8 = 0x01;
    pub const PROPERTY_GET: u8 = 0x04;
    pub const DISCONNECT: u8 = 0x08;
}
const CONNECT_DATA_BYTES: usize = 1024;

/// How often deadlines are looked at, and the end of the target.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Hosts that lost the target connect again after this time, 10 s unless they were told otherwise, and give up if they
/// are refused.
const FAREWELL: Duration = Duration::from_secs(12);

/// State shared with the owner of the target.
#[derive(Default)]
pub struct Shared {
    pub is_over: AtomicBool,
    /// Hosts that have the drive attached.
    pub hosts: AtomicU64,
}

pub struct Target {
    listener: TcpListener,
    queue: Box<dyn Queue>,
    subject: Subject,
    shared: Arc<Shared>,
    connections: Vec<Option<Connection>>,
    controllers: BTreeMap<u16, Controller>,
    next_controller: u16,
    works: Works,
    /// Commands that wait for memory.
    waiting: VecDeque<usize>,
    completed: Vec<Completed>,
    errors: Errors,
    is_read_only: bool,
    power_cycles: u64,
    serials: u64,
    now: Instant,
    looked: Instant,
    /// At the end: until when Connect is refused, and the hosts that are to hear it.
    farewell: Option<(Instant, Vec<String>)>,
}

impl Target {
    pub fn new(listener: TcpListener, queue: Box<dyn Queue>, subject: Subject, shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        Self {
            power_cycles: queue.power_cycles(),
            listener,
            queue,
            subject,
            shared,
            connections: Vec::new(),
            controllers: BTreeMap::new(),
            next_controller: 1,
            works: Works::default(),
            waiting: VecDeque::new(),
            completed: Vec::new(),
            errors: Errors::default(),
            is_read_only: false,
            serials: 0,
            now,
            looked: now,
            farewell: None,
        }
    }

    /// Serves until it is told that it is over.
    pub fn run(mut self) {
        sleep_exactly();
        loop {
            let ready = self.wait();
            self.now = Instant::now();
            for (at, is_readable) in ready {
                match at {
                    None => self.accept(),
                    Some(at) if is_readable => self.receive(at),
                    Some(_) => {}
                }
            }
            self.complete();
            self.gather();
            self.send();
            if self.now.saturating_duration_since(self.looked) >= LOOK_EVERY {
                self.looked = self.now;
                self.look();
                if self.shared.is_over.load(Ordering::Relaxed) && self.is_farewell_over() {
                    return;
                }
            }
        }
    }

    /// Waits for bytes, for the next completion, or until deadlines are to be looked at. Returns the connections, None
    /// for the listener, and whether they have something to read.
    fn wait(&self) -> Vec<(Option<usize>, bool)> {
        let longest = self.queue.until_next().unwrap_or(LOOK_EVERY).min(LOOK_EVERY);
        let mut places = vec![None];
        let mut waited = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        for (at, connection) in self.connections.iter().enumerate() {
            let Some(connection) = connection else { continue };
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::POLLIN, connection.may_read());
            flags.set(PollFlags::POLLOUT, connection.unsent_bytes() > 0);
            places.push(Some(at));
            waited.push(PollFd::new(connection.fd(), flags));
        }
        // An interrupted wait is repeated like one that has found nothing.
        let _ = ppoll(&mut waited, Some(TimeSpec::from(longest)), None);
        let found = places.into_iter().zip(&waited).filter_map(|(at, waited)| {
            let flags = waited.revents().unwrap_or(PollFlags::empty());
            let is_readable = flags.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR);
            (!flags.is_empty()).then_some((at, is_readable))
        });
        found.collect()
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            self.serials += 1;
            let Ok(connection) = Connection::new(stream, self.serials, self.now) else { continue };
            // One too many is closed at once.
            if self.connections.iter().flatten().count() >= limits::CONNECTIONS {
                continue;
            }
            match self.connections.iter().position(Option::is_none) {
                Some(at) => self.connections[at] = Some(connection),
                None => self.connections.push(Some(connection)),
            }
        }
    }

    fn connection(&mut self, at: usize) -> &mut Connection {
        self.connections[at].as_mut().expect("the connection is open while its units are handled")
    }

    /// Handles what has arrived on a connection.
    fn receive(&mut self, at: usize) {
        let Some(connection) = self.connections[at].as_mut() else { return };
        if !connection.receive() {
            self.close(at);
            return;
        }
        let (input, mut from, to) = connection.take_input();
        loop {
            if self.queue.is_due() {
                // Many commands that arrive together do not hold up answers.
                self.complete();
                self.send();
            }
            let Some(connection) = &self.connections[at] else { return };
            if !connection.may_read() {
                break;
            }
            let agreed = connection.agreed;
            let arrived = &input[from..to];
            let handled = pdu::length(arrived).and_then(|length| match length {
                Some(length) if length <= arrived.len() => {
                    let unit = pdu::parse(&arrived[..length], &agreed)?;
                    self.handle(at, unit).map(|()| Some(length))
                }
                _ => Ok(None),
            });
            match handled {
                Ok(Some(length)) => from += length,
                Ok(None) => break,
                Err(violation) => {
                    let connection = self.connection(at);
                    pdu::ends(&mut connection.output, violation, arrived);
                    connection.is_ending = true;
                }
            }
        }
        self.connection(at).return_input(input, from);
    }

    fn handle(&mut self, at: usize, unit: Unit<'_>) -> Result<(), Violation> {
        match (self.connection(at).state, unit) {
            (State::New, Unit::Opening(opening)) => self.open(at, opening),
            (State::Opened, Unit::Command(command, data)) => {
                if command.opcode() != FABRICS || command.byte(4) != fabrics::CONNECT {
                    return Err(Violation::Sequence);
                }
                self.count(at);
                let data = data.filter(|data| data.len() >= CONNECT_DATA_BYTES);
                let connected =
                    data.ok_or((Status::INVALID_SGL_LENGTH, 0)).and_then(|data| self.connect(at, &command, data));
                match connected {
                    Ok(id) => self.respond(at, &command, Status::SUCCESS, u64::from(id)),
                    Err((status, result)) => {
                        self.respond(at, &command, status, u64::from(result));
                        // The host closes the connection.
                        self.connection(at).state = State::Opened;
                    }
                }
                Ok(())
            }
            (State::Queue { controller, queue }, Unit::Command(command, data)) => {
                self.command(at, controller, queue, &command, data)
            }
            (State::Queue { .. }, Unit::Data { command, transfer, offset, data, length, is_last }) => {
                self.take_data(at, command, transfer, offset, data, length, is_last)
            }
            (_, Unit::HostEnds) => {
                self.connection(at).is_ending = true;
                Ok(())
            }
            _ => Err(Violation::Sequence),
        }
    }

    fn open(&mut self, at: usize, opening: Opening) -> Result<(), Violation> {
        if opening.version != 0 || opening.alignment > 31 {
            return Err(Violation::InvalidHeader);
        }
        let digests = opening.digests & 3;
        let connection = self.connection(at);
        connection.agreed.header_digest = digests & 1 != 0;
        connection.agreed.data_digest = digests & 2 != 0;
        connection.agreed.alignment = 4 * (usize::from(opening.alignment) + 1);
        connection.state = State::Opened;
        pdu::opened(&mut connection.output, digests);
        Ok(())
    }

    /// A command takes a place of the submission queue.
    fn count(&mut self, at: usize) {
        let connection = self.connection(at);
        connection.head = (connection.head + 1) % connection.entries;
    }

    fn respond(&mut self, at: usize, command: &Command, status: Status, result: u64) {
        let connection = self.connection(at);
        let queue = match connection.state {
            State::Queue { queue, .. } => queue,
            _ => 0,
        };
        let queue_head = connection.head;
        let completion = Completion { result, queue_head, queue, command: command.id(), status };
        pdu::response(&mut connection.output, &completion, &connection.agreed);
    }

    /// Makes the connection a queue. The error has a result: which field of the command, or of its data, is wrong.
    fn connect(&mut self, at: usize, command: &Command, data: &[u8]) -> Result<u16, (Status, u32)> {
        let in_command = |field: u32| (Status::CONNECT_INVALID, field);
        let in_data = |field: u32| (Status::CONNECT_INVALID, field | 1 << 16);
        if command.number_at(40) != 0 {
            return Err((Status::CONNECT_FORMAT, 0));
        }
        let host = text_at(data, 512, 256);
        if let Some((_, hosts)) = &mut self.farewell {
            hosts.retain(|leaving| *leaving != host);
            return Err(in_data(256));
        }
        let (queue, last_entry) = (command.number_at(42), command.number_at(44));
        if last_entry == 0 || last_entry >= limits::QUEUE_ENTRIES {
            return Err(in_command(44));
        }
        let kind = match text_at(data, 256, 256).as_str() {
            DISCOVERY => Kind::Discovery,
            name if name == self.subject.identity.nqn() => Kind::Drive,
            _ => return Err(in_data(256)),
        };
        let asked = u16_at(data, 16);
        let id = if queue == 0 {
            // Controllers are made when they are asked for: FFFFh.
            if asked != u16::MAX {
                return Err(in_data(16));
            }
            let keep_alive = Duration::from_millis(u64::from(command.dword(12)));
            self.new_controller(kind, host, at, keep_alive).ok_or((Status::CONNECT_BUSY, 0))?
        } else {
            let controller = self.controllers.get_mut(&asked).ok_or(in_data(16))?;
            if controller.kind != kind || kind == Kind::Discovery || queue > controller.queues_granted {
                return Err(in_command(42));
            }
            if controller.host != host {
                return Err(in_data(512));
            }
            if !controller.is_ready() || controller.queues.contains_key(&queue) {
                return Err((Status::COMMAND_SEQUENCE, 0));
            }
            controller.queues.insert(queue, at);
            asked
        };
        let connection = self.connection(at);
        connection.state = State::Queue { controller: id, queue };
        connection.entries = last_entry + 1;
        // This command was the first of the queue.
        connection.head = 1 % connection.entries;
        Ok(id)
    }

    fn new_controller(&mut self, kind: Kind, host: String, at: usize, keep_alive: Duration) -> Option<u16> {
        if self.controllers.len() >= limits::CONTROLLERS {
            return None;
        }
        while self.controllers.contains_key(&self.next_controller) {
            self.next_controller = self.next_controller % 0xffef + 1;
        }
        let id = self.next_controller;
        self.next_controller = id % 0xffef + 1;
        self.controllers.insert(id, Controller::new(id, kind, host, at, keep_alive, self.now));
        self.count_hosts();
        Some(id)
    }

    fn count_hosts(&self) {
        let hosts = self.controllers.values().filter(|controller| controller.kind == Kind::Drive).count();
        self.shared.hosts.store(hosts as u64, Ordering::Relaxed);
    }

    fn command(
        &mut self,
        at: usize,
        controller: u16,
        queue: u16,
        command: &Command,
        data: Option<&[u8]>,
    ) -> Result<(), Violation> {
        self.count(at);
        let now = self.now;
        if let Some(controller) = self.controllers.get_mut(&controller) {
            controller.heard = now;
        }
        let connection = self.connection(at);
        if connection.in_progress >= usize::from(connection.entries) {
            return Err(Violation::TooMuchData);
        }
        let Some(data) = data else {
            self.fail(at, command, Status::TRANSIENT_TRANSPORT);
            return Ok(());
        };
        let done = match (queue, command.opcode()) {
            (_, FABRICS) => self.fabrics(at, controller, command),
            (0, _) => self.admin(at, controller, command, data),
            _ => self.io(at, controller, command, data),
        };
        if let Err(status) = done {
            self.fail(at, command, status);
        }
        Ok(())
    }

    fn fail(&mut self, at: usize, command: &Command, status: Status) {
        let queue = match self.connection(at).state {
            State::Queue { queue, .. } => queue,
            _ => 0,
        };
        let block = if queue == 0 { 0 } else { io::first_block(command) };
        let namespace = command.namespace();
        self.errors.note(Failure { queue, command: command.id(), status, namespace, block });
        self.respond(at, command, status, 0);
    }

    fn fabrics(&mut self, at: usize, id: u16, command: &Command) -> Result<(), Status> {
        let offset = command.dword(11);
        let controller = self.controllers.get_mut(&id).ok_or(Status::INTERNAL)?;
        match command.byte(4) {
            fabrics::PROPERTY_GET => {
                let has_sets = controller.kind == Kind::Drive && self.subject.zones.is_some();
                let value = controller.property(offset, has_sets)?;
                self.respond(at, command, Status::SUCCESS, value);
            }
            fabrics::PROPERTY_SET => {
                let change = controller.set_property(offset, command.dword(12))?;
                let queues: Vec<usize> = controller.queues.values().copied().collect();
                self.respond(at, command, Status::SUCCESS, 0);
                if change == Change::Disabled {
                    queues.into_iter().for_each(|queue| self.close(queue));
                }
            }
            fabrics::DISCONNECT => {
                self.respond(at, command, Status::SUCCESS, 0);
                self.connection(at).is_ending = true;
            }
            fabrics::CONNECT => return Err(Status::COMMAND_SEQUENCE),
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(())
    }

    fn admin(&mut self, at: usize, id: u16, command: &Command, data: &[u8]) -> Result<(), Status> {
        let now = self.now;
        let has_cache = self.subject.capabilities.has_volatile_cache;
        let reached = self.connection(at).reached;
        let controller = self.controllers.get_mut(&id).ok_or(Status::INTERNAL)?;
        match command.opcode() {
            admin::IDENTIFY => {
                let page = identify::identify(command, controller, &self.subject)?;
                self.answer(at, command, &page, 0)
            }
            admin::GET_LOG => {
                let page = logs::read(command, controller, &self.subject, &self.errors, reached)?;
                self.answer(at, command, &page, 0)
            }
            admin::GET_FEATURES => {
                let (value, page) = match command.dword(10) as u8 {
                    placement::CONFIGURATION_FEATURE | placement::EVENTS_FEATURE => {
                        placement::feature(command, &self.subject)?
                    }
                    _ => controller.feature(command, has_cache, now)?,
                };
                self.answer(at, command, &page, value)
            }
            admin::SET_FEATURES => {
                let needed = match command.dword(10) as u8 {
                    0x0e => 8,
                    0x16 => 512,
                    placement::CONFIGURATION_FEATURE | placement::EVENTS_FEATURE => {
                        placement::feature_bytes(command, &self.subject)?
                    }
                    _ => 0,
                };
                if needed > 0 {
                    return self.begin(at, command, What::Feature, needed, data);
                }
                let value = controller.set_feature(command, &[], has_cache, now)?;
                self.respond(at, command, Status::SUCCESS, u64::from(value));
                Ok(())
            }
            admin::EVENT_REQUEST => {
                controller.events.wait(command.id())?;
                self.report_events();
                Ok(())
            }
            admin::KEEP_ALIVE => {
                self.respond(at, command, Status::SUCCESS, 0);
                Ok(())
            }
            // Nothing about the directives can be changed.
            admin::DIRECTIVE_SEND if self.subject.placement.is_some() => Err(Status::INVALID_FIELD),
            admin::DIRECTIVE_RECEIVE if self.subject.placement.is_some() => {
                let page = placement::directives(command, &self.subject)?;
                self.answer(at, command, &page, 0)
            }
            // Bit 0: the command was not aborted. Every command ends soon.
            admin::ABORT => {
                self.respond(at, command, Status::SUCCESS, 1);
                Ok(())
            }
            FORMAT if controller.kind == Kind::Drive => {
                let range = self.subject.extent(command.namespace())?;
                // The only format, without protection.
                if command.dword(10) & 0xf != 0 {
                    return Err(Status::INVALID_FORMAT);
                }
                self.begin(at, command, What::Format(range), 0, data)
            }
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    /// Sends the part of a page that the host has room for.
    fn answer(&mut self, at: usize, command: &Command, page: &[u8], result: u32) -> Result<(), Status> {
        let Some(place) = command.place() else { return Err(Status::INVALID_SGL_TYPE) };
        let room = match place {
            Place::Host { length } => length,
            Place::InCapsule { .. } if page.is_empty() => 0,
            Place::InCapsule { .. } => return Err(Status::INVALID_SGL_TYPE),
        };
        let connection = self.connection(at);
        pdu::data(&mut connection.output, command.id(), &page[..page.len().min(room)], &connection.agreed);
        self.respond(at, command, Status::SUCCESS, u64::from(result));
        Ok(())
    }

    fn io(&mut self, at: usize, id: u16, command: &Command, data: &[u8]) -> Result<(), Status> {
        let controller = self.controllers.get(&id).ok_or(Status::INTERNAL)?;
        let request = io::request(command, &self.subject, controller.writes_through())?;
        if request == Request::Handles {
            let namespace = self.subject.namespace(command.namespace())?;
            let page = placement::status(command, namespace, &self.subject)?;
            return self.answer(at, command, &page, 0);
        }
        if request == Request::Report {
            let namespace = self.subject.namespace(command.namespace())?;
            let page = zones::report(command, namespace, &self.subject)?;
            return self.answer(at, command, &page, 0);
        }
        if let Request::Read(range) = &request {
            let is_enough = match command.place() {
                Some(Place::Host { length }) => length as u64 >= range.end - range.start,
                _ => return Err(Status::INVALID_SGL_TYPE),
            };
            if !is_enough {
                return Err(Status::INVALID_SGL_LENGTH);
            }
        }
        let needed = request.data_bytes();
        self.begin(at, command, What::Io(request), needed, data)
    }

    /// Begins a command: with the data in its capsule, or by asking the host for it.
    fn begin(&mut self, at: usize, command: &Command, what: What, needed: usize, data: &[u8]) -> Result<(), Status> {
        let in_capsule = match command.place() {
            _ if needed == 0 => Some(&data[..0]),
            None => return Err(Status::INVALID_SGL_TYPE),
            // Linux describes room for 256 ranges, however few it deallocates.
            Some(Place::InCapsule { length, .. } | Place::Host { length }) if length < needed => {
                return Err(Status::INVALID_SGL_LENGTH);
            }
            Some(Place::InCapsule { offset, .. }) => {
                let from = usize::try_from(offset).map_err(|_| Status::INVALID_SGL_OFFSET)?;
                let end = from.checked_add(needed).ok_or(Status::INVALID_SGL_OFFSET)?;
                Some(data.get(from..end).ok_or(Status::INVALID_SGL_OFFSET)?)
            }
            Some(Place::Host { .. }) => None,
        };
        let connection = self.connection(at);
        connection.in_progress += 1;
        let work = Work {
            connection: at,
            serial: connection.serial,
            command: *command,
            what,
            parts: 0,
            status: Status::SUCCESS,
            result: 0,
            data: Vec::new(),
            needed,
            received: 0,
            asked: None,
        };
        let place = self.works.add(work);
        match in_capsule {
            Some(data) if !self.reads(place) => self.execute(place, data),
            _ => {
                self.waiting.push_back(place);
                self.give_memory();
            }
        }
        Ok(())
    }

    fn reads(&self, place: usize) -> bool {
        self.works.get(place).is_some_and(|work| matches!(work.what, What::Io(Request::Read(_))))
    }

    /// Lets commands that wait for memory go on, in order.
    fn give_memory(&mut self) {
        while let Some(&place) = self.waiting.front() {
            let Some(work) = self.works.get(place) else {
                self.waiting.pop_front();
                continue;
            };
            let (at, command) = (work.connection, work.command.id());
            let length = match &work.what {
                What::Io(Request::Read(range)) => (range.end - range.start) as usize,
                _ => work.needed,
            };
            if self.works.held_bytes > 0 && self.works.held_bytes + length > limits::MEMORY_BYTES {
                return;
            }
            self.waiting.pop_front();
            self.works.hold(place, length);
            if self.reads(place) {
                self.execute(place, &[]);
                continue;
            }
            let now = self.now;
            if let Some(work) = self.works.get_mut(place) {
                work.asked = Some(now);
            }
            let connection = self.connection(at);
            let transfer = place as u16;
            pdu::ready(&mut connection.output, command, transfer, 0, length, &connection.agreed);
        }
    }

    /// Takes data that the host was asked for.
    #[allow(clippy::too_many_arguments, reason = "they are the fields of the unit")]
    fn take_data(
        &mut self,
        at: usize,
        command: u16,
        transfer: u16,
        offset: usize,
        data: Option<&[u8]>,
        length: usize,
        is_last: bool,
    ) -> Result<(), Violation> {
        let (serial, now) = (self.connection(at).serial, self.now);
        let place = usize::from(transfer);
        let work = self.works.get_mut(place).ok_or(Violation::InvalidHeader)?;
        let is_expected = work.connection == at && work.serial == serial && work.command.id() == command;
        if !is_expected || work.asked.is_none() || work.parts > 0 {
            return Err(Violation::InvalidHeader);
        }
        let end = offset.checked_add(length).ok_or(Violation::DataRange)?;
        if offset != work.received || end > work.data.len() || (end < work.data.len() && is_last) || length == 0 {
            return Err(Violation::DataRange);
        }
        match data {
            Some(data) => work.data[offset..end].copy_from_slice(data),
            None => work.status = Status::TRANSIENT_TRANSPORT,
        }
        work.received = end;
        work.asked = Some(now);
        if end == work.data.len() {
            work.asked = None;
            let data = std::mem::take(&mut work.data);
            if work.status.is_success() {
                self.execute(place, &data);
            } else {
                self.finish(place);
            }
            self.works.held_bytes -= data.len();
            self.works.release(data);
            self.give_memory();
        }
        Ok(())
    }

    /// Has the drive execute a command, whose data is there.
    fn execute(&mut self, place: usize, data: &[u8]) {
        let Some(work) = self.works.get_mut(place) else { return };
        let tag = place as u64;
        let trim = |range: std::ops::Range<u64>| Asked::Trim {
            offset_bytes: range.start,
            length_bytes: range.end - range.start,
        };
        match work.what.clone() {
            What::Io(Request::Nothing | Request::Handles | Request::Report) => self.finish(place),
            What::Io(Request::Append(range, durability)) => {
                work.parts = 1;
                self.queue.submit(tag, Asked::Append { zone_bytes: range.start, data, durability });
            }
            What::Io(Request::Manage(zones::Action::Change(change), zones)) => {
                work.status = zones::change(&zones, change, &self.subject).err().unwrap_or(Status::SUCCESS);
                self.finish(place);
            }
            What::Io(Request::Manage(zones::Action::Reset, zones)) => self.reset(place, &zones),
            What::Io(Request::Flush) => {
                work.parts = 1;
                self.queue.submit(tag, Asked::Flush);
            }
            What::Io(Request::Read(range)) => {
                work.parts = 1;
                self.queue.submit(tag, Asked::Read { offset_bytes: range.start, into: &mut work.data });
            }
            What::Io(Request::Write(range, durability, identifier)) => {
                work.parts = 1;
                self.queue.submit(tag, Asked::Write { offset_bytes: range.start, data, durability, identifier });
            }
            What::Io(Request::LeaveReclaimUnits(_)) => {
                let id = work.command.namespace();
                let namespace = self.subject.namespace(id);
                let done = namespace.and_then(|namespace| placement::update(id, data, namespace, &self.subject));
                work.status = done.err().unwrap_or(Status::SUCCESS);
                self.finish(place);
            }
            What::Io(Request::Zero(range, durability)) => {
                let length_bytes = range.end - range.start;
                work.parts = 1;
                self.queue.submit(tag, Asked::Zero { offset_bytes: range.start, length_bytes, durability });
            }
            What::Io(Request::Deallocate(range)) => {
                work.parts = 1;
                self.queue.submit(tag, trim(range));
            }
            What::Io(Request::Ranges(_)) => match io::ranges(&work.command, data, &self.subject) {
                Ok(ranges) => {
                    work.parts = ranges.len() as u32;
                    if ranges.is_empty() {
                        self.finish(place);
                    }
                    ranges.into_iter().for_each(|range| self.queue.submit(tag, trim(range)));
                }
                Err(status) => {
                    work.status = status;
                    self.finish(place);
                }
            },
            What::Format(_) if self.subject.zones.is_some() => {
                let zones: Vec<u32> = zones::all(&self.subject).into_iter().flatten().collect();
                self.reset(place, &zones);
            }
            What::Format(range) => {
                let ranges: Vec<_> = io::pieces(range).collect();
                work.parts = ranges.len() as u32;
                ranges.into_iter().for_each(|range| self.queue.submit(tag, trim(range)));
            }
            What::Feature => self.set_feature(place, data),
        }
    }

    fn reset(&mut self, place: usize, zones: &[u32]) {
        let Some(work) = self.works.get_mut(place) else { return };
        work.parts = zones.len() as u32;
        if zones.is_empty() {
            self.finish(place);
        }
        zones.iter().for_each(|&zone| self.queue.submit(place as u64, Asked::Reset { zone }));
    }

    fn set_feature(&mut self, place: usize, data: &[u8]) {
        let has_cache = self.subject.capabilities.has_volatile_cache;
        let Some(work) = self.works.get_mut(place) else { return };
        let state = self.connections[work.connection].as_ref().map(|connection| connection.state);
        if let Some(State::Queue { controller, .. }) = state
            && let Some(controller) = self.controllers.get_mut(&controller)
        {
            let done = match work.command.dword(10) as u8 {
                placement::EVENTS_FEATURE => placement::set_feature(&work.command, data, &self.subject),
                _ => controller.set_feature(&work.command, data, has_cache, self.now).map(|_| ()),
            };
            work.status = done.err().unwrap_or(Status::SUCCESS);
        }
        self.finish(place);
    }

    /// Answers what the drive has completed.
    fn complete(&mut self) {
        if self.queue.power_cycles() != self.power_cycles {
            self.power_cycles = self.queue.power_cycles();
            (0..self.connections.len()).for_each(|at| self.close(at));
        }
        let mut completed = std::mem::take(&mut self.completed);
        self.queue.completed(&mut completed);
        let is_any = !completed.is_empty();
        for (tag, outcome) in completed.drain(..) {
            self.complete_part(tag as usize, outcome);
        }
        self.completed = completed;
        if is_any {
            self.give_memory();
        }
    }

    /// Waits for what completes in the next moments, if there is something to be sent.
    fn gather(&mut self) {
        let until = Instant::now() + GATHERED;
        while self.queue.is_due_by(until) && self.connections.iter().flatten().any(|one| one.unsent_bytes() > 0) {
            self.complete();
        }
    }

    fn complete_part(&mut self, place: usize, outcome: Result<u64, DeviceError>) {
        let is_read = self.reads(place);
        let block_bytes = self.subject.block_bytes();
        let Some(work) = self.works.get_mut(place) else { return };
        work.parts -= 1;
        if let (Ok(address_bytes), What::Io(Request::Append(..))) = (&outcome, &work.what) {
            work.result = address_bytes / block_bytes;
        }
        if let Err(error) = &outcome {
            if work.status.is_success() {
                work.status = Status::of(error, is_read);
            }
            if matches!(error, DeviceError::ReadOnly(_)) && !self.is_read_only {
                self.is_read_only = true;
                self.warn(1 << 3);
            }
        }
        if self.works.get(place).is_some_and(|work| work.parts == 0) {
            self.finish(place);
        }
    }

    fn finish(&mut self, place: usize) {
        let is_read = self.reads(place);
        let Some(work) = self.works.take(place) else { return };
        let connection = self.connections[work.connection].as_mut();
        if let Some(connection) = connection.filter(|connection| connection.serial == work.serial) {
            connection.in_progress -= 1;
            if work.status.is_success() {
                if is_read {
                    pdu::data(&mut connection.output, work.command.id(), &work.data, &connection.agreed);
                }
                self.respond(work.connection, &work.command, Status::SUCCESS, work.result);
            } else {
                self.fail(work.connection, &work.command, work.status);
            }
        }
        self.works.release(work.data);
    }

    /// A critical warning, for the hosts that want to hear of it.
    fn warn(&mut self, warning: u8) {
        for controller in self.controllers.values_mut() {
            if controller.warnings_wanted() & warning != 0 {
                controller.events.raise(Event { kind: HEALTH_EVENT, information: 0, log: 2 });
            }
        }
        self.report_events();
    }

    fn report_events(&mut self) {
        for controller in self.controllers.values_mut() {
            let Some(connection) = self.connections[controller.admin].as_mut() else { continue };
            while let Some((command, result)) = controller.events.take() {
                let queue_head = connection.head;
                let completion = Completion { result, queue_head, queue: 0, command, status: Status::SUCCESS };
                pdu::response(&mut connection.output, &completion, &connection.agreed);
            }
        }
    }

    fn send(&mut self) {
        let now = self.now;
        for at in 0..self.connections.len() {
            let Some(connection) = self.connections[at].as_mut() else { continue };
            let is_there = connection.unsent_bytes() == 0 || connection.send(now);
            if !is_there || (connection.is_ending && connection.unsent_bytes() == 0) {
                self.close(at);
            }
        }
    }

    /// Ends a connection, and with an admin queue its controller.
    fn close(&mut self, at: usize) {
        let Some(connection) = self.connections[at].take() else { return };
        // What the drive is executing is taken away when it completes.
        let abandoned: Vec<usize> = self
            .works
            .each()
            .filter(|(_, work)| work.serial == connection.serial && work.parts == 0)
            .map(|(place, _)| place)
            .collect();
        for place in abandoned {
            self.works.take(place);
        }
        self.waiting.retain(|&place| self.works.get(place).is_some_and(|work| work.serial != connection.serial));
        let State::Queue { controller: id, queue } = connection.state else { return };
        if queue != 0 {
            if let Some(controller) = self.controllers.get_mut(&id) {
                controller.queues.remove(&queue);
            }
            return;
        }
        if let Some(controller) = self.controllers.remove(&id) {
            controller.queues.into_values().for_each(|queue| self.close(queue));
        }
        self.count_hosts();
    }

    /// Ends what has taken too long.
    fn look(&mut self) {
        let now = self.now;
        let past = |moment: Instant, limit: Duration| now.saturating_duration_since(moment) > limit;
        let lost: Vec<usize> =
            self.controllers.values().filter(|controller| controller.is_lost(now)).map(|lost| lost.admin).collect();
        let silent =
            self.works.each().filter(|(_, work)| work.asked.is_some_and(|asked| past(asked, limits::PATIENCE)));
        let silent: Vec<usize> = silent.map(|(_, work)| work.connection).collect();
        let slow = self.connections.iter().enumerate().filter_map(|(at, connection)| {
            let connection = connection.as_ref()?;
            let is_opening = !matches!(connection.state, State::Queue { .. });
            let is_stuck = connection.unsent_bytes() > 0 && past(connection.taken, limits::PATIENCE);
            (is_stuck || (is_opening && past(connection.since, limits::OPENING))).then_some(at)
        });
        let slow: Vec<usize> = slow.collect();
        lost.into_iter().chain(silent).chain(slow).for_each(|at| self.close(at));
    }

    /// Closes all connections, and refuses the hosts that come back, so that they give up instead of waiting.
    fn is_farewell_over(&mut self) -> bool {
        if self.farewell.is_none() {
            let drives = self.controllers.values().filter(|controller| controller.kind == Kind::Drive);
            let hosts = drives.filter(|controller| !controller.queues.is_empty());
            let hosts: Vec<String> = hosts.map(|controller| controller.host.clone()).collect();
            self.farewell = Some((self.now + FAREWELL, hosts));
            (0..self.connections.len()).for_each(|at| self.close(at));
        }
        let are_sent = self.connections.iter().flatten().all(|connection| connection.unsent_bytes() == 0);
        self.farewell.as_ref().is_none_or(|(until, hosts)| self.now >= *until || (hosts.is_empty() && are_sent))
    }
}
