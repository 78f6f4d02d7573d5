"""What bounds requests: the memory of bodies, the values of JSON, the places of large ones, the limits of tenants."""
