//! Two drives striped, under one host: is each of them what a single one is with half of the requests?
//!
//! Studies of striped drives simulate one member at half the depth, on half the data, and double its speed. Here two
//! members, each with its own translation layer, share a clock and a host that keeps its queue full over both. With a
//! write buffer they are 1.0 to 1.5 % short of twice a single one, since for moments one of them has nothing to do.

use serde_json::json;
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ftl::numbers::Ppn;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{TimedSimulatedDrive, build_timed};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::host::{Client, Completion, Host, TimedDrive};
use ssdlab_engine::timing::recorder::Decision;

const UNIT: u64 = 4096;
const CHANNELS: u32 = 4;
const DIES: u32 = 8;
const BLOCK_BYTES: u32 = 16 * 1024;
const CHUNK_BYTES: u64 = 64 * 1024;

fn drive(channels: u32, channel_mb_s: f64, buffer_bytes: u64) -> Drive {
    let nand = json!({
        "cell": "slc", "channels": channels, "dies_per_channel": DIES / CHANNELS, "planes_per_die": 1,
        "blocks_per_plane": 128, "pages_per_block": 16, "page_bytes": UNIT, "read_us": 25.0, "program_us": 220.0,
        // An erase of the shared flash is one of both members, so it must take no time here.
        "erase_us": 0.001, "channel_mb_s": channel_mb_s, "endurance_cycles": 100_000,
    });
    let drive = json!({
        "name": "member", "nand": nand,
        "ftl": {
            "user_bytes": 56 << 20, "mapping_unit_bytes": UNIT, "erase_unit": "superblock",
            "victim": { "name": "greedy" }, "placement": { "name": "single" }, "wear_leveling": { "name": "none" },
            "reserve_erase_units": 2, "spare_area": "dynamic",
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": buffer_bytes }, "controller": { "command_us": 5.0 },
    });
    serde_json::from_value(drive).unwrap()
}

/// Chunks lie on the members in turn. The flash is one of twice the channels, the second half of them the second member's.
struct Stripe {
    members: Vec<Box<dyn TimedSimulatedDrive>>,
    group_units: u32,
    ledger: Ledger,
}

impl Stripe {
    fn place(&self, request: &Request) -> (usize, Request) {
        let (chunk, within) = (request.offset_bytes / CHUNK_BYTES, request.offset_bytes % CHUNK_BYTES);
        assert!(within + u64::from(request.length_bytes) <= CHUNK_BYTES, "blocks do not cross chunks here");
        let count = self.members.len() as u64;
        let offset_bytes = chunk / count * CHUNK_BYTES + within;
        ((chunk % count) as usize, Request { offset_bytes, ..*request })
    }

    fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// A member's place in the shared flash, whose dies lie on its channels in turn.
    fn shared(&self, member: u32, ppn: Ppn) -> Ppn {
        let group = ppn.0 / self.group_units;
        let (row, die) = (group / DIES, group % DIES);
        let shared_die = die / CHANNELS * CHANNELS * self.count() + member * CHANNELS + die % CHANNELS;
        Ppn((row * DIES * self.count() + shared_die) * self.group_units + ppn.0 % self.group_units)
    }

    fn owned(&self, ppn: Ppn) -> (usize, Ppn) {
        let group = ppn.0 / self.group_units;
        let (row, shared_die) = (group / (DIES * self.count()), group % (DIES * self.count()));
        let channel = shared_die % (CHANNELS * self.count());
        let die = shared_die / (CHANNELS * self.count()) * CHANNELS + channel % CHANNELS;
        let own = Ppn((row * DIES + die) * self.group_units + ppn.0 % self.group_units);
        ((channel / CHANNELS) as usize, own)
    }

    fn note(&mut self) {
        self.ledger = Ledger::default();
        for member in &self.members {
            self.ledger += *TimedDrive::ledger(&**member);
        }
    }
}

impl TimedDrive for Stripe {
    fn prefetch(&self, _request: &Request) {}

    fn prefetch_old(&self, _request: &Request) {}

    fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let (member, request) = self.place(request);
        TimedDrive::execute_one(&mut *self.members[member], &request)?;
        self.note();
        Ok(())
    }

    fn pad(&mut self, groups: &[Ppn], group_units: u32) -> Result<(), ReadOnly> {
        for &group in groups {
            let (member, own) = self.owned(group);
            self.members[member].pad(&[own], group_units)?;
        }
        self.note();
        Ok(())
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        let mut own = Vec::new();
        for member in 0..self.count() {
            self.members[member as usize].take_decisions(&mut own);
            into.extend(own.iter().map(|&decision| match decision {
                Decision::Read(ppn, cause) => Decision::Read(self.shared(member, ppn), cause),
                Decision::Program(ppn, cause) => Decision::Program(self.shared(member, ppn), cause),
                other => other,
            }));
        }
    }
}

struct Writes {
    random: Random,
    blocks: u64,
    sequential_at: Option<u64>,
    left: u64,
}

impl Client for Writes {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        let count = self.left.min(count_max as u64);
        self.left -= count;
        for _ in 0..count {
            let block = match &mut self.sequential_at {
                Some(at) => std::mem::replace(at, *at + 1),
                None => self.random.below(self.blocks),
            };
            out.push(Request::new(Operation::Write, block * u64::from(BLOCK_BYTES), BLOCK_BYTES));
        }
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, _completion: Completion, _parts: &Parts) {}
}

/// Blocks a second and write amplification of `count` members in the steady state of random writes.
fn measured(count: u32, depth: u32, channel_mb_s: f64, buffer_bytes: u64) -> (f64, f64) {
    let member = drive(CHANNELS, channel_mb_s, buffer_bytes);
    let whole = drive(CHANNELS * count, channel_mb_s, 0);
    let flash = Flash::new(&whole.nand, UNIT as u32, whole.ftl.erase_unit);
    let group_units = flash.groups().units();
    let members = (0..count).map(|index| build_timed(&member, 7 + u64::from(index)).unwrap()).collect();
    let mut stripe = Stripe { members, group_units, ledger: Ledger::default() };
    let mut host = Host::new(flash, 5_000, count * (buffer_bytes / UNIT) as u32);
    let blocks = u64::from(count) * member.ftl.user_bytes / u64::from(BLOCK_BYTES);
    let mut run = |host: &mut Host, sequential: bool, passes: u64| {
        let at = sequential.then_some(0);
        let mut client = Writes { random: Random::new(3), blocks, sequential_at: at, left: passes * blocks };
        let (start_ns, before) = (host.now_ns(), stripe.ledger);
        host.start(0, depth, &mut stripe, &mut client).unwrap();
        while host.advance(4096, &mut stripe, &mut client).unwrap() {}
        let seconds = (host.now_ns() - start_ns) as f64 / 1e9;
        host.end_stage();
        let ledger = stripe.ledger - before;
        let waf = (ledger.programmed_units.total() * UNIT) as f64 / ledger.host_written_bytes as f64;
        ((passes * blocks) as f64 / seconds, waf)
    };
    run(&mut host, true, 1);
    run(&mut host, false, 4);
    run(&mut host, false, 6)
}

fn assert_twice(depth: u32, channel_mb_s: f64, buffer_bytes: u64, allowed: f64) {
    let (single, waf_single) = measured(1, depth / 2, channel_mb_s, buffer_bytes);
    let (both, waf_both) = measured(2, depth, channel_mb_s, buffer_bytes);
    let ratio = both / single;
    assert!((ratio / 2.0 - 1.0).abs() < allowed, "two members are {ratio} times as fast as one");
    assert!((waf_both / waf_single - 1.0).abs() < 0.02, "WAF {waf_both} against {waf_single}");
}

#[test]
fn one_member_is_the_stripe_with_nothing_else() {
    let (speed, waf) = measured(1, 16, 30.0, 1 << 20);
    assert!(waf > 1.5, "cleaning is at work: {waf}");
    // Every unit crosses a channel once, every copy twice.
    let bound = f64::from(CHANNELS) * 30e6 / f64::from(BLOCK_BYTES) / (1.0 + 2.0 * (waf - 1.0));
    assert!(speed < bound * 1.01 && speed > bound * 0.85, "{speed} blocks a second, bound {bound}");
}

#[test]
fn two_buffered_members_that_wait_for_their_channels_are_twice_as_fast_as_one_at_half_the_depth() {
    assert_twice(32, 30.0, 1 << 20, 0.03);
}

#[test]
fn and_when_they_wait_for_their_dies() {
    assert_twice(32, 800.0, 1 << 20, 0.03);
}
