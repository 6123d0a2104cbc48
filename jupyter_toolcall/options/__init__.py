"""What a person may set: the options of a line, and the settings of a project."""
