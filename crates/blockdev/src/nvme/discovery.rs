//! The discovery log: where the drive is, for `nvme discover` and `nvme connect-all`. NVM Express Base Specification
//! 2.0, section 5.16.1.23.

use super::fields::Page;
use super::limits;
use super::subject::Identity;
use std::net::SocketAddr;

/// One entry, with the address by which the host has reached the target.
pub fn log(identity: &Identity, reached: SocketAddr) -> Vec<u8> {
    let mut page = Page::new(2048);
    // Number of records; the log never changes.
    page.u64(8, 1);
    let entry = 1024;
    // TCP, the family of addresses, a subsystem with namespaces, no secure channel needed.
    page.put(entry, &[3, if reached.is_ipv4() { 1 } else { 2 }, 2, 0]);
    // Any controller.
    page.u16(entry + 6, u16::MAX);
    page.u16(entry + 8, limits::QUEUE_ENTRIES);
    page.text(entry + 32, 32, &reached.port().to_string(), b' ');
    page.text(entry + 256, 256, &identity.nqn(), 0);
    page.text(entry + 512, 256, &reached.ip().to_string(), b' ');
    page.into_bytes()
}
