"""Telemetry of a process: metrics, traces, log lines, health checks, and the operator's port that serves them."""
