//! The host's requests, split into mapping units, on drives whose units all have one size.

use super::gc::Gc;
use super::layer::Stored;
use super::media::{Done, Media};
use crate::ledger::Cause;
use crate::request::{Operation, Request};
use crate::timing::Clock;
use crate::units::{Lpn, Ppn, StreamId};

/// Executes a request. In a workload that is bound by this loop nearly all requests are writes of one unit; everything
/// else is a call, which leaves the registers to the loop.
#[inline(always)]
pub fn execute_units<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, gc: &mut Gc, request: &Request) -> Done {
    let unit_bytes = media.map.unit_bytes();
    let is_unit = request.offset_bytes & (unit_bytes - 1) == 0 && u64::from(request.length_bytes) == unit_bytes;
    if request.operation != Operation::Write || !is_unit {
        return execute_parts(media, layer, gc, request);
    }
    write_unit(media, layer, gc, media.map.lpn_of(request.offset_bytes), request.content.identifier)?;
    media.accounts.host_wrote(unit_bytes);
    Ok(())
}

#[inline(never)]
fn execute_parts<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, gc: &mut Gc, request: &Request) -> Done {
    match request.operation {
        Operation::Write => write_range(media, layer, gc, request),
        Operation::Read => {
            media.accounts.host_read(u64::from(request.length_bytes));
            media.read_units(request.offset_bytes, request.length_bytes);
            Ok(())
        }
        Operation::Trim => trim(media, layer, request),
        // Buffered data is part of the timed front end.
        Operation::Flush => Ok(()),
    }
}

#[inline(always)]
fn write_unit<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, gc: &mut Gc, lpn: Lpn, identifier: u8) -> Done {
    let mut stream = media.host_stream(lpn, identifier);
    if media.space.is_stopped(stream) && !passes_turn(media, gc, stream, lpn) {
        gc.make_room_for_host(media, layer, stream)?;
        // Garbage collection may have moved the old copy, which the policy decides by.
        stream = media.host_stream(lpn, identifier);
        if media.space.is_stopped(stream) {
            media.space.head_for(stream, lpn);
            gc.make_room_for_host(media, layer, stream)?;
        }
    }
    let ppn = media.space.frontier(stream).take();
    let old = media.map.relink(lpn, ppn);
    media.accounts.host(stream, 1);
    media.clock.program(ppn, Cause::Host);
    if old == Ppn::UNMAPPED {
        media.accounts.mapped();
    } else {
        media.lose(old);
    }
    if C::PACED { gc.pace_gc(media, layer, stream, 1) } else { Ok(()) }
}

/// Passes the stream's turn to the next die where that needs no decision, which is most of what `make_room_for_host`
/// does on a drive of single blocks.
#[inline(always)]
fn passes_turn<C: Clock>(media: &mut Media<C>, gc: &Gc, stream: StreamId, lpn: Lpn) -> bool {
    media.space.head_for(stream, lpn);
    media.read_only.is_none() && !gc.lacks_reserve(&media.space) && media.space.pass_turn(stream, C::PACED)
}

pub fn write_range<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, gc: &mut Gc, request: &Request) -> Done {
    let unit_bytes = media.map.unit_bytes();
    let end = request.offset_bytes + u64::from(request.length_bytes);
    let mut at = request.offset_bytes;
    while at < end {
        let unit_start = at & !(unit_bytes - 1);
        let part_end = end.min(unit_start + unit_bytes);
        let lpn = media.map.lpn_of(at);
        if part_end - at < unit_bytes {
            read_modify(media, layer, lpn);
        }
        write_unit(media, layer, gc, lpn, request.content.identifier)?;
        media.accounts.host_wrote(part_end - at);
        at = part_end;
    }
    Ok(())
}

/// For a partial write: reads the unit's old data, if there is any; the unit is then programmed whole.
pub fn read_modify<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, lpn: Lpn) {
    media.accounts.modified();
    let old = media.map.physical(lpn);
    if old != Ppn::UNMAPPED {
        layer.read_to_modify(media, lpn, old);
    }
}

/// Trims whole units only; partly covered units at both ends remain mapped.
pub fn trim<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, request: &Request) -> Done {
    let (offset_bytes, length_bytes) = (request.offset_bytes, request.length_bytes);
    media.still_writable()?;
    media.accounts.host_trimmed(u64::from(length_bytes));
    let unit_bytes = media.map.unit_bytes();
    let first = offset_bytes.div_ceil(unit_bytes);
    let end = (offset_bytes + u64::from(length_bytes)) / unit_bytes;
    for lpn in (first..end).map(|unit| Lpn(unit as u32)) {
        let old = media.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            layer.release(media, lpn, old);
            media.map.unmap(lpn);
            media.accounts.trimmed();
        }
    }
    Ok(())
}
