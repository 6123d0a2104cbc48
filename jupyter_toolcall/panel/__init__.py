"""The live panel: a widget, the controller behind it, and the commands of the person."""
