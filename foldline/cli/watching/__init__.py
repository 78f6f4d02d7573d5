"""What `foldline watch` needs: where the service is, what it has, and how that is drawn."""
