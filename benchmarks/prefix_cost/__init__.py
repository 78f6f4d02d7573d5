"""What the input of recorded sessions costs at a provider's cache prices, under several policies, and how far explicit
targets are used. The measure is fixed: it changes in a commit of its own, never with a policy.
"""
