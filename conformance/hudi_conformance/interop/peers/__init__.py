"""The peers: other implementations that read (and wrote) the tables of the corpus."""
