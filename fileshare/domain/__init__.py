"""Pure rules of the field: lifecycles, access, specs, quotas."""
