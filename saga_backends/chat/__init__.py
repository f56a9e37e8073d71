"""Chat models: each module one provider's wire."""
