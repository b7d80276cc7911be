"""Options of fio's I/O engines, which a simulated drive does not need.

Noted are those of engines that read and write a drive in some other way: io_uring, SPDK, xNVMe, Ceph, network storage.
Refused are those of engines that do something else. `access.py` has what an engine means for the depth.
"""

from typing import Any

from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import anything

# Names from fio 3.33 (`fio --enghelp=ENGINE`), the engines' sources in fio 3.41, and SPDK's plugins for fio.
_NOTED = (
    # io_uring, io_uring_cmd, libaio, sg, mmap
    "userspace_reap", "hipri", "hipri_percentage", "fixedbufs", "registerfiles", "sqthread_poll",
    "sqthread_poll_cpu", "nonvectored", "uncached", "nowait", "force_async", "cmdprio", "cmdprio_percentage",
    "cmdprio_class", "cmdprio_hint", "cmdprio_bssplit", "cmd_type", "readfua", "sg_write_mode", "stream_id",
    "thp", "write_mode", "verify_mode", "md_per_io_size", "pi_act", "pi_chk", "apptag", "apptag_mask", "deac",
    # SPDK
    "spdk_conf", "spdk_json_conf", "spdk_mem", "spdk_single_seg", "spdk_core_mask", "spdk_rpc_listen_addr",
    "spdk_tracing", "env_context", "log_flags", "initial_zone_reset", "zone_append", "mem_size_mb", "shm_id",
    "enable_wrr", "arbitration_burst", "low_weight", "medium_weight", "high_weight", "wrr_priority", "hostnqn",
    "disable_pcie_sgl_merge", "digest_enable", "enable_vmd", "print_qid_mappings",
    # xNVMe
    "xnvme_be", "xnvme_mem", "xnvme_async", "xnvme_sync", "xnvme_admin", "xnvme_dev_nsid", "xnvme_dev_subnqn",
    "xnvme_iovec",
    # libblkio
    "libblkio_driver", "libblkio_path", "libblkio_pre_connect_props", "libblkio_num_entries", "libblkio_queue_size",
    "libblkio_pre_start_props", "libblkio_vectored", "libblkio_write_zeroes_on_trim", "libblkio_wait_mode",
    "libblkio_force_enable_completion_eventfd",
    # rados, rbd
    "clustername", "pool", "clientname", "busy_poll", "rbdname", "conf", "touch_objects",
    # gfapi, nbd, nfs, libiscsi, DAOS, HDFS, mtd, libcufile, windowsaio
    "volume", "brick", "single-instance", "uri", "nfs_url", "initiator", "cont", "object_class", "svcl", "namenode",
    "hdfsdirectory", "hdfs_use_direct", "skip_bad", "gpu_dev_ids", "gpu_dev_id", "cuda_io", "no_completion_thread",
    # http
    "http_host", "http_user", "http_pass", "http_mode", "http_verbose", "https", "http_s3_key", "http_s3_keyid",
    "http_s3_region", "http_s3_sse_customer_key", "http_s3_sse_customer_algorithm",
    "http_s3_storage_class", "http_swift_auth_token",
    # FioSynth's engine for a distributed file system (jobfiles/70_30_libfio_ws.fio)
    "gflags",
)  # fmt: skip
_REFUSED = (
    ("engines net and netsplice", (
        "protocol", "proto", "nodelay", "listen", "pingpong", "interface", "ttl", "window_size", "mss",
    )),
    ("engines net, netsplice and rdma", ("hostname", "port")),
    ("engine rdma", ("bindname", "verb")),
    ("engines librpma_apm and librpma_gpspm", ("serverip", "direct_write_to_pmem", "busy_wait_polling")),
    ("engine cpuio", ("cpuload", "cpuchunks", "cpumode", "exit_on_io_done")),
    ("engine exec", ("program", "arguments", "grace_time", "std_redirect")),
    ("engine e4defrag", ("donorname", "inplace")),
    ("engine filestat", ("stat_type",)),
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (
    *(Option(name, anything, "an option of an I/O engine", Effect.MEANINGLESS, None) for name in _NOTED),
    *(Option(name, anything, f"an option of fio's {engines}", Effect.UNSUPPORTED, None, hint="remove it",
             reason="it selects an I/O engine that is not supported, neither here nor on a real drive")
      for engines, names in _REFUSED for name in names),
)  # fmt: skip
