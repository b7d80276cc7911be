//! Reads that wait for more than their own pages: for map pages that are not in memory (`map_waits`), and for
//! read-ahead of a sequential stream (`read_streams`). Only for drives with one of the two.

use super::map_waits::{ChainId, MapWaits, Next};
use super::read_counts::{ReadCounter, ReadCounts};
use super::read_streams::{ReadStreams, SegmentId};
use crate::error::SpecificationError;
use crate::ledger::Cause;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::timing::decision::Decision;
use crate::timing::flash::Flash;
use crate::units::Ppn;

/// Slots from this number on stand for the controller's own reads: chains of map pages, or segments read ahead.
pub(super) const OWN: u32 = 1 << 31;
pub(super) const SEGMENT: u32 = OWN | 1 << 30;

/// See the file's description.
pub(super) struct Reading {
    map_waits: MapWaits,
    miss_ns: u64,
    streams: Option<ReadStreams>,
    counter: ReadCounter,
    released: Vec<Decision>,
}

impl Reading {
    /// None for a drive with its whole map in memory and without read-ahead. Errors name the key.
    pub fn new(drive: &Drive) -> Result<Option<Box<Self>>, SpecificationError> {
        let (cache, ahead) = (&drive.map_cache, &drive.read_ahead);
        if !(cache.miss_us >= 0.0 && cache.miss_us <= 1e9) {
            return Err(SpecificationError::new("map_cache.miss_us", cache.miss_us, "microseconds from 0 to 10^9"));
        }
        let unit_bytes = u64::from(drive.ftl.mapping_unit_bytes);
        let is_whole = ahead.segment_bytes > 0 && ahead.segment_bytes.is_multiple_of(unit_bytes);
        let fits = ahead.segment_bytes <= ahead.window_bytes && u32::try_from(ahead.segment_bytes).is_ok();
        if ahead.window_bytes > 0 && !(is_whole && fits) {
            let allowed = format!(
                "a multiple of ftl.mapping_unit_bytes, {unit_bytes}, and at most read_ahead.window_bytes, {}",
                ahead.window_bytes
            );
            return Err(SpecificationError::new("read_ahead.segment_bytes", ahead.segment_bytes, allowed));
        }
        let streams = ReadStreams::new(ahead, drive.ftl.user_bytes);
        let dies = drive.nand.channels * drive.nand.dies_per_channel;
        Ok((cache.bytes > 0 || streams.is_some()).then(|| {
            Box::new(Self {
                map_waits: MapWaits::default(),
                miss_ns: (cache.miss_us * 1000.0).round() as u64,
                streams,
                counter: ReadCounter::new((u64::from(drive.nand.page_bytes) / unit_bytes) as u32, dies as usize),
                released: Vec::new(),
            })
        }))
    }

    /// Passes decisions to the flash, on behalf of `slot`, except for what waits for a map page. Returns how many units,
    /// and map pages, the slot waits for, and whether anything waits for a map page.
    pub fn carry_out(
        &mut self,
        now_ns: u64,
        decisions: &mut Vec<Decision>,
        slot: u32,
        flash: &mut Flash,
    ) -> (u32, bool) {
        let held = self.map_waits.hold_back(decisions, slot);
        let units = flash.carry_out(now_ns, decisions, slot);
        let Some((chain, first, waited_for)) = held else { return (units, false) };
        read_map_page(now_ns, chain, first, flash);
        (units + waited_for, true)
    }

    /// The firmware's time on a map page.
    pub fn miss_ns(&self) -> u64 {
        self.miss_ns
    }

    /// See `BackEnd::map_page_arrived`.
    pub fn map_page_arrived(&mut self, now_ns: u64, chain: ChainId, flash: &mut Flash) -> (u32, bool) {
        let slot = self.map_waits.slot(chain);
        let next = self.map_waits.arrived(chain, &mut self.released);
        flash.carry_out(now_ns, &self.released, slot);
        match next {
            Next::MapPage(ppn) => {
                read_map_page(now_ns, chain, ppn, flash);
                (slot, false)
            }
            Next::Done => (slot, true),
        }
    }

    /// Reads a segment ahead, on which the drive has decided.
    pub fn fetch(&mut self, now_ns: u64, segment: SegmentId, decisions: &mut Vec<Decision>, flash: &mut Flash) {
        decisions.retain(|decision| !matches!(decision, Decision::ReadFromMemory(..)));
        gather_pages(decisions);
        self.count_segment(decisions, flash);
        let (units, waits) = self.carry_out(now_ns, decisions, SEGMENT | segment, flash);
        self.streams().fetches(segment, units);
        if !waits {
            self.streams().translated(segment);
        }
    }

    fn count_segment(&mut self, decisions: &[Decision], flash: &Flash) {
        let mut map_pages = 0;
        let mut last = None;
        for decision in decisions {
            match decision {
                Decision::Read(_, Cause::Metadata) => map_pages += 1,
                Decision::Read(ppn, Cause::Host) => {
                    let page = ppn.0 / self.counter.units_per_page();
                    if last.replace(page) != Some(page) {
                        self.counter.page(flash.die_of(page));
                    }
                }
                _ => {}
            }
        }
        self.counter.end_segment(map_pages);
    }

    /// The stream that a request belongs to, which then serves it; others take the usual path. A change invalidates what
    /// was read ahead.
    pub fn stream_of(&mut self, request: &Request) -> Option<usize> {
        let streams = self.streams.as_mut()?;
        let &Request { operation, offset_bytes, length_bytes, .. } = request;
        if operation != Operation::Read {
            streams.changed(offset_bytes, length_bytes);
            return None;
        }
        streams.stream_of(offset_bytes, length_bytes)
    }

    pub fn streams(&mut self) -> &mut ReadStreams {
        self.streams.as_mut().expect("only drives that read ahead come here")
    }

    /// The counts that `take_counts` would return.
    pub fn counts(&self) -> Option<ReadCounts> {
        self.streams.as_ref().map(|_| self.counter.counts)
    }

    /// The read-ahead since the last call; None for a drive without.
    pub fn take_counts(&mut self) -> Option<ReadCounts> {
        self.streams.as_ref().map(|_| std::mem::take(&mut self.counter.counts))
    }
}

fn read_map_page(now_ns: u64, chain: ChainId, ppn: Ppn, flash: &mut Flash) {
    flash.carry_out(now_ns, &[Decision::Read(ppn, Cause::Host)], OWN | chain);
}

/// A page read transfers all units of the page: reads of one page become neighbours, which the flash performs as one.
/// Only between map pages, which remain in order.
fn gather_pages(decisions: &mut [Decision]) {
    let is_host_read = |decision: &Decision| matches!(decision, Decision::Read(_, Cause::Host));
    for reads in decisions.chunk_by_mut(|one, next| is_host_read(one) && is_host_read(next)) {
        reads.sort_unstable_by_key(|decision| match decision {
            Decision::Read(ppn, _) => ppn.0,
            _ => 0,
        });
    }
}
