//! Optional parts of a drive that are told what happens to its erase units: refresh, order of addresses, an observer,
//! and the log of placement handles.

use super::observed::Observed;
use super::order::Order;
use super::placement_log::PlacementLog;
use super::refresh::Refresh;
use crate::units::{EraseUnit, StreamId};

#[derive(Default)]
pub struct Listeners {
    /// Only on a drive whose data ages or is disturbed by reads; never without a clock.
    pub refresh: Option<Box<Refresh>>,
    /// Only on a drive that rewrites data in address order.
    pub order: Option<Box<Order>>,
    /// Only on a drive that is observed.
    pub observed: Option<Box<Observed>>,
    /// Only on a drive with placement handles.
    pub placement_log: Option<Box<PlacementLog>>,
}

impl Listeners {
    /// Whether they store the times or the order of writes.
    pub fn remember(&self) -> bool {
        self.order.is_some() || self.refresh.is_some()
    }

    /// Erase units are now opened by background operations, or no longer.
    pub fn idle_work(&mut self, is_at_work: bool) {
        if let Some(order) = &mut self.order {
            order.is_at_work = is_at_work;
        }
    }

    pub fn opened(&mut self, frontier: StreamId, erase_unit: EraseUnit, host_written_bytes: u64) {
        if let Some(order) = &mut self.order {
            order.opened(erase_unit);
        }
        if let Some(log) = &mut self.placement_log {
            log.opened(frontier, host_written_bytes);
        }
    }

    pub fn closed(&mut self, erase_unit: EraseUnit) {
        if let Some(refresh) = &mut self.refresh {
            refresh.closed(erase_unit);
        }
    }

    pub fn erased(&mut self, erase_unit: EraseUnit) {
        if let Some(refresh) = &mut self.refresh {
            refresh.erased(erase_unit);
        }
        if let Some(observed) = &mut self.observed {
            observed.erased(erase_unit);
        }
    }

    /// From now on erase units are opened for data that is moved, or no longer.
    #[inline(always)]
    pub fn moving(&mut self, is_moving: bool) {
        if let Some(log) = &mut self.placement_log {
            log.set_moving(is_moving);
        }
    }

    /// All live units of a victim, filled by this stream, were moved.
    #[inline(always)]
    pub fn emptied(&mut self, stream: StreamId, moved_units: u64, host_written_bytes: u64) {
        if let Some(log) = &mut self.placement_log {
            log.moved(stream, moved_units, host_written_bytes);
        }
    }
}
