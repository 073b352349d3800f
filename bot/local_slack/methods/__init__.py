"""The Web API methods, one file per family; importing this package fills the registry."""

from bot.local_slack.methods import assistant, auth, chat, conversations, files, reactions, streams, users, views

__all__ = ["assistant", "auth", "chat", "conversations", "files", "reactions", "streams", "users", "views"]
