"""The live panel: a widget, the drive behind it, and the person's hand on it."""
