"""The replay: drives recorded sessions through a service and checks every view on the way."""
