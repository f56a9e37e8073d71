"""Group plays: group chats of known truth. See ``README.md``."""
