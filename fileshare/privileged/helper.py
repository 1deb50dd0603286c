"""The context of oslo.privsep under which the helper runs our functions."""

from __future__ import annotations

from oslo_privsep import capabilities, priv_context

from fileshare.privileged import is_root

context = priv_context.PrivContext(
    "fileshare",
    cfg_section="fileshare_privsep",
    pypath=f"{__name__}.context",
    capabilities=[
        capabilities.CAP_CHOWN,
        capabilities.CAP_DAC_OVERRIDE,
        capabilities.CAP_DAC_READ_SEARCH,
        capabilities.CAP_FOWNER,
        capabilities.CAP_KILL,
        capabilities.CAP_NET_BIND_SERVICE,
        capabilities.CAP_SETGID,
        capabilities.CAP_SETUID,
        capabilities.CAP_SYS_ADMIN,
    ],
)

if is_root():
    context.set_client_mode(False)
