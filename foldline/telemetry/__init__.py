"""What a process tells its operators: metrics, traces, log lines, and the port they are read at."""
