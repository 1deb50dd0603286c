"""How the schema came to be: branch *expand* adds, branch *contract* removes."""
