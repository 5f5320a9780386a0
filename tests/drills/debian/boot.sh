#!/bin/bash
# Becomes systemd, as the first process of a machine of its own: boot.sh ROOT CHANGES
# Called in new namespaces of all kinds. ROOT is only read; what is changed goes into CHANGES.
# Not chroot: there no service could have users of its own (PrivateUsers=).
set -euo pipefail
root=$1 changes=$2
mount --make-rprivate /
mkdir -p "$changes"/{upper,work,machine}
machine=$changes/machine
mount -t overlay -o "lowerdir=$root,upperdir=$changes/upper,workdir=$changes/work" overlay "$machine"
mount -t proc proc "$machine/proc"
mount -t sysfs sysfs "$machine/sys"
mount -t cgroup2 cgroup2 "$machine/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$machine/run"
mount -t tmpfs -o mode=1777 tmpfs "$machine/tmp"
mount -t tmpfs -o mode=755 tmpfs "$machine/dev"
mkdir "$machine"/dev/{pts,shm}
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$machine/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$machine/dev/shm"
while read -r name major minor; do
  mknod -m 666 "$machine/dev/$name" c "$major" "$minor"
done <<< $'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0\nconsole 5 1'
ln -s /proc/self/fd "$machine/dev/fd"
ln -s pts/ptmx "$machine/dev/ptmx"
ip link set lo up
mkdir -p "$machine/mnt/host"
cd "$machine"
pivot_root . mnt/host
umount -l /mnt/host
mount --make-rshared / # or no credential would reach a service
exec env -i container=gatepost PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
