"""The shapes of requests and answers in the OpenAPI document."""
