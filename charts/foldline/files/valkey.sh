# The password is in a file, because other users of the node can see command lines.
umask 077
echo "requirepass $VALKEYCLI_AUTH" > /tmp/valkey.conf
exec valkey-server /tmp/valkey.conf --dir /data --appendonly yes --save ""
