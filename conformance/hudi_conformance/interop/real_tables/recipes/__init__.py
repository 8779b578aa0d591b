"""One module for each area; every module here is imported and its recipes are found."""
