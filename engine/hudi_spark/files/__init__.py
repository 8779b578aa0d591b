"""The data files of a write: base files, logs, change logs, and what is known of a file once it is written."""
