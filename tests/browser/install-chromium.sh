#!/bin/sh
# Installs Debian's Chromium, which the browser tests drive, where there is none.
set -eu
if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
