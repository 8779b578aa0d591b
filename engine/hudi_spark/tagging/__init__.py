"""Which file group the key of each row lives in: simple, bloom, bucket and record indexes, of partitions and global."""
