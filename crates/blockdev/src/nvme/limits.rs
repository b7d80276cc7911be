//! What hosts may ask of the target; see the notes at each figure for what Linux asks.

use std::time::Duration;

/// Entries of a queue. Linux asks for 128, and for at most 1,024.
pub const QUEUE_ENTRIES: u16 = 128;
/// I/O queues of a controller. Linux asks for one a processor, and takes fewer.
pub const QUEUES: u16 = 16;
pub const CONNECTIONS: usize = 64;
pub const CONTROLLERS: usize = 8;
/// A transfer has at most 4 KiB times two to this power: a mebibyte.
pub const TRANSFER_POWER: u8 = 8;
pub const TRANSFER_BYTES: usize = 4096 << TRANSFER_POWER;
/// Zeroes of one command: 256 MiB.
pub const ZEROES_POWER: u8 = 16;
/// A command with its data in the capsule. On the admin queue Linux sends up to 8 KiB whatever the controller says.
pub const COMMAND_BYTES: u32 = 64 + 8192;
/// Asynchronous event requests of a controller.
pub const EVENTS: u8 = 4;
/// The unit of keep-alive timeouts, in 100 ms.
pub const KEEP_ALIVE_STEP: u16 = 1;
/// For the data of commands in progress, of all connections.
pub const MEMORY_BYTES: usize = 128 << 20;
/// Answers that a connection has not taken, beyond which nothing more of it is read.
pub const ANSWER_BYTES: usize = 2 << 20;
/// The time from accepting a connection to Connect.
pub const OPENING: Duration = Duration::from_secs(10);
/// The time in which the data that was asked for must come, and answers must be taken.
pub const PATIENCE: Duration = Duration::from_secs(30);
