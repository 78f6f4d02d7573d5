# The password is in a file, because others on the node see command lines.
umask 077
echo "requirepass $VALKEYCLI_AUTH" > /tmp/valkey.conf
exec valkey-server /tmp/valkey.conf --dir /data --appendonly yes --save ""
