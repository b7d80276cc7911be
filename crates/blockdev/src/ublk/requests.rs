//! The parameters of the drive for the kernel, and the execution of the kernel's requests.

use crate::device::{Capabilities, Device, Durability, punch};
use libublk::sys;

const SECTOR_SHIFT: u32 = 9;
/// The most that one request trims or zeroes; an answer has 31 bits.
const ZEROED_BYTES_MAX: u64 = 1 << 30;
/// The operation, below the flags.
const OPERATION_BITS: u32 = 0xff;

pub fn parameters(capabilities: &Capabilities, request_bytes_max: u32) -> sys::ublk_params {
    let unit_shift = capabilities.unit_bytes.trailing_zeros() as u8;
    // Kernels support blocks up to a page of memory.
    let block_shift = unit_shift.clamp(SECTOR_SHIFT as u8, 12);
    let cache = if capabilities.has_volatile_cache { sys::UBLK_ATTR_VOLATILE_CACHE | sys::UBLK_ATTR_FUA } else { 0 };
    let zeroed_sectors_max = (ZEROED_BYTES_MAX >> SECTOR_SHIFT) as u32;
    sys::ublk_params {
        types: sys::UBLK_PARAM_TYPE_BASIC | sys::UBLK_PARAM_TYPE_DISCARD,
        basic: sys::ublk_param_basic {
            attrs: cache,
            logical_bs_shift: block_shift,
            physical_bs_shift: unit_shift.max(block_shift),
            io_min_shift: unit_shift.max(block_shift),
            io_opt_shift: unit_shift.max(block_shift),
            max_sectors: request_bytes_max >> SECTOR_SHIFT,
            dev_sectors: capabilities.size_bytes >> SECTOR_SHIFT,
            ..Default::default()
        },
        discard: sys::ublk_param_discard {
            discard_granularity: capabilities.unit_bytes,
            max_discard_sectors: if capabilities.trims { zeroed_sectors_max } else { 0 },
            max_write_zeroes_sectors: zeroed_sectors_max,
            max_discard_segments: 1,
            ..Default::default()
        },
        ..Default::default()
    }
}

/// Executes a request, with its data in `buffer`. Returns the number of bytes, or a negative errno.
pub fn carry_out(request: &sys::ublksrv_io_desc, buffer: &mut [u8], device: &dyn Device) -> i32 {
    let offset_bytes = request.start_sector << SECTOR_SHIFT;
    let length_bytes = u64::from(request.nr_sectors) << SECTOR_SHIFT;
    let has = |flag: u32| request.op_flags & flag != 0;
    let durability = if has(sys::UBLK_IO_F_FUA) { Durability::Durable } else { Durability::Cached };
    let done = match request.op_flags & OPERATION_BITS {
        sys::UBLK_IO_OP_READ | sys::UBLK_IO_OP_WRITE if length_bytes > buffer.len() as u64 => return -libc::EINVAL,
        sys::UBLK_IO_OP_READ => device.read(offset_bytes, &mut buffer[..length_bytes as usize]),
        sys::UBLK_IO_OP_WRITE => device.write(offset_bytes, &buffer[..length_bytes as usize], durability),
        sys::UBLK_IO_OP_FLUSH => device.flush(),
        sys::UBLK_IO_OP_DISCARD => device.trim(offset_bytes, length_bytes),
        sys::UBLK_IO_OP_WRITE_ZEROES if has(sys::UBLK_IO_F_NOUNMAP | sys::UBLK_IO_F_FUA) => {
            device.zero(offset_bytes, length_bytes, durability)
        }
        sys::UBLK_IO_OP_WRITE_ZEROES => punch(device, offset_bytes, length_bytes),
        _ => return -libc::EOPNOTSUPP,
    };
    match done {
        Ok(()) => length_bytes as i32,
        Err(error) => -error.errno(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::Statistics;
    use crate::null::Null;

    fn request(operation: u32, start_sector: u64, nr_sectors: u32) -> sys::ublksrv_io_desc {
        sys::ublksrv_io_desc { op_flags: operation, nr_sectors, start_sector, ..Default::default() }
    }

    #[test]
    fn each_operation_reaches_the_device_and_is_answered_with_its_length() {
        let device = Statistics::new(Null::new(1 << 20, 4096));
        let mut buffer = vec![7; 1 << 14];
        let mut ask =
            |operation, sector, sectors| carry_out(&request(operation, sector, sectors), &mut buffer, &device);
        assert_eq!(ask(sys::UBLK_IO_OP_READ, 8, 16), 8192);
        assert_eq!(ask(sys::UBLK_IO_OP_WRITE, 8, 8), 4096);
        assert_eq!(ask(sys::UBLK_IO_OP_DISCARD, 0, 2048), 1 << 20);
        assert_eq!(ask(sys::UBLK_IO_OP_WRITE_ZEROES, 0, 64), 1 << 15);
        assert_eq!(ask(sys::UBLK_IO_OP_WRITE_ZEROES | sys::UBLK_IO_F_NOUNMAP, 0, 8), 4096);
        assert_eq!(ask(sys::UBLK_IO_OP_FLUSH, 0, 0), 0);
        let [read, write, trim, zero, flush] = device.counts().map(|count| (count.requests, count.bytes));
        assert_eq!((read, write), ((1, 8192), (1, 4096)));
        // Zeroes without allocation are a hole.
        assert_eq!((trim, zero, flush.0), ((2, (1 << 20) + (1 << 15)), (1, 4096), 1));
    }

    #[test]
    fn what_cannot_be_done_is_an_error_of_the_system() {
        let device = Null::new(1 << 20, 4096);
        let mut buffer = vec![0; 4096];
        let mut ask =
            |operation, sector, sectors| carry_out(&request(operation, sector, sectors), &mut buffer, &device);
        assert_eq!(ask(sys::UBLK_IO_OP_READ, 2048, 8), -libc::EINVAL);
        assert_eq!(ask(sys::UBLK_IO_OP_WRITE, 0, 16), -libc::EINVAL);
        assert_eq!(ask(sys::UBLK_IO_OP_ZONE_RESET, 0, 8), -libc::EOPNOTSUPP);
    }

    #[test]
    fn the_kernel_is_told_of_blocks_that_it_can_have() {
        let of = |unit_bytes, has_volatile_cache| {
            let capabilities = Capabilities { size_bytes: 1 << 20, unit_bytes, trims: true, has_volatile_cache };
            parameters(&capabilities, 1 << 19).basic
        };
        assert_eq!((of(4096, false).logical_bs_shift, of(4096, false).physical_bs_shift), (12, 12));
        assert_eq!((of(512, false).logical_bs_shift, of(16384, false).logical_bs_shift), (9, 12));
        assert_eq!((of(16384, false).physical_bs_shift, of(4096, false).dev_sectors), (14, 2048));
        assert_eq!(of(4096, false).attrs, 0);
        assert_eq!(of(4096, true).attrs, sys::UBLK_ATTR_VOLATILE_CACHE | sys::UBLK_ATTR_FUA);
    }
}
