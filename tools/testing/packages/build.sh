#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Builds the packages in /source, in a system that has what the build needs; and once more with an
# older version.  Results: /packages/new and /packages/old.
#
# usage: build.sh VERSION OLD
set -eu
version=$1 old=$2

mkdir -p /packages/new /packages/old
cp /source/* /packages/new/
chown -R nobody: /packages

# Not as root: a package's build must not need that.
as_nobody()
{
	setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/packages "$@"
}

cd /packages/new
as_nobody dpkg-source -x "krdma_$version"-*.dsc
cd "krdma-$version"
as_nobody dpkg-buildpackage -us -uc -j2

cd /packages/old
as_nobody cp -r "../new/krdma-$version" "krdma-$old"
cd "krdma-$old"
as_nobody debian/rules clean
sed -i "s/\"$version\"/\"$old\"/" krdma/version.h
sed -i "1s/(.*)/($old-0upstream1)/" debian/changelog
as_nobody dpkg-buildpackage -us -uc -b -j2
rm -rf "/packages/old/krdma-$old" "/packages/new/krdma-$version"
