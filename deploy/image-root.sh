#!/usr/bin/env bash
# image-root.sh <program> <folder>: builds the root directory of an image: the program, the libraries it is linked with,
# certificate authorities, and a user other than root. It has no shell.
set -euo pipefail

program=$1
root=$2
readonly USER_ID=65532

mkdir -p "$root"/{usr/bin,etc/ssl/certs,etc/proteus,data,tmp}
install -m 755 "$program" "$root/usr/bin/proteus"

# A line of ldd is "name => path (address)", or "path (address)" for the loader itself.
ldd "$program" | awk '$2 == "=>" {print $3} $1 ~ /^\// {print $1}' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done

cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
printf 'proteus:x:%s:%s::/data:/nonexistent\n' "$USER_ID" "$USER_ID" >"$root/etc/passwd"
printf 'proteus:x:%s:\n' "$USER_ID" >"$root/etc/group"
chmod 1777 "$root/tmp"
chmod 700 "$root/data"
if ((EUID == 0)); then chown "$USER_ID:$USER_ID" "$root/data"; fi
