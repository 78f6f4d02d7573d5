"""What a tenant's appends take while another one attacks: `python -m benchmarks.attacks`."""
