"""What a person sees, as rows: the contract with the panel and the saved notebook."""
