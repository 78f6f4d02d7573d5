"""Services, servers and programs as tests start them."""
