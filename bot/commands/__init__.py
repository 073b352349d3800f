"""What `footnote` does from the shell, one file per group of commands."""
