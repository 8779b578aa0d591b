"""The record key and the partition path of each incoming row."""
