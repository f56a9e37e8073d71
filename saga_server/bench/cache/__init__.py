"""What a prompt costs under the caching rules of providers."""
