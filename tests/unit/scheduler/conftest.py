from __future__ import annotations

from oslo_service import backend

backend.init_backend(backend.BackendType.THREADING)
