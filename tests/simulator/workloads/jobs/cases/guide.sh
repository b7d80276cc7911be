#!/bin/bash
# As guides of cloud providers print it: variables, sudo, continued lines, other commands.
set -e
TEST_DIR=/mnt/disks/mnt_dir   # the folder
DEPTH="64";
sudo mkdir -p $TEST_DIR
sudo fio --name=write_throughput --directory=$TEST_DIR --numjobs=2 \
--size=1G --time_based --runtime=5m --ramp_time=2s --ioengine=libaio \
--direct=1 --verify=0 --bs=1M --iodepth=${DEPTH} --rw=write \
--group_reporting=1 --iodepth_batch_submit=64 | tee out.txt

sync; echo 3 > /proc/sys/vm/drop_caches
$ fio -filename=/dev/nvme0n1 -direct=1 -rw randread -bs=4k -ioengine=libaio -iodepth=256 -runtime=120
  -time_based -name=iops-test-job --eta-newline=1 --readonly > x.log 2>&1
fio --version
